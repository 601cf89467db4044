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

namespace CLI {
class App;
}  // namespace CLI

namespace chakrad::client {

class Session;

void AddCheckCommand(CLI::App* app, Session* session, int* exit_code);
void AddConvertCommand(CLI::App* app, Session* session, int* exit_code);
void AddIngestCommand(CLI::App* app, Session* session, int* exit_code);
void AddTracesCommands(CLI::App* app, Session* session, int* exit_code);
void AddSimulateCommand(CLI::App* app, Session* session, int* exit_code);
void AddJobsCommands(CLI::App* app, Session* session, int* exit_code);
void AddTimelineCommand(CLI::App* app, Session* session, int* exit_code);

// Follows a job to its end with a progress bar, through restarts of the daemon.
absl::StatusOr<v1::Job> WatchToEnd(Session* session, const std::string& job_name);

// Prints a finished job that was waited for, and notes kExitJobFailed unless it
// SUCCEEDED.
void ReportFinishedJob(Session* session, const v1::Job& job, bool all_ranks);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_COMMANDS_H_
