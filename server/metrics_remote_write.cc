#include "server/metrics_remote_write.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cstdint>
#include <map>
#include <utility>

namespace chakrad {
namespace {

class Families {
 public:
  void Gauge(const char* name, const char* help, const std::string& receiver, double value) {
    Add(name, help, prometheus::MetricType::Gauge, receiver).gauge.value = value;
  }
  void Counter(const char* name, const char* help, const std::string& receiver, int64_t value) {
    Add(name, help, prometheus::MetricType::Counter, receiver).counter.value =
        static_cast<double>(value);
  }
  void Counters(const char* name, const char* help, const std::string& receiver, const char* label,
                const std::map<std::string, int64_t>& values) {
    for (const auto& [label_value, value] : values) {
      prometheus::ClientMetric& metric = Add(name, help, prometheus::MetricType::Counter, receiver);
      metric.label.push_back({label, label_value});
      metric.counter.value = static_cast<double>(value);
    }
  }

  std::string Text() const {
    std::vector<prometheus::MetricFamily> families;
    for (const auto& [name, family] : families_) families.push_back(family);
    return prometheus::TextSerializer().Serialize(families);
  }

 private:
  prometheus::ClientMetric& Add(const char* name, const char* help, prometheus::MetricType type,
                                const std::string& receiver) {
    prometheus::MetricFamily& family = families_[name];
    family.name = name;
    family.help = help;
    family.type = type;
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label.push_back({"receiver", receiver});
    return metric;
  }

  std::map<std::string, prometheus::MetricFamily> families_;
};

// From the start, so that rates see the first ones.
std::map<std::string, int64_t> WithZeros(std::map<std::string, int64_t> counts,
                                         const std::vector<const char*>& names) {
  for (const char* name : names) counts.emplace(name, 0);
  return counts;
}

}  // namespace

std::string RemoteWriteMetricsText(const std::vector<RemoteWriterStats>& writers) {
  Families families;
  for (const RemoteWriterStats& writer : writers) {
    const std::string& receiver = writer.receiver;
    families.Gauge("chakrad_remote_write_up",
                   "1 while the receiver answers and takes what it is sent.", receiver,
                   writer.up ? 1 : 0);
    families.Gauge("chakrad_remote_write_pending_records",
                   "Records of traces and simulations that the receiver does not have yet.",
                   receiver, static_cast<double>(writer.pending_records));
    families.Counter("chakrad_remote_write_samples_total",
                     "Samples that the receiver took, repeats included.", receiver,
                     writer.sent_samples);
    families.Counters("chakrad_remote_write_samples_dropped_total",
                      "Samples that the receiver will not get, by reason; they stay in the store "
                      "and can be exported.",
                      receiver, "reason",
                      WithZeros(writer.dropped_samples_by_reason,
                                {"too_old", "in_future", "refused_time", "refused", "unknown"}));
    families.Counter("chakrad_remote_write_damaged_records_total",
                     "Stored records that could not be read to be sent.", receiver,
                     writer.damaged_records);
    families.Counters(
        "chakrad_remote_write_requests_total", "Requests by what came of them.", receiver,
        "outcome",
        WithZeros(writer.requests_by_outcome, {"taken", "busy", "too_large", "bad_time",
                                               "bad_sample", "shut_out", "wrong_clock"}));
    families.Gauge("chakrad_remote_write_last_success_timestamp_seconds",
                   "When the receiver last took a request, in seconds since 1970; 0: never.",
                   receiver, writer.last_success_unix_seconds);
  }
  return families.Text();
}

}  // namespace chakrad
