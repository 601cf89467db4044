// Rank traces with everything that one can say, and a look whether two are equal.
#ifndef CHAKRAD_TESTS_ROUND_TRIP_RANDOM_TRACE_H_
#define CHAKRAD_TESTS_ROUND_TRIP_RANDOM_TRACE_H_

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakra/et_def.pb.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/model/trace.h"

namespace chakrad {

// Equal in all that a RankTrace says; `groups` stand for a's own.
inline void ExpectEqual(const RankTrace& a, const std::vector<ProcessGroup>& groups,
                        const RankTrace& b) {
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.base_unix_ns, b.base_unix_ns);
  EXPECT_EQ(a.schema, b.schema);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.queue, b.queue);
  EXPECT_EQ(a.start_ns, b.start_ns);
  EXPECT_EQ(a.dur_ns, b.dur_ns);
  EXPECT_EQ(a.work_ns, b.work_ns);
  EXPECT_EQ(a.side, b.side);
  EXPECT_EQ(a.dep_begin, b.dep_begin);
  EXPECT_EQ(a.dep_node, b.dep_node);
  EXPECT_EQ(a.dep_kind, b.dep_kind);
  EXPECT_EQ(a.gap_node, b.gap_node);
  EXPECT_EQ(a.gap_ns, b.gap_ns);
  EXPECT_EQ(a.queues, b.queues);
  EXPECT_EQ(a.comm, b.comm);
  EXPECT_EQ(a.work_size, b.work_size);
  EXPECT_EQ(groups, b.groups);
  EXPECT_EQ(a.cold_begin, b.cold_begin);
  EXPECT_EQ(a.cold, b.cold);
  EXPECT_EQ(a.file_cold, b.file_cold);
  ASSERT_EQ(a.size(), b.size());
  for (uint32_t node = 0; node < a.size(); ++node) EXPECT_EQ(a.NameOf(node), b.NameOf(node));
}

class RandomTrace {
 public:
  explicit RandomTrace(uint32_t seed) : random_(seed) {}

  Trace Make() {
    Trace trace;
    trace.world_size = 8;
    trace.groups = {{"world", "", {0, 1, 2, 3, 4, 5, 6, 7}},
                    {"", "", {1}},
                    {"tp \"0\"", "d", {3, 1}},
                    {"tp \"0\"", "same name", {}}};
    RankTraceBuilder builder;
    builder.header().rank = Below(8);
    builder.header().base_unix_ns = OneIn(2) ? 0 : 1'700'000'000'123'456'789;
    builder.header().schema = OneIn(2) ? "" : "1.0.3-chakra.0.0.4";
    builder.header().groups = trace.groups;
    if (OneIn(2)) builder.header().file_cold = FileCold();
    const int nodes = 1 + Below(60);
    for (int i = 0; i < nodes; ++i) AddNode(&builder);
    trace.ranks.push_back(*builder.Build(nullptr));
    return trace;
  }

 private:
  static std::string FileCold() {
    ChakraProtoMsg::GlobalMetadata metadata;
    metadata.set_version("0.0.4");
    auto* attribute = metadata.add_attr();
    attribute->set_name("pid");
    attribute->set_uint64_val(7);
    return metadata.SerializeAsString();
  }
  int Below(int limit) { return static_cast<int>(random_() % static_cast<uint32_t>(limit)); }
  bool OneIn(int n) { return Below(n) == 0; }
  // Often unknown, 0 or whole microseconds.
  int64_t Ns() {
    switch (Below(5)) {
      case 0:
        return kUnknownNs;
      case 1:
        return 0;
      case 2:
        return int64_t{Below(100000)} * 1000;
      default:
        return static_cast<int64_t>(random_() % 1'000'000'000'000);
    }
  }

  CommOp Comm() {
    CommOp comm;
    comm.collective = static_cast<CollectiveType>(Below(kCollectiveTypesCount));
    comm.bytes = OneIn(3) ? 0 : static_cast<int64_t>(random_() >> 1);
    if (!OneIn(4)) comm.group = static_cast<uint32_t>(Below(4));
    if (OneIn(2)) comm.peer = Below(8);
    if (OneIn(2)) comm.root = Below(8);
    if (OneIn(2)) comm.priority = Below(100) - 50;
    if (OneIn(2)) comm.tag = OneIn(2) ? Below(9) : static_cast<int64_t>(random_());
    if (OneIn(2)) comm.involved_dims = static_cast<uint32_t>(Below(8));
    return comm;
  }

  // Attributes that the writer would like to add itself, with other values.
  std::string Cold() {
    ChakraProtoMsg::Node cold;
    if (OneIn(2)) cold.mutable_inputs()->set_values("[1, \"a\"]");
    auto add = [&](const char* key) -> ChakraProtoMsg::AttributeProto* {
      if (!OneIn(3)) return nullptr;
      auto* attribute = cold.add_attr();
      attribute->set_name(key);
      return attribute;
    };
    if (auto* a = add("tid")) a->set_uint64_val(static_cast<uint64_t>(Below(4)));
    if (auto* a = add("stream")) a->set_int32_val(Below(4));
    if (auto* a = add("is_cpu_op")) a->set_bool_val(OneIn(2));
    if (auto* a = add("pg_name")) a->set_string_val(OneIn(2) ? "world" : "");
    if (auto* a = add("comm_size")) a->set_sint64_val(Below(1000));
    if (auto* a = add("comm_type")) a->set_fixed32_val(static_cast<uint32_t>(Below(10)));
    if (auto* a = add("comm_dst")) a->set_int32_val(Below(8));
    if (auto* a = add("comm_tag")) a->set_int64_val(Below(8));
    if (auto* a = add("tensor_size")) a->set_uint64_val(static_cast<uint64_t>(Below(1000)));
    if (auto* a = add("involved_dim")) a->mutable_bool_list()->add_values(OneIn(2));
    if (auto* a = add("unknown")) a->mutable_double_list()->add_values(0.5);
    return cold.SerializeAsString();
  }

  void AddNode(RankTraceBuilder* builder) {
    NodeSpec spec;
    spec.id = next_id_;
    next_id_ += 1 + static_cast<uint64_t>(Below(3));
    spec.type = static_cast<NodeType>(Below(kNodeTypesCount));
    spec.flags = static_cast<uint8_t>(Below(4));
    const std::string name = absl::StrCat("op", Below(7));
    spec.name = name;
    if (OneIn(2)) {
      spec.queue = {Queue::Kind::kDeviceStream, Below(2), Below(3)};
    } else {
      spec.queue = {Queue::Kind::kHostThread, -1, Below(3) - 1};
    }
    spec.start_ns = Ns();
    spec.dur_ns = Ns();
    spec.work_ns = OneIn(2) ? spec.dur_ns : Ns();
    if (OneIn(3)) spec.gap_ns = 1 + Below(100000);
    const CommOp comm = Comm();
    const WorkSize size{static_cast<int64_t>(random_() >> 1), Below(1000)};
    if (!OneIn(4)) spec.comm = &comm;
    if (OneIn(2)) spec.work_size = &size;
    const std::string cold = Cold();
    spec.cold = cold;
    const uint32_t node = builder->AddNode(spec);
    for (int edges = node == 0 ? 0 : Below(5); edges > 0; --edges) {
      builder->AddEdge(node, static_cast<uint32_t>(Below(static_cast<int>(node))),
                       static_cast<EdgeKind>(Below(kEdgeKindsCount)));
    }
  }

  std::mt19937_64 random_;
  uint64_t next_id_ = 0;
};

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_ROUND_TRIP_RANDOM_TRACE_H_
