#include "tests/fault/daemon_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace chakrad {

DaemonProcess::DaemonProcess(const std::string& data_dir, const std::vector<std::string>& flags) {
  static int started_count = 0;
  errors_path_ = absl::StrCat(getenv("TEST_TMPDIR"), "/stderr.", getpid(), ".", ++started_count);
  std::vector<std::string> words{"server/chakrad", "--data_dir",    data_dir,     "--listen",
                                 "127.0.0.1:0",    "--http_listen", "127.0.0.1:0"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int pipe_fds[2];
  CHECK(pipe2(pipe_fds, O_CLOEXEC) == 0);
  const int errors_fd = open(errors_path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  pid_ = fork();
  CHECK(pid_ >= 0);
  if (pid_ == 0) {
    dup2(pipe_fds[1], STDOUT_FILENO);
    dup2(errors_fd, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(pipe_fds[1]);
  close(errors_fd);
  stdout_fd_ = pipe_fds[0];
}

DaemonProcess::~DaemonProcess() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    Wait();
  }
  close(stdout_fd_);
}

bool DaemonProcess::WaitUntilReady() {
  std::string line;
  for (char c; read(stdout_fd_, &c, 1) == 1 && c != '\n';) line += c;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.rfind("grpc=", 0) == 0) grpc_address_ = word.substr(5);
    if (word.rfind("http=", 0) == 0) http_address_ = word.substr(5);
  }
  return !grpc_address_.empty();
}

void DaemonProcess::Signal(int number) { CHECK(kill(pid_, number) == 0); }

int DaemonProcess::Wait() {
  int status = 0;
  CHECK(waitpid(pid_, &status, 0) == pid_);
  pid_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::string DaemonProcess::Errors() const {
  std::ifstream file(errors_path_);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace chakrad
