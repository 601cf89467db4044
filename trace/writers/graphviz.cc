#include "trace/writers/graphviz.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "common/utf8.h"

extern char** environ;

namespace chakrad {
namespace {

// How often to look whether the program has ended: short against any layout.
constexpr std::chrono::milliseconds kPollInterval(5);
constexpr size_t kMaxComplaintBytes = 300;

// Where the program's complaints go: memory, so that a full pipe cannot stop it.
class Complaints {
 public:
  Complaints() : fd_(memfd_create("graphviz", MFD_CLOEXEC)) {}
  ~Complaints() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  // The first of them, on one line.
  std::string Text() const {
    char buffer[kMaxComplaintBytes];
    const ssize_t count = pread(fd_, buffer, sizeof(buffer), 0);
    std::string text = ValidUtf8({buffer, static_cast<size_t>(count > 0 ? count : 0)});
    for (char& c : text) {
      if (static_cast<uint8_t>(c) < 0x20) c = ' ';
    }
    absl::StripAsciiWhitespace(&text);
    return text.empty() ? "it does not say why" : text;
  }

 private:
  int fd_;
};

absl::StatusOr<pid_t> Spawn(const char* program, char* const* arguments, int complaints_fd) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, complaints_fd, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A process group of its own: all of it can be killed, and Ctrl-C does not
  // reach it before us. Our handlers and masks are not its.
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, program, &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    return absl::FailedPreconditionError(absl::StrCat(
        "graphviz is not installed: no program ", program,
        "; install the package graphviz, or write the graph as dot and lay it out elsewhere"));
  }
  if (error != 0) return absl::ErrnoToStatus(error, absl::StrCat("cannot start ", program));
  return pid;
}

// The wait status; RESOURCE_EXHAUSTED after killing it.
absl::StatusOr<int> WaitFor(pid_t pid, int timeout_seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_seconds);
  int wait_status = 0;
  while (true) {
    const pid_t ended = waitpid(pid, &wait_status, WNOHANG);
    if (ended == pid) return wait_status;
    if (ended < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "cannot wait for graphviz");
    if (std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(kPollInterval);
  }
  kill(-pid, SIGKILL);
  while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR) {
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "graphviz did not lay the graph out in ", timeout_seconds,
      " s and was stopped; ask for fewer nodes (those around one node, a shorter time range) or "
      "for dot or graphml, which need no layout"));
}

absl::Status Run(const std::string& program, const std::string& format, const std::string& out,
                 const std::string& in, int timeout_seconds) {
  const Complaints complaints;
  if (complaints.fd() < 0) return absl::ErrnoToStatus(errno, "memfd_create");
  // It knows no "--": a path that starts with a dash must not look like an option.
  // The limits on its simplex cost a little beauty and save two thirds of the time.
  std::string words[] = {
      program,        absl::StrCat("-T", format), "-Gnslimit=2",
      "-Gnslimit1=2", absl::StrCat("-o", out),    in[0] == '-' ? absl::StrCat("./", in) : in};
  char* arguments[std::size(words) + 1] = {};
  for (size_t i = 0; i < std::size(words); ++i) arguments[i] = words[i].data();
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(program.c_str(), arguments, complaints.fd()));
  ASSIGN_OR_RETURN(const int ended, WaitFor(pid, timeout_seconds));
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "graphviz ", WIFEXITED(ended) ? "exited with " : "was ended by signal ",
      WIFEXITED(ended) ? WEXITSTATUS(ended) : WTERMSIG(ended), ": ", complaints.Text()));
}

}  // namespace

absl::Status LayOutDot(absl::string_view dot_path, absl::string_view format,
                       absl::string_view out_path, const LayoutOptions& options) {
  if (format != "svg" && format != "pdf") {
    return absl::InvalidArgumentError(absl::StrCat("format: \"", format, "\" is not svg or pdf"));
  }
  if (dot_path.empty() || out_path.empty()) {
    return absl::InvalidArgumentError("dot_path, out_path: must not be empty");
  }
  const std::string out(out_path);
  const absl::Status status = Run(std::string(options.program), std::string(format), out,
                                  std::string(dot_path), options.timeout_seconds);
  if (!status.ok()) unlink(out.c_str());
  return status;
}

}  // namespace chakrad
