// The daemon's settings: flags, and the same names in a configuration file.
#ifndef CHAKRAD_SERVER_OPTIONS_H_
#define CHAKRAD_SERVER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/limits.h"
#include "server/log.h"
#include "storage/limits.h"

namespace chakrad {

struct ServerOptions {
  std::string data_dir;                        // Where everything durable lies.
  std::string backup_dir;                      // Where backups are made; empty: nowhere.
  std::string restore_from;                    // A backup to restore instead of serving.
  std::string listen = "127.0.0.1:50051";      // gRPC; port 0 picks a free one.
  std::string http_listen = "127.0.0.1:9151";  // /metrics, /healthz; port 0 likewise.
  int workers = 1;                             // Simulations at once.
  std::string kernel_names_file;  // Communication kernels that the table lacks; empty: none.
  bool keep_files = false;        // Of every upload, with its trace.
  // Between runs of the retention policies; 0: only when somebody asks.
  int64_t retention_period_seconds = 3600;
  // Keys of job metrics on /metrics, and for how long after their last record.
  int64_t metric_keys = 10'000;
  int64_t metric_expiry_seconds = 7 * 24 * 3600;

  // Receivers of the stored series. The files are none, or one a receiver, "-" for none.
  std::vector<std::string> remote_write_urls;
  std::vector<std::string> remote_write_bearer_token_files;
  std::vector<std::string> remote_write_basic_auth_files;
  std::string remote_write_ca_file;  // Certificates to trust; empty: the system's.
  int64_t remote_write_max_age_ms = int64_t{100} * 24 * 3'600'000;  // See TimeWindow.
  int64_t history_days = 400;                 // For which series are kept; 0: for ever.
  int64_t reserve_bytes = kDiskReserveBytes;  // See StoreOptions.
  LogLevel log_level = LogLevel::kInfo;
  ServerLimits limits;
};

struct ParsedCommandLine {
  ServerOptions options;
  bool exit = false;  // --help or --version was asked and answered in `text`.
  std::string text;
};

// INVALID_ARGUMENT names the flag or the key and the line of the file.
absl::StatusOr<ParsedCommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_OPTIONS_H_
