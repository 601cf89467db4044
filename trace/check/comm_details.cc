#include "trace/check/comm_details.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "chakra/et_def.pb.h"

namespace chakrad {
namespace {

// Calls between the one that launches and the one that records: c10d, nccl, record_param_comms.
constexpr int kLevelsUp = 3;
// A communication call has few calls inside; what has more is no such call.
constexpr uint32_t kMaxChildren = 16;

int64_t IntOf(const ChakraProtoMsg::AttributeProto& attribute) {
  switch (attribute.value_case()) {
    case ChakraProtoMsg::AttributeProto::kInt64Val:
      return attribute.int64_val();
    case ChakraProtoMsg::AttributeProto::kUint64Val:
      return static_cast<int64_t>(attribute.uint64_val());
    case ChakraProtoMsg::AttributeProto::kInt32Val:
      return attribute.int32_val();
    case ChakraProtoMsg::AttributeProto::kUint32Val:
      return attribute.uint32_val();
    default:
      return -1;
  }
}

// "[1, 2]". False for a list that the recorder cut, or that is none.
bool ParseInts(absl::string_view text, std::vector<int64_t>* ints) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) return false;
  if (absl::StripAsciiWhitespace(text).empty()) return true;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t number;
    if (!absl::SimpleAtoi(part, &number)) return false;
    ints->push_back(number);
  }
  return true;
}

bool ReadSplits(const ChakraProtoMsg::AttributeProto& attribute, std::vector<int64_t>* splits) {
  splits->clear();
  if (attribute.value_case() == ChakraProtoMsg::AttributeProto::kInt64List) {
    splits->assign(attribute.int64_list().values().begin(), attribute.int64_list().values().end());
    return true;
  }
  return ParseInts(attribute.string_val(), splits);
}

CommDetails ReadCold(const RankTrace& rank, uint32_t node) {
  CommDetails details;
  const absl::string_view bytes = rank.ColdOf(node);
  ChakraProtoMsg::Node cold;
  if (bytes.empty() || !cold.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return details;
  }
  for (const ChakraProtoMsg::AttributeProto& attribute : cold.attr()) {
    const std::string& key = attribute.name();
    if (key == "dtype") {
      details.dtype = attribute.string_val();
    } else if (key == "in_msg_nelems") {
      details.in_elements = IntOf(attribute);
    } else if (key == "out_msg_nelems") {
      details.out_elements = IntOf(attribute);
    } else if (key == "in_split_size") {
      details.in_splits_known = ReadSplits(attribute, &details.in_splits);
    } else if (key == "out_split_size") {
      details.out_splits_known = ReadSplits(attribute, &details.out_splits);
    } else {
      continue;
    }
    details.stated = true;
  }
  return details;
}

uint32_t FirstDependency(const RankTrace& rank, uint32_t node, EdgeKind kind) {
  for (uint32_t j = rank.dep_begin[node]; j < rank.dep_begin[node + 1]; ++j) {
    if (rank.dep_kind[j] == kind) return rank.dep_node[j];
  }
  return kNone;
}

// Of the calls inside `node`: details when one states some and no other does.
CommDetails OfChildren(const RankTrace& rank, const CheckGraph& graph, uint32_t node) {
  CommDetails found;
  const uint32_t begin = graph.dependents.begin[node], end = graph.dependents.begin[node + 1];
  if (end - begin > kMaxChildren) return found;
  for (uint32_t j = begin; j < end; ++j) {
    CommDetails details = ReadCold(rank, graph.dependents.node[j]);
    if (!details.stated) continue;
    if (found.stated) return {};
    found = std::move(details);
  }
  return found;
}

}  // namespace

CommDetails CommDetailsOf(const RankTrace& rank, const CheckGraph& graph, uint32_t node) {
  if (rank.cold.empty()) return {};
  CommDetails details = ReadCold(rank, node);
  const uint32_t launch = FirstDependency(rank, node, EdgeKind::kLaunch);
  if (details.stated || launch == kNone) return details;
  uint32_t call = launch;
  for (int level = 0; level <= kLevelsUp && call != kNone; ++level) {
    details = ReadCold(rank, call);
    if (details.stated) return details;
    call = FirstDependency(rank, call, EdgeKind::kControl);
  }
  return OfChildren(rank, graph, launch);
}

std::vector<bool> NodesWithCommDetails(const RankTrace& rank) {
  std::vector<bool> read(rank.size(), false), launches(rank.size(), false);
  bool any_launch = false;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (!IsComm(rank.type[node])) continue;
    read[node] = true;
    uint32_t call = FirstDependency(rank, node, EdgeKind::kLaunch);
    if (call == kNone) continue;
    launches[call] = any_launch = true;
    for (int level = 0; level <= kLevelsUp && call != kNone; ++level) {
      read[call] = true;
      call = FirstDependency(rank, call, EdgeKind::kControl);
    }
  }
  for (uint32_t node = 0; node < rank.size() && any_launch; ++node) {
    for (uint32_t j = rank.dep_begin[node]; j < rank.dep_begin[node + 1]; ++j) {
      if (launches[rank.dep_node[j]]) read[node] = true;
    }
  }
  return read;
}

}  // namespace chakrad
