// CHECK(condition) << "values": ends the process when a promise of our own code
// is broken. Nothing that a client or a file says may reach a CHECK.
#ifndef CHAKRAD_COMMON_CHECK_H_
#define CHAKRAD_COMMON_CHECK_H_

#include <cstdlib>
#include <iostream>
#include <sstream>

namespace chakrad::check_internal {

class Failure {
 public:
  Failure(const char* file, int line, const char* condition) {
    stream_ << file << ":" << line << ": CHECK(" << condition << ") failed: ";
  }
  [[noreturn]] ~Failure() {
    std::cerr << stream_.str() << std::endl;
    std::abort();
  }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

// Gives both branches of CHECK's conditional the type void.
struct Voidify {
  void operator&(std::ostream&) const {}
};

}  // namespace chakrad::check_internal

#define CHECK(condition)                               \
  (condition) ? static_cast<void>(0)                   \
              : ::chakrad::check_internal::Voidify() & \
                    ::chakrad::check_internal::Failure(__FILE__, __LINE__, #condition).stream()

#endif  // CHAKRAD_COMMON_CHECK_H_
