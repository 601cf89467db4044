// The real chakrad binary as a child process.
#ifndef CHAKRAD_TESTS_FAULT_DAEMON_PROCESS_H_
#define CHAKRAD_TESTS_FAULT_DAEMON_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace chakrad {

class DaemonProcess {
 public:
  // Starts it on `data_dir` and free ports unless `flags` say otherwise.
  DaemonProcess(const std::string& data_dir, const std::vector<std::string>& flags = {});
  ~DaemonProcess();  // kill -9, if it still runs.

  // Waits for the line that says it serves; false when it ended instead.
  bool WaitUntilReady();
  const std::string& grpc_address() const { return grpc_address_; }
  const std::string& http_address() const { return http_address_; }

  pid_t pid() const { return pid_; }
  void Signal(int number);
  // Waits for the end. The exit code, or -signal.
  int Wait();
  // What it wrote to stderr so far; all of it after Wait.
  std::string Errors() const;

 private:
  pid_t pid_ = -1;
  int stdout_fd_ = -1;
  std::string errors_path_;
  std::string grpc_address_;
  std::string http_address_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_FAULT_DAEMON_PROCESS_H_
