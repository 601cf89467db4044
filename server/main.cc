// chakrad: the daemon. Exit codes: 0 after a drain, 1 when it cannot start,
// 2 for a wrong command line.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "server/log.h"
#include "server/options.h"
#include "server/server.h"

namespace {

// What the drain may take beyond drain_seconds: ending streams, closing the store.
constexpr int64_t kDrainSlackSeconds = 5;

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
