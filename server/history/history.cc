#include "server/history/history.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/metrics_remote_write.h"

namespace chakrad {
namespace {

constexpr int64_t kDayMs = 24 * 3'600'000;
constexpr std::chrono::hours kPrunePeriod{1};

// "-" is no file; the lists are empty or as long as that of addresses (ParseCommandLine).
std::string FileOf(const std::vector<std::string>& files, size_t receiver) {
  return files.empty() || files[receiver] == "-" ? std::string() : files[receiver];
}

// HOST:PORT of an address to listen on: two daemons that write to one receiver differ in it.
std::string DaemonName(const std::string& listen) {
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0') return listen;
  const size_t colon = listen.rfind(':');
  return colon == std::string::npos ? host : absl::StrCat(host, listen.substr(colon));
}

}  // namespace

History::History(SeriesStore* series, Clock* clock, const ServerOptions& options)
    : series_(series),
      prunes_(options.history_days > 0),
      pruner_(series, clock, options.history_days * kDayMs, [this] { return ThroughSequence(); }) {
  const std::string daemon = DaemonName(options.listen);
  for (size_t i = 0; i < options.remote_write_urls.size(); ++i) {
    RemoteWriterOptions writer;
    writer.http.url = options.remote_write_urls[i];
    writer.http.bearer_token_file = FileOf(options.remote_write_bearer_token_files, i);
    writer.http.basic_auth_file = FileOf(options.remote_write_basic_auth_files, i);
    writer.http.ca_file = options.remote_write_ca_file;
    writer.daemon = daemon;
    writer.window.max_age_ms = options.remote_write_max_age_ms;
    writers_.push_back(std::make_unique<RemoteWriter>(series, clock, std::move(writer)));
  }
}

void History::Start() {
  for (const auto& writer : writers_) writer->Start();
  if (prunes_) pruner_.Start(kPrunePeriod);
}

void History::Stop() {
  pruner_.Stop();
  for (const auto& writer : writers_) writer->RequestStop();  // All at once.
  for (const auto& writer : writers_) writer->Stop();
}

std::string History::MetricsText() const {
  std::vector<RemoteWriterStats> stats;
  for (const auto& writer : writers_) stats.push_back(writer->Stats());
  return stats.empty() ? std::string() : RemoteWriteMetricsText(stats);
}

int64_t History::ThroughSequence() const {
  int64_t through = series_->last_sequence();
  for (const auto& writer : writers_) through = std::min(through, writer->durable_cursor());
  return through;
}

}  // namespace chakrad
