// What becomes of stored series: they go to remote-write receivers, and old ones are removed.
#ifndef CHAKRAD_SERVER_HISTORY_HISTORY_H_
#define CHAKRAD_SERVER_HISTORY_HISTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "server/history/history_pruner.h"
#include "server/options.h"
#include "server/remote_write/remote_writer.h"
#include "storage/series_store.h"

namespace chakrad {

// Thread-safe. What it is given must outlive it.
class History {
 public:
  History(SeriesStore* series, Clock* clock, const ServerOptions& options);

  void Start();
  // Within about a second; what was not sent yet is sent after the next start.
  void Stop();

  // Of the remote writers, in Prometheus's text format; "" without any.
  std::string MetricsText() const;

 private:
  // Records up to here are with every receiver.
  int64_t ThroughSequence() const;

  SeriesStore* const series_;
  const bool prunes_;
  std::vector<std::unique_ptr<RemoteWriter>> writers_;
  HistoryPruner pruner_;  // Stops first: it asks the writers.
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_HISTORY_HISTORY_H_
