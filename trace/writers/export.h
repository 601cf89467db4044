// The forms in which a trace leaves: one list for the daemon and the command line.
#ifndef CHAKRAD_TRACE_WRITERS_EXPORT_H_
#define CHAKRAD_TRACE_WRITERS_EXPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"
#include "trace/writers/graph_view.h"

namespace chakrad {

enum class ExportFormat : uint8_t {
  kChakraEt = 0,     // Protobuf, a file a rank.
  kChakraJson = 1,   // The same as JSON.
  kDot = 2,          // A graph for graphviz, a file a rank.
  kGraphMl = 3,      // A graph for graph tools, a file a rank.
  kChromeTrace = 4,  // Timeline for Perfetto and chrome://tracing, one file for all ranks.
};

// "et", "json", "dot", "graphml", "chrome"; nullopt for another word.
std::optional<ExportFormat> ExportFormatFromName(absl::string_view name);

// Whether WriteRank needs the cold block.
bool NeedsCold(ExportFormat format);
// Whether one file holds all ranks: WriteTimeline. Else a file a rank: WriteRank.
bool IsOneFile(ExportFormat format);

// "rank3.et", "rank3.chakra.json", "rank3.dot", "rank3.graphml", "timeline.json".
std::string ExportFileName(ExportFormat format, int32_t rank);

// INVALID_ARGUMENT when a rank is there twice: its file would be.
absl::Status CheckRanksOnce(const std::vector<int32_t>& ranks);

// Writes one rank. `graph` is for the two graphs alone. Errors: the writer's.
absl::Status WriteRank(const Trace& trace, int32_t rank, ExportFormat format,
                       const GraphOptions& graph,
                       const std::function<absl::Status(absl::string_view)>& sink);

// Writes several ranks into one file. Errors: the writer's.
absl::Status WriteTimelines(const Trace& trace, const std::vector<int32_t>& ranks,
                            ExportFormat format,
                            const std::function<absl::Status(absl::string_view)>& sink);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_WRITERS_EXPORT_H_
