#include "server/options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/remote_write/http_sender.h"
#include "server/version.h"
#include "storage/quantity_text.h"

namespace chakrad {
namespace {

// "" when `address` is host:port with a port that exists, else what is wrong.
std::string WrongAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = -1;
  const bool fits = colon != std::string::npos && colon > 0 &&
                    absl::SimpleAtoi(address.substr(colon + 1), &port) && port >= 0 &&
                    port <= 65'535;
  return fits ? "" : absl::StrCat(address, " is not host:port with a port in [0, 65535]");
}

void AddLimits(CLI::App* app, ServerLimits* limits, int64_t* reserve_bytes) {
  const auto add = [app](const char* flag, int64_t* value, const char* help, int64_t highest,
                         int64_t lowest = 1) {
    app->add_option(flag, *value, help)
        ->check(CLI::Range(lowest, highest))
        ->capture_default_str()
        ->group("Limits");
  };
  constexpr int64_t kAny = int64_t{1} << 50;
  add("--max_upload_bytes", &limits->upload_bytes, "Bytes of all files of one upload", kAny);
  add("--max_upload_files", &limits->upload_files, "Files of one upload", 10'000'000);
  add("--max_open_uploads", &limits->open_uploads, "Uploads that are not sealed yet", kAny);
  add("--max_tenant_bytes", &limits->tenant_bytes,
      "Bytes of one tenant (label `tenant`), traces and uploads; 0: no bound", kAny, 0);
  add("--max_store_bytes", &limits->store_bytes, "The same of all tenants; 0: no bound", kAny, 0);
  add("--max_pending_jobs", &limits->pending_jobs, "Jobs that wait for a worker", kAny);
  app->add_option("--reserve_bytes", *reserve_bytes,
                  "Disk that stays free: uploads and traces that would take it are refused")
      ->check(CLI::Range(int64_t{0}, kAny))
      ->capture_default_str()
      ->group("Limits");
  add("--drain_seconds", &limits->drain_seconds,
      "Seconds that running jobs get on SIGTERM before they are put back as pending", 86'400);
  add("--concurrent_seals", &limits->concurrent_seals, "Traces converted at once", 1'024);
}

// "" when `text` is a length of time that is not negative, else what is wrong.
std::string WrongAge(const std::string& text) {
  const std::optional<int64_t> age_ns = ParseDurationNs(text);
  if (age_ns.has_value() && *age_ns >= 0) return "";
  return absl::StrCat(text, " is no length of time, such as 100d or 36h; 0 takes any age");
}

void AddHistory(CLI::App* app, ServerOptions* options) {
  const auto add_each = [app](const char* flag, std::vector<std::string>* values,
                              const char* help) {
    return app->add_option(flag, *values, help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)
        ->group("History");
  };
  add_each("--remote_write_url", &options->remote_write_urls,
           "Address of a Prometheus remote-write receiver of the stored series; may be repeated")
      ->type_name("URL")
      ->check([](const std::string& url) { return std::string(CheckReceiverUrl(url).message()); });
  app->add_option_function<std::string>(
         "--remote_write_max_age",
         [options](const std::string& text) {
           options->remote_write_max_age_ms = ParseDurationNs(text).value_or(0) / 1'000'000;
         },
         "How old samples the receivers take: their out-of-order window; 0: any age")
      ->check(WrongAge)
      ->default_str("100d")
      ->group("History");
  add_each("--remote_write_bearer_token_file", &options->remote_write_bearer_token_files,
           "File with the token for a receiver; once for each receiver, - for none")
      ->type_name("FILE");
  add_each("--remote_write_basic_auth_file", &options->remote_write_basic_auth_files,
           "File with user:password for a receiver; once for each receiver, - for none")
      ->type_name("FILE");
  app->add_option("--remote_write_ca_file", options->remote_write_ca_file,
                  "Certificates that https receivers are checked against; default: the system's")
      ->type_name("FILE")
      ->group("History");
  app->add_option("--history_days", options->history_days,
                  "Days for which the series of traces and simulations are kept; 0: for ever")
      ->check(CLI::Range(int64_t{0}, int64_t{36'500}))
      ->capture_default_str()
      ->group("History");
}

absl::Status CheckHistory(const ServerOptions& options) {
  const std::vector<std::string>& urls = options.remote_write_urls;
  if (urls.size() > kMaxRemoteWriteReceivers) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--remote_write_url: ", urls.size(), " receivers, more than ", kMaxRemoteWriteReceivers));
  }
  std::set<std::string> names;
  for (const std::string& url : urls) {
    if (names.insert(ReceiverName(url)).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--remote_write_url: ", ReceiverName(url), " is given twice"));
  }
  const auto fits = [&](const std::vector<std::string>& files) {
    return files.empty() || files.size() == urls.size();
  };
  for (const auto& [flag, files] :
       {std::pair("--remote_write_bearer_token_file", &options.remote_write_bearer_token_files),
        std::pair("--remote_write_basic_auth_file", &options.remote_write_basic_auth_files)}) {
    if (fits(*files)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": ", files->size(), " for ", urls.size(),
                     " receivers; give one for each --remote_write_url, in order, or -"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParsedCommandLine> ParseCommandLine(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  ServerOptions& options = parsed.options;
  CLI::App app{
      "chakrad: takes execution traces of distributed jobs, simulates them, and tells "
      "how much communication is exposed.",
      "chakrad"};
  app.option_defaults()->take_last();  // A wrapper script's flag can be overridden.
  app.set_version_flag("--version", std::string(kVersion));
  app.set_config("--config", "", "File with the same settings, one `name = value` a line");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.add_option("--data_dir", options.data_dir, "Folder for everything durable; made if missing")
      ->required();
  app.add_option("--backup_dir", options.backup_dir,
                 "Folder for backups, best on the disk of --data_dir: then files are linked, not "
                 "copied")
      ->type_name("DIR");
  app.add_option("--restore_from", options.restore_from,
                 "Restore this backup into --data_dir, which must hold no store, and end")
      ->type_name("DIR");
  app.add_option("--listen", options.listen, "host:port for gRPC; port 0 picks a free one")
      ->check(WrongAddress)
      ->capture_default_str();
  app.add_option("--http_listen", options.http_listen,
                 "host:port for /metrics and /healthz; port 0 picks a free one")
      ->check(WrongAddress)
      ->capture_default_str();
  app.add_option("--workers", options.workers, "Simulations that run at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--kernel_names", options.kernel_names_file,
                 "JSON file with names of communication kernels that the built-in table lacks")
      ->type_name("FILE");
  app.add_flag("--keep_files", options.keep_files,
               "Keep the files of every upload with its trace, compressed");
  app.add_option("--retention_period_seconds", options.retention_period_seconds,
                 "Seconds between runs of the retention policies; 0: only by chakra retention run")
      ->check(CLI::Range(int64_t{0}, int64_t{6} * 86'400))  // Below kMaxRetentionStepNs.
      ->capture_default_str();
  app.add_option("--metric_keys", options.metric_keys,
                 "Jobs (cluster, job, model, rank group, variant) shown on /metrics at most")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--metric_expiry_seconds", options.metric_expiry_seconds,
                 "Seconds that a job stays on /metrics after its last trace arrived")
      ->check(CLI::Range(int64_t{1}, int64_t{10} * 365 * 86'400))
      ->capture_default_str();
  const std::map<std::string, LogLevel> levels{{"debug", LogLevel::kDebug},
                                               {"info", LogLevel::kInfo},
                                               {"warning", LogLevel::kWarning},
                                               {"error", LogLevel::kError}};
  app.add_option("--log_level", options.log_level, "debug, info, warning or error")
      ->transform(CLI::CheckedTransformer(levels))
      ->default_str("info");
  AddHistory(&app, &options);
  AddLimits(&app, &options.limits, &options.reserve_bytes);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    parsed.exit = true;
    parsed.text = asked.get_name() == "CallForHelp" ? app.help() : absl::StrCat(kVersion, "\n");
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  if (!parsed.exit) RETURN_IF_ERROR(CheckHistory(options));
  return parsed;
}

}  // namespace chakrad
