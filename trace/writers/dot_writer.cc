#include "trace/writers/dot_writer.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status.h"
#include "common/utf8.h"
#include "trace/writers/pieces.h"

namespace chakrad {
namespace {

// Appends `text` for a quoted string of DOT, in which graphviz knows escapes
// ("\N", "\l") and entities ("&amp;"). Boxes are no records, so braces, bars and
// angle brackets mean nothing.
void AppendDotText(absl::string_view text, std::string* dot) {
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      dot->push_back('\\');
      dot->push_back(c);
    } else if (c == '&') {
      *dot += "&amp;";
    } else {
      dot->push_back(static_cast<uint8_t>(c) < 0x20 || c == 0x7f ? ' ' : c);
    }
  }
}

// At most kMaxGraphNameBytes, valid UTF-8.
std::string ShortName(absl::string_view name) {
  std::string text = ValidUtf8(name, kMaxGraphNameBytes);
  if (name.size() > kMaxGraphNameBytes) text += "...";
  return text;
}

const char* ClassOf(const RankTrace& rank, uint32_t node) {
  if (IsComm(rank.type[node])) return "comm";
  if (IsMemory(rank.type[node])) return "memory";
  if (rank.type[node] != NodeType::kComp) return "metadata";
  return rank.is_host(node) ? "host" : "compute";
}

const char* FillOf(absl::string_view node_class) {
  if (node_class == "comm") return "#fdd0a2";
  if (node_class == "memory") return "#fff2ae";
  if (node_class == "compute") return "#c6dbef";
  return node_class == "host" ? "#e5f5e0" : "#eeeeee";
}

const char* StyleOf(uint8_t kind) {
  if (kind == GraphEdge::kThroughHidden) return "color=\"#888888\" style=dashed";
  switch (static_cast<EdgeKind>(kind)) {
    case EdgeKind::kData:
      return "color=\"#000000\"";
    case EdgeKind::kControl:
      return "color=\"#888888\" arrowhead=tee";
    case EdgeKind::kThreadOrder:
      return "color=\"#41ab5d\" style=dotted";
    case EdgeKind::kLaunch:
      return "color=\"#2171b5\"";
    case EdgeKind::kStreamOrder:
      return "color=\"#2171b5\" style=bold";
    case EdgeKind::kSync:
      return "color=\"#cb181d\"";
    case EdgeKind::kForwardBackward:
      return "color=\"#6a51a3\" style=dotted";
  }
  return "";
}

absl::string_view KindName(uint8_t kind) {
  return kind == GraphEdge::kThroughHidden ? "through_hidden"
                                           : EdgeKindName(static_cast<EdgeKind>(kind));
}

// "COMM_COLL_NODE ALL_REDUCE, 4096 bytes, 12.345 us".
std::string DetailsOf(const RankTrace& rank, uint32_t node) {
  std::string text(NodeTypeName(rank.type[node]));
  if (const CommOp* comm = rank.CommOf(node)) {
    if (rank.type[node] == NodeType::kCommColl) {
      absl::StrAppend(&text, " ", CollectiveTypeName(comm->collective));
    } else if (comm->peer != kNoRank) {
      absl::StrAppend(&text, rank.type[node] == NodeType::kCommSend ? " to " : " from ",
                      comm->peer);
    }
    absl::StrAppend(&text, ", ", comm->bytes, " bytes");
  } else if (const WorkSize* size = rank.WorkSizeOf(node)) {
    if (IsMemory(rank.type[node])) absl::StrAppend(&text, ", ", size->tensor_bytes, " bytes");
  }
  const int64_t ns = rank.work_ns[node];
  if (ns != kUnknownNs) absl::StrAppendFormat(&text, ", %d.%03d us", ns / 1000, ns % 1000);
  return text;
}

// The junctions of a view, asked for in ascending order.
class JunctionWalk {
 public:
  explicit JunctionWalk(const GraphView& view) : view_(view) {}
  bool IsJunction(uint32_t node) {
    while (next_ < view_.junctions.size() && view_.junctions[next_] < node) ++next_;
    return next_ < view_.junctions.size() && view_.junctions[next_] == node;
  }

 private:
  const GraphView& view_;
  size_t next_ = 0;
};

void AppendDotNode(const RankTrace& rank, uint32_t node, bool junction, std::string* dot) {
  if (junction) {
    absl::StrAppend(dot, "  n", rank.id[node], " [shape=point fillcolor=\"#888888\"];\n");
    return;
  }
  const char* node_class = ClassOf(rank, node);
  absl::StrAppend(dot, "  n", rank.id[node], " [label=\"");
  AppendDotText(ShortName(rank.NameOf(node)), dot);
  absl::StrAppend(dot, "\\nnode ", rank.id[node], ": ", DetailsOf(rank, node), "\" fillcolor=\"",
                  FillOf(node_class), "\"];\n");
}

// Control characters have no place in XML at all, escaped or not.
void AppendXmlText(absl::string_view text, std::string* xml) {
  for (const char c : ValidUtf8(text)) {
    switch (c) {
      case '&':
        *xml += "&amp;";
        break;
      case '<':
        *xml += "&lt;";
        break;
      case '>':
        *xml += "&gt;";
        break;
      case '"':
        *xml += "&quot;";
        break;
      default:
        xml->push_back(static_cast<uint8_t>(c) < 0x20 ? ' ' : c);
    }
  }
}

