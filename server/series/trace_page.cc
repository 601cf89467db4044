#include "server/series/trace_page.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "analysis/metrics/metric_families.h"
#include "common/utf8.h"
#include "server/series/sample_codec.h"

namespace chakrad {
namespace {

constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr char kStyle[] =
    "<style>body{font-family:sans-serif;margin:2em}td,th{padding:.2em 1em .2em 0;"
    "text-align:left}td.number{text-align:right}</style>";
// Of a label in a message.
constexpr size_t kMaxShownBytes = 200;

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      ValidUtf8(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

HttpResponse Page(int status, absl::string_view title, absl::string_view body) {
  return {.status = status,
          .content_type = kHtml,
          .body = absl::StrCat("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>",
                               Escaped(title), "</title>", kStyle, "</head><body>\n<h1>",
                               Escaped(title), "</h1>\n", body, "</body></html>\n")};
}

std::string TimeText(int64_t unix_ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E3S UTC", absl::FromUnixMillis(unix_ms),
                          absl::UTCTimeZone());
}

std::string Row(absl::string_view name, absl::string_view value, bool number = false) {
  return absl::StrCat("<tr><td>", Escaped(name), "</td><td", number ? " class=\"number\"" : "", ">",
                      Escaped(value), "</td></tr>\n");
}

std::string LabelsTable(const SeriesRecord& record) {
  std::string rows = Row("time", TimeText(record.time_unix_ms));
  const std::string* const values[] = {&record.key.cluster, &record.key.job, &record.key.model,
                                       &record.key.rank_group};
  for (size_t i = 0; i < 4; ++i) absl::StrAppend(&rows, Row(kJobLabels[i], *values[i]));
  if (!record.variant.empty()) absl::StrAppend(&rows, Row("variant", record.variant));
  return absl::StrCat("<table>\n", rows, "</table>\n");
}

std::string NumbersTable(const SeriesRecord& record) {
  const auto samples = DecodeSamples(record.samples);
  if (!samples.ok()) return "<p>Its numbers are damaged.</p>\n";
  std::string rows;
  for (const MetricSample& sample : *samples) {
    const MetricFamily& family = FamilyOf(sample.id);
    std::string name(family.name);
    for (size_t i = 0; i < family.labels.size(); ++i) {
      absl::StrAppend(&name, i == 0 ? "{" : ", ", family.labels[i], "=", sample.label_values[i]);
    }
    if (!family.labels.empty()) absl::StrAppend(&name, "}");
    absl::StrAppend(&rows, Row(name, absl::StrCat(sample.value), /*number=*/true));
  }
  return absl::StrCat("<h2>Numbers</h2>\n<table>\n", rows, "</table>\n");
}

std::string Commands(const SeriesRecord& record, TraceStore* traces) {
  const std::string name = Escaped(record.source);
  absl::string_view id = record.source;
  if (!absl::ConsumePrefix(&id, "traces/")) {
    return absl::StrCat("<h2>Go on</h2>\n<pre>chakra jobs show ", name, "\nchakra analyze ", name,
                        "\nchakra critical-path ", name, "</pre>\n");
  }
  if (absl::IsNotFound(traces->GetInfo(id).status())) {
    return "<p>The trace itself is no longer stored; its series outlive it.</p>\n";
  }
  return absl::StrCat("<h2>Go on</h2>\n<pre>chakra traces show ", name, "\nchakra analyze ", name,
                      "\nchakra critical-path ", name, "</pre>\n");
}

}  // namespace

HttpResponse TracePage(const HttpRequest& request, SeriesStore* series, TraceStore* traces) {
  const auto get = [&](const char* name) {
    const auto it = request.query.find(name);
    const bool given = it != request.query.end() && !absl::StartsWith(it->second, "${__field.");
    return given ? it->second : std::string();
  };
  const SeriesKey key{get("cluster"), get("job"), get("model"), get("rank_group")};
  int64_t time_ms = std::numeric_limits<int64_t>::max();
  const std::string time = get("time");
  if (!time.empty() && !absl::SimpleAtoi(time, &time_ms)) {
    return Page(400, "Bad time",
                absl::StrCat("<p>time: ", Escaped(time.substr(0, kMaxShownBytes)),
                             " is not a number of milliseconds since 1970.</p>\n"));
  }
  const auto record = series->FindNear(key, get("variant"), time_ms);
  if (absl::IsNotFound(record.status())) {
    std::string asked;
    for (const auto& [name, value] : request.query) {
      absl::StrAppend(&asked, Row(name.substr(0, kMaxShownBytes), value.substr(0, kMaxShownBytes)));
    }
    return Page(404, "No such trace",
                absl::StrCat("<p>No trace or simulation has series with these labels:</p>\n",
                             "<table>\n", asked, "</table>\n"));
  }
  if (!record.ok()) {
    return Page(503, "The store cannot be read",
                absl::StrCat("<p>", Escaped(record.status().message()), "</p>\n"));
  }
  return Page(200, record->source,
              absl::StrCat(LabelsTable(*record), Commands(*record, traces), NumbersTable(*record)));
}

}  // namespace chakrad
