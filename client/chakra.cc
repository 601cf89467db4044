#include "client/chakra.h"

#include <CLI/CLI.hpp>

#include "client/commands.h"

namespace chakrad::client {
namespace {

constexpr char kHelp[] = R"(A first round:
  chakra ingest run7/                                    upload a folder of rank files
  chakra traces ls                                       find its name, t-...
  chakra simulate t-... --network ring.yml --system sys.json --watch
  chakra timeline j-... -o timeline.json                 open it at ui.perfetto.dev
Without a daemon:
  chakra check run7/                                     what is wrong with these files
  chakra convert run7/ -o chakra/                        PyTorch's files to Chakra .et

Exit codes: 0 done, 1 the request failed or a check found errors, 2 wrong usage, 3 no server answers,
4 the job failed or was cancelled.
)";

void AddGlobalOptions(CLI::App* app, Session* session) {
  app->add_option("--server", session->server, "Where chakrad listens")
      ->type_name("HOST:PORT")
      ->envname("CHAKRAD_SERVER")
      ->capture_default_str();
  app->add_option("--output", session->output, "Form of results")
      ->type_name("FORM")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

// The command that was named, if any: its help is the one to point at.
std::string CommandPath(const CLI::App& app) {
  std::string path = "chakra";
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  return path;
}

}  // namespace

int RunChakra(const std::vector<std::string>& args, const Io& io) {
  CLI::App app("chakra: upload, look at and simulate execution traces", "chakra");
  app.fallthrough();  // --server and --output may stand anywhere.
  app.require_subcommand(1);
  Session session(io);
  int exit_code = kExitOk;
  AddGlobalOptions(&app, &session);
  AddIngestCommand(&app, &session, &exit_code);
  AddCheckCommand(&app, &session, &exit_code);
  AddConvertCommand(&app, &session, &exit_code);
  AddUploadsCommands(&app, &session, &exit_code);
  AddTracesCommands(&app, &session, &exit_code);
  AddSimulateCommand(&app, &session, &exit_code);
  AddAnalyzeCommand(&app, &session, &exit_code);
  AddCriticalPathCommand(&app, &session, &exit_code);
  AddDiffCommand(&app, &session, &exit_code);
  AddExportCommand(&app, &session, &exit_code);
  AddJobsCommands(&app, &session, &exit_code);
  AddRetentionCommands(&app, &session, &exit_code);
  AddAdminCommands(&app, &session, &exit_code);
  AddTimelineCommand(&app, &session, &exit_code);
  app.footer(kHelp);  // Last: subcommands would take it over.
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp& help) {
    app.exit(help, *io.out, *io.err);
  } catch (const CLI::ParseError& error) {
    *io.err << "chakra: " << error.what() << "; " << CommandPath(app) << " --help explains\n";
    return kExitUsage;
  }
  return exit_code;
}

}  // namespace chakrad::client
