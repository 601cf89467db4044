#include "trace/writers/export.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "trace/writers/chakra_et_writer.h"
#include "trace/writers/chakra_json_writer.h"
#include "trace/writers/chrome_trace_writer.h"
#include "trace/writers/dot_writer.h"

namespace chakrad {
namespace {

struct FormatInfo {
  ExportFormat format;
  absl::string_view name;
  absl::string_view suffix;
};
constexpr FormatInfo kFormats[] = {
    {ExportFormat::kChakraEt, "et", ".et"},
    {ExportFormat::kChakraJson, "json", ".chakra.json"},
    {ExportFormat::kDot, "dot", ".dot"},
    {ExportFormat::kGraphMl, "graphml", ".graphml"},
    {ExportFormat::kChromeTrace, "chrome", ".json"},
};

}  // namespace

std::optional<ExportFormat> ExportFormatFromName(absl::string_view name) {
  for (const FormatInfo& info : kFormats) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

bool NeedsCold(ExportFormat format) {
  return format == ExportFormat::kChakraEt || format == ExportFormat::kChakraJson;
}

bool IsOneFile(ExportFormat format) { return format == ExportFormat::kChromeTrace; }

std::string ExportFileName(ExportFormat format, int32_t rank) {
  const absl::string_view suffix = kFormats[static_cast<size_t>(format)].suffix;
  return IsOneFile(format) ? absl::StrCat("timeline", suffix) : absl::StrCat("rank", rank, suffix);
}

absl::Status CheckRanksOnce(const std::vector<int32_t>& ranks) {
  std::vector<int32_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("ranks: ", *twice, " is there twice"));
}

absl::Status WriteRank(const Trace& trace, int32_t rank, ExportFormat format,
                       const GraphOptions& graph,
                       const std::function<absl::Status(absl::string_view)>& sink) {
  const RankTrace* part = trace.FindRank(rank);
  if (part == nullptr) {
    return absl::NotFoundError(absl::StrCat("rank ", rank, " is not in the trace"));
  }
  switch (format) {
    case ExportFormat::kChakraEt:
      return WriteChakraEt(trace, rank, sink);
    case ExportFormat::kChakraJson:
      return WriteChakraJson(trace, rank, sink);
    case ExportFormat::kDot:
      return WriteDot(*part, graph, sink);
    case ExportFormat::kGraphMl:
      return WriteGraphMl(*part, graph, sink);
    case ExportFormat::kChromeTrace:
      break;
  }
  CHECK(false) << "a timeline is not written rank by rank";
  return absl::OkStatus();
}

absl::Status WriteTimelines(const Trace& trace, const std::vector<int32_t>& ranks,
                            ExportFormat format,
                            const std::function<absl::Status(absl::string_view)>& sink) {
  CHECK(format == ExportFormat::kChromeTrace) << "one file a rank";
  ChromeTraceOptions options;
  options.ranks = ranks;
  return WriteChromeTrace(trace, options, sink);
}

}  // namespace chakrad
