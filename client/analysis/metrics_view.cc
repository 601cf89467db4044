#include <charconv>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/analysis/views.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

// The shortest that reads back as the same number: six digits would hide what a scrape shows.
std::string ExactText(double value) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

}  // namespace

// The labels of the job are the same in all: they stand above, and a row has its own only.
std::string MetricsText(const v1::TimelineAnalysis& answer) {
  if (answer.metrics().empty()) return "";
  const std::set<std::string> job_labels{"cluster", "job", "model", "rank_group"};
  std::string head = "metrics of";
  for (const std::string& name : job_labels) {
    const auto it = answer.metrics(0).labels().find(name);
    if (it != answer.metrics(0).labels().end()) {
      absl::StrAppend(&head, " ", name, "=\"", it->second, "\"");
    }
  }
  Table table({{"metric", ""}, {"labels", ""}, {"value", "", Table::Align::kRight}});
  for (const v1::Metric& metric : answer.metrics()) {
    std::set<std::string> labels;  // In the order of their names: the message's map has none.
    for (const auto& [name, value] : metric.labels()) {
      if (job_labels.count(name) == 0) labels.insert(absl::StrCat(name, "=", value));
    }
    std::string text;
    for (const std::string& label : labels) absl::StrAppend(&text, text.empty() ? "" : " ", label);
    table.AddRow({metric.name(), text, ExactText(metric.value())});
  }
  return absl::StrCat(head, "\n", table.Text());
}

}  // namespace chakrad::client
