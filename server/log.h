// Structured logs: one line an event on stderr, as
// 2026-01-02T03:04:05.678Z info  trace_sealed trace=t-12 ranks=4 seconds=0.812
#ifndef CHAKRAD_SERVER_LOG_H_
#define CHAKRAD_SERVER_LOG_H_

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace chakrad {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

// Lines below `level` are left out. Thread-safe.
void SetLogLevel(LogLevel level);

// `event` in snake_case; values with spaces, quotes or control characters are
// quoted and escaped, so that a hostile name stays on its line. Thread-safe.
using LogField = std::pair<absl::string_view, std::string>;
void Log(LogLevel level, absl::string_view event, std::initializer_list<LogField> fields);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_LOG_H_