struct GraphMlKey {
  const char* name;
  const char* type;
  const char* scope;
};
constexpr GraphMlKey kGraphMlKeys[] = {
    {"label", "string", "graph"}, {"id", "string", "node"},         {"name", "string", "node"},
    {"type", "string", "node"},   {"class", "string", "node"},      {"queue", "string", "node"},
    {"start_ns", "long", "node"}, {"dur_ns", "long", "node"},       {"work_ns", "long", "node"},
    {"bytes", "long", "node"},    {"collective", "string", "node"}, {"kind", "string", "edge"}};

class GraphMlNode {
 public:
  explicit GraphMlNode(std::string* xml) : xml_(*xml) {}
  void Text(const char* key, absl::string_view text) {
    absl::StrAppend(&xml_, "<data key=\"", key, "\">");
    AppendXmlText(text, &xml_);
    xml_ += "</data>";
  }
  void Time(const char* key, int64_t ns) {
    if (ns != kUnknownNs) Text(key, absl::StrCat(ns));
  }

 private:
  std::string& xml_;
};

std::string QueueName(const Queue& queue) {
  return queue.kind == Queue::Kind::kHostThread
             ? absl::StrCat("thread ", queue.raw_id)
             : absl::StrCat("device ", queue.device, " stream ", queue.raw_id);
}

void AppendGraphMlNode(const RankTrace& rank, uint32_t node, bool junction, std::string* xml) {
  absl::StrAppend(xml, "<node id=\"n", rank.id[node], "\">");
  GraphMlNode data(xml);
  data.Text("id", absl::StrCat(rank.id[node]));
  if (junction) {
    data.Text("class", "junction");
  } else {
    data.Text("name", rank.NameOf(node));
    data.Text("type", NodeTypeName(rank.type[node]));
    data.Text("class", ClassOf(rank, node));
    data.Text("queue", QueueName(rank.queues[rank.queue[node]]));
    data.Time("start_ns", rank.start_ns[node]);
    data.Time("dur_ns", rank.dur_ns[node]);
    data.Time("work_ns", rank.work_ns[node]);
    if (const CommOp* comm = rank.CommOf(node)) {
      data.Text("bytes", absl::StrCat(comm->bytes));
      if (rank.type[node] == NodeType::kCommColl) {
        data.Text("collective", CollectiveTypeName(comm->collective));
      }
    } else if (const WorkSize* size = rank.WorkSizeOf(node)) {
      if (IsMemory(rank.type[node])) data.Text("bytes", absl::StrCat(size->tensor_bytes));
    }
  }
  *xml += "</node>\n";
}

}  // namespace

absl::Status WriteDot(const RankTrace& rank, const GraphOptions& options,
                      const std::function<absl::Status(absl::string_view)>& sink) {
  ASSIGN_OR_RETURN(const GraphView view, ViewGraph(rank, options));
  Pieces pieces(sink);
  std::string& dot = pieces.text();
  absl::StrAppend(&dot, "digraph \"rank ", rank.rank, "\" {\n  label=\"", DescribeView(rank, view),
                  "\";\n  labelloc=t;\n"
                  "  node [shape=box style=filled fontname=\"sans-serif\" fontsize=10];\n");
  JunctionWalk junctions(view);
  for (const uint32_t node : view.nodes) {
    AppendDotNode(rank, node, junctions.IsJunction(node), &dot);
    RETURN_IF_ERROR(pieces.Passed());
  }
  for (const GraphEdge& edge : view.edges) {
    absl::StrAppend(&dot, "  n", rank.id[edge.dependency], " -> n", rank.id[edge.node], " [",
                    StyleOf(edge.kind), " tooltip=\"", KindName(edge.kind), "\"];\n");
    RETURN_IF_ERROR(pieces.Passed());
  }
  dot += "}\n";
  return pieces.Flush();
}

absl::Status WriteGraphMl(const RankTrace& rank, const GraphOptions& options,
                          const std::function<absl::Status(absl::string_view)>& sink) {
  ASSIGN_OR_RETURN(const GraphView view, ViewGraph(rank, options));
  Pieces pieces(sink);
  std::string& xml = pieces.text();
  xml +=
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
  for (const GraphMlKey& key : kGraphMlKeys) {
    absl::StrAppend(&xml, "<key id=\"", key.name, "\" for=\"", key.scope, "\" attr.name=\"",
                    key.name, "\" attr.type=\"", key.type, "\"/>\n");
  }
  absl::StrAppend(&xml, "<graph id=\"rank", rank.rank, "\" edgedefault=\"directed\">");
  GraphMlNode(&xml).Text("label", DescribeView(rank, view));
  xml += "\n";
  JunctionWalk junctions(view);
  for (const uint32_t node : view.nodes) {
    AppendGraphMlNode(rank, node, junctions.IsJunction(node), &xml);
    RETURN_IF_ERROR(pieces.Passed());
  }
  for (const GraphEdge& edge : view.edges) {
    absl::StrAppend(&xml, "<edge source=\"n", rank.id[edge.dependency], "\" target=\"n",
                    rank.id[edge.node], "\"><data key=\"kind\">", KindName(edge.kind),
                    "</data></edge>\n");
    RETURN_IF_ERROR(pieces.Passed());
  }
  xml += "</graph>\n</graphml>\n";
  return pieces.Flush();
}

}  // namespace chakrad
