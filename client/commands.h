// The command groups of `chakra`; each is a file and adds itself to the command
// line. A command runs inside CLI11's callback and leaves its exit code in
// `*exit_code`.
#ifndef CHAKRAD_CLIENT_COMMANDS_H_
#define CHAKRAD_CLIENT_COMMANDS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "chakrad/v1/job.pb.h"
#include "client/result_files.h"

namespace CLI {
class App;
}  // namespace CLI

namespace chakrad::client {

class Session;

void AddCheckCommand(CLI::App* app, Session* session, int* exit_code);
void AddConvertCommand(CLI::App* app, Session* session, int* exit_code);
void AddIngestCommand(CLI::App* app, Session* session, int* exit_code);
void AddAnalyzeCommand(CLI::App* app, Session* session, int* exit_code);
void AddCriticalPathCommand(CLI::App* app, Session* session, int* exit_code);
void AddDiffCommand(CLI::App* app, Session* session, int* exit_code);
void AddExportCommand(CLI::App* app, Session* session, int* exit_code);
void AddAdminCommands(CLI::App* app, Session* session, int* exit_code);
void AddUploadsCommands(CLI::App* app, Session* session, int* exit_code);
void AddTracesCommands(CLI::App* app, Session* session, int* exit_code);
// Within `traces`: ls, pin, unpin.
void AddListCommands(CLI::App* traces, Session* session, int* exit_code);
void AddRetentionCommands(CLI::App* app, Session* session, int* exit_code);
void AddSimulateCommand(CLI::App* app, Session* session, int* exit_code);
void AddJobsCommands(CLI::App* app, Session* session, int* exit_code);
void AddTimelineCommand(CLI::App* app, Session* session, int* exit_code);

// Of the group `traces`.
void AddNodesCommand(CLI::App* traces, Session* session, int* exit_code);
void AddRawCommand(CLI::App* traces, Session* session, int* exit_code);
void AddVerifyCommand(CLI::App* traces, Session* session, int* exit_code);

// "t-1", "traces/t-1", "j-2" or "jobs/j-2" as the full name. A usage error otherwise.
absl::StatusOr<std::string> TimelineName(absl::string_view name);

// Follows a job to its end with a progress bar, through restarts of the daemon.
absl::StatusOr<v1::Job> WatchToEnd(Session* session, const std::string& job_name);

// --all-ranks, --csv and --json of a command that shows a job.
void AddResultOptions(CLI::App* command, ResultOptions* options);
// Prints a job and writes the files that were asked for.
absl::Status ShowJob(Session* session, const v1::Job& job, const ResultOptions& options);
// The same of a finished job that was waited for; notes kExitJobFailed unless it SUCCEEDED.
absl::Status ReportFinishedJob(Session* session, const v1::Job& job, const ResultOptions& options);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_COMMANDS_H_
