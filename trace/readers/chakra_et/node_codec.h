// What the messages of a Chakra file mean, attribute by attribute
// (trace/model/attributes.h): one place for reader and writer. Includes
// generated protobuf types, so it stays inside these two.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_ET_NODE_CODEC_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_ET_NODE_CODEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "chakra/et_def.pb.h"
#include "trace/model/rank_trace.h"
#include "trace/readers/read_options.h"

namespace chakrad {

// Something wrong with a message that reading could live with: for Ledger::AddFlaw.
struct MessageFlaw {
  const char* rule = "";
  std::string reason;
};

// What GlobalMetadata says for all nodes.
struct ChakraFileInfo {
  std::string schema;
  int32_t rank = kNoRank;
  int64_t base_unix_ns = 0;
  std::vector<Queue> queues;
  std::vector<ProcessGroup> groups;
  std::string cold;  // See RankTrace::file_cold.

  // Index of the first group with this name, which is added if there is none.
  uint32_t FindGroup(absl::string_view name);

 private:
  absl::flat_hash_map<std::string, uint32_t> group_index_;
  size_t groups_indexed_ = 0;
};

// INVALID_ARGUMENT names the attribute, its value and what is allowed; when lenient
// the attribute says nothing and is a flaw.
absl::StatusOr<ChakraFileInfo> DecodeMetadata(const ChakraProtoMsg::GlobalMetadata& metadata,
                                              const ReadOptions& options,
                                              std::vector<MessageFlaw>* flaws);
// DATA_LOSS when info.cold does not parse. What it holds comes first.
absl::StatusOr<ChakraProtoMsg::GlobalMetadata> EncodeMetadata(const ChakraFileInfo& info);

struct DecodedNode {
  NodeType type = NodeType::kInvalid;
  uint8_t flags = 0;
  Queue queue;
  int64_t start_ns = kUnknownNs;
  int64_t dur_ns = kUnknownNs;
  int64_t work_ns = kUnknownNs;
  int64_t gap_ns = 0;
  bool has_comm = false;
  CommOp comm;
  bool states_bytes = false;  // Of communication: whether a size is there at all.
  bool has_work_size = false;
  WorkSize work_size;
  std::vector<uint8_t> data_dep_kinds;  // See attr::kEdgeKinds; empty: all are data edges.
  std::vector<std::string> added;       // See attr::kAdded.
  std::vector<MessageFlaw> flaws;
};

// All integer kinds are taken. `info` gains the groups that nodes name for the first
// time. Flaws, with what is made of the node:
//   comm_type_missing   a COMM_COLL_NODE without one. Told by its name (collective_name.h):
//                       that. A host operation with no size either: a call as old
//                       converters write it, whose collective is another node; a COMP_NODE
//   unknown_node_type   INVALID_NODE: kept as such, it takes no time
// INVALID_ARGUMENT naming the attribute, and when lenient a flaw, the attribute then
// standing for nothing, as if it were missing:
//   attribute_type      a known attribute of another type
//   attribute_range     a negative size or another value out of range
//   duplicate_attribute a known attribute twice: the first one counts
//   time_out_of_range   a start or duration beyond kMaxRecordingNs: unknown
//   comm_type_missing   not told by the name either: a METADATA_NODE
//   unknown_node_type   a number that is no node type: a METADATA_NODE
absl::StatusOr<DecodedNode> DecodeNode(const ChakraProtoMsg::Node& node, const ReadOptions& options,
                                       ChakraFileInfo* info);

// Leaves inputs, outputs, attributes and unknown fields, without chakrad's own
// known attributes and those that the writer `added`.
void ReduceToCold(const std::vector<std::string>& added, ChakraProtoMsg::Node* node);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_ET_NODE_CODEC_H_
