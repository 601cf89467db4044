// chakrad: the daemon. Exit codes: 0 after a drain, 1 when it cannot start,
// 2 for a wrong command line.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "server/log.h"
#include "server/options.h"
#include "server/server.h"
#include "storage/open.h"

namespace {

// What the drain may take beyond drain_seconds: ending streams, closing the store.
constexpr int64_t kDrainSlackSeconds = 5;

// Restores a backup and opens what it made, as the next start will. Returns the exit code.
int Restore(const chakrad::ServerOptions& options) {
  const auto show = [](int64_t done_bytes, int64_t total_bytes) {
    std::fprintf(stderr, "\rrestored %lld of %lld MiB", static_cast<long long>(done_bytes >> 20),
                 static_cast<long long>(total_bytes >> 20));
  };
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto backup = chakrad::RestoreBackup(options.restore_from, options.data_dir,
                                             terminal ? show : chakrad::RestoreProgress());
  if (terminal) std::fprintf(stderr, "\n");
  absl::Status status = backup.status();
  if (status.ok()) {
    status = chakrad::OpenRocksStores({.data_dir = options.data_dir}).status();
  }
  if (!status.ok()) {
    std::fprintf(stderr, "chakrad: restore: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  std::printf("restored %lld traces from %s into %s; start chakrad without --restore_from now\n",
              static_cast<long long>(backup->traces_count), options.restore_from.c_str(),
              options.data_dir.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = chakrad::ParseCommandLine(argc, argv);
  if (!parsed.ok()) {
    std::fprintf(stderr, "chakrad: %s\n", std::string(parsed.status().message()).c_str());
    return 2;
  }
  if (parsed->exit) {
    std::fputs(parsed->text.c_str(), stdout);
    return 0;
  }
  chakrad::SetLogLevel(parsed->options.log_level);
  if (!parsed->options.restore_from.empty()) return Restore(parsed->options);

  // Blocked before any thread starts, so that all inherit it and only sigwait
  // below sees them. A peer that went away must not end the process either.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  auto server = chakrad::StartServer(parsed->options);
  if (!server.ok()) {
    std::fprintf(stderr, "chakrad: %s\n", std::string(server.status().message()).c_str());
    return 1;
  }
  std::printf("chakrad ready grpc=127.0.0.1:%d http=127.0.0.1:%d\n", (*server)->grpc_port(),
              (*server)->http_port());
  std::fflush(stdout);
  int signal_number = 0;
  sigwait(&stop_signals, &signal_number);
  // A conversion cannot be interrupted. Everything answered is durable already,
  // so a drain that takes longer than it said ends here.
  std::thread watchdog([seconds = parsed->options.limits.drain_seconds + kDrainSlackSeconds] {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    chakrad::Log(chakrad::LogLevel::kWarning, "drain_cut_short", {});
    std::_Exit(0);
  });
  (*server)->Drain();
  *server = nullptr;  // Closes the store.
  std::_Exit(0);      // The watchdog sleeps on: nothing waits for it.
}
