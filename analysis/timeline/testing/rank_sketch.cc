#include "analysis/timeline/testing/rank_sketch.h"

#include <utility>

#include "absl/status/statusor.h"
#include "common/check.h"

namespace chakrad {
namespace {

NodeSpec SpecOf(absl::string_view name, NodeType type, int64_t start_ns, int64_t end_ns) {
  NodeSpec spec;
  spec.name = name;
  spec.type = type;
  spec.start_ns = start_ns;
  if (end_ns != kUnknownNs) spec.dur_ns = end_ns - start_ns;
  return spec;
}

Queue Thread(int64_t id) { return {Queue::Kind::kHostThread, -1, id}; }
Queue Stream(int64_t id) { return {Queue::Kind::kDeviceStream, 0, id}; }

}  // namespace

uint32_t RankSketch::Node(const NodeSpec& spec) {
  NodeSpec named = spec;
  named.id = next_id_++;
  return builder_.AddNode(named);
}

uint32_t RankSketch::Host(absl::string_view name, int64_t start_ns, int64_t end_ns,
                          int64_t thread) {
  NodeSpec spec = SpecOf(name, NodeType::kComp, start_ns, end_ns);
  spec.flags = RankTrace::kHostOp;
  spec.queue = Thread(thread);
  return Node(spec);
}

uint32_t RankSketch::Mark(absl::string_view name, int64_t start_ns, int64_t end_ns,
                          int64_t thread) {
  NodeSpec spec = SpecOf(name, NodeType::kMetadata, start_ns, end_ns);
  spec.flags = RankTrace::kHostOp | RankTrace::kAnnotation;
  spec.queue = Thread(thread);
  return Node(spec);
}

uint32_t RankSketch::Kernel(absl::string_view name, int64_t start_ns, int64_t end_ns,
                            int64_t stream) {
  NodeSpec spec = SpecOf(name, NodeType::kComp, start_ns, end_ns);
  spec.queue = Stream(stream);
  return Node(spec);
}

uint32_t RankSketch::Launched(uint32_t host, absl::string_view name, int64_t start_ns,
                              int64_t end_ns, int64_t stream) {
  const uint32_t node = Kernel(name, start_ns, end_ns, stream);
  Dep(node, host, EdgeKind::kLaunch);
  return node;
}

uint32_t RankSketch::Copy(int64_t start_ns, int64_t end_ns, int64_t stream) {
  NodeSpec spec = SpecOf("memcpy", NodeType::kMemLoad, start_ns, end_ns);
  spec.queue = Stream(stream);
  return Node(spec);
}

uint32_t RankSketch::Comm(int64_t start_ns, int64_t end_ns, int64_t stream) {
  NodeSpec spec = SpecOf("all_reduce", NodeType::kCommColl, start_ns, end_ns);
  spec.queue = Stream(stream);
  CommOp comm;
  comm.bytes = 1024;
  comm.group = kWorldGroup;
  spec.comm = &comm;
  return Node(spec);
}

RankTrace RankSketch::Build(int32_t rank) {
  absl::StatusOr<RankTrace> built = builder_.Build(nullptr);
  CHECK(built.ok()) << built.status();
  built->rank = rank;
  return *std::move(built);
}

Trace SketchTrace(std::vector<RankTrace> ranks) {
  Trace trace;
  trace.ranks = std::move(ranks);
  trace.world_size = static_cast<int32_t>(trace.ranks.size());
  trace.groups.resize(1);
  for (const RankTrace& rank : trace.ranks) trace.groups[0].ranks.push_back(rank.rank);
  return trace;
}

}  // namespace chakrad
