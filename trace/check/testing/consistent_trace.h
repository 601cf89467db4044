// Small traces for tests: ranks that run programs of steps in lock step, so that what is
// consistent in the programs is consistent in the trace.
#ifndef CHAKRAD_TRACE_CHECK_TESTING_CONSISTENT_TRACE_H_
#define CHAKRAD_TRACE_CHECK_TESTING_CONSISTENT_TRACE_H_

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "trace/model/rank_trace_builder.h"
#include "trace/model/trace.h"

namespace chakrad {

// A host call and the device operation that it launches.
struct TestStep {
  NodeType type = NodeType::kComp;
  CommOp comm;       // Of communication.
  std::string cold;  // Of the device operation.
  std::string name = "op";
};
using TestProgram = std::vector<TestStep>;

struct TestJob {
  std::vector<ProcessGroup> groups;   // Entry 0 is the world.
  std::vector<TestProgram> programs;  // By rank.
};

inline constexpr int64_t kStepNs = 10000;
inline constexpr Queue kTestThread{Queue::Kind::kHostThread, -1, 1};
inline constexpr Queue kComputeStream{Queue::Kind::kDeviceStream, 0, 7};
inline constexpr Queue kCommStream{Queue::Kind::kDeviceStream, 0, 20};

inline TestStep Collective(CollectiveType type, int64_t bytes, uint32_t group) {
  TestStep step{NodeType::kCommColl, {}, "", "nccl:coll"};
  step.comm.collective = type;
  step.comm.bytes = bytes;
  step.comm.group = group;
  return step;
}

inline TestStep Message(NodeType type, int32_t peer, int64_t bytes, int64_t tag) {
  TestStep step{type, {}, "", type == NodeType::kCommSend ? "nccl:send" : "nccl:recv"};
  step.comm.bytes = bytes;
  step.comm.group = kWorldGroup;
  step.comm.peer = peer;
  step.comm.tag = tag;
  return step;
}

// Step k: the host call (id 2k + 1) at [k, k + 0.2) steps, its device operation (id 2k + 2)
// at [k + 0.3, k + 0.8). Edges: host calls in order, launches, order on each stream.
inline void AddProgram(const TestProgram& program, int32_t rank, RankTraceBuilder* builder) {
  builder->header().rank = rank;
  builder->header().base_unix_ns = 1'000'000'000;
  uint32_t last_host = kNone, last_of_stream[2] = {kNone, kNone};
  for (size_t k = 0; k < program.size(); ++k) {
    const TestStep& step = program[k];
    NodeSpec host;
    host.id = 2 * k + 1;
    host.type = NodeType::kComp;
    host.flags = RankTrace::kHostOp;
    host.name = "launch";
    host.queue = kTestThread;
    host.start_ns = static_cast<int64_t>(k) * kStepNs;
    host.dur_ns = host.work_ns = 2000;
    const uint32_t host_node = builder->AddNode(host);
    if (last_host != kNone) builder->AddEdge(host_node, last_host, EdgeKind::kThreadOrder);
    last_host = host_node;
    const bool comm = IsComm(step.type);
    NodeSpec device;
    device.id = 2 * k + 2;
    device.type = step.type;
    device.name = step.name;
    device.queue = comm ? kCommStream : kComputeStream;
    device.start_ns = host.start_ns + 3000;
    device.dur_ns = device.work_ns = 5000;
    device.cold = step.cold;
    if (comm) device.comm = &step.comm;
    const uint32_t device_node = builder->AddNode(device);
    builder->AddEdge(device_node, host_node, EdgeKind::kLaunch);
    uint32_t& before = last_of_stream[comm ? 1 : 0];
    if (before != kNone) builder->AddEdge(device_node, before, EdgeKind::kStreamOrder);
    before = device_node;
  }
}

inline RankTrace BuildProgram(const TestProgram& program, int32_t rank) {
  RankTraceBuilder builder;
  AddProgram(program, rank, &builder);
  return builder.Build(nullptr).value();
}

inline Trace BuildJob(const TestJob& job) {
  Trace trace;
  trace.world_size = static_cast<int32_t>(job.programs.size());
  trace.groups = job.groups;
  for (size_t rank = 0; rank < job.programs.size(); ++rank) {
    trace.ranks.push_back(BuildProgram(job.programs[rank], static_cast<int32_t>(rank)));
  }
  return trace;
}

// A world of `world_size` (even) ranks with groups of two neighbours ("tp") and of every
// second rank ("dp"), whose `steps_count` steps are compute, copies, collectives of all kinds
// in all groups and messages between neighbours, chosen by `seed`.
inline TestJob ConsistentJob(uint32_t seed, int32_t world_size, int32_t steps_count) {
  TestJob job;
  job.groups.resize(3 + static_cast<size_t>(world_size) / 2);
  job.groups[1].name = "dp0";
  job.groups[2].name = "dp1";
  for (int32_t rank = 0; rank < world_size; ++rank) {
    job.groups[0].ranks.push_back(rank);
    job.groups[1 + static_cast<size_t>(rank) % 2].ranks.push_back(rank);
    job.groups[3 + static_cast<size_t>(rank) / 2].ranks.push_back(rank);
    job.groups[3 + static_cast<size_t>(rank) / 2].name = "tp" + std::to_string(rank / 2);
  }
  job.programs.resize(static_cast<size_t>(world_size));
  std::mt19937 random(seed);
  for (int32_t k = 0; k < steps_count; ++k) {
    const uint32_t kind = random() % 6, group_kind = random() % 3, member = random() % 2;
    const auto type = static_cast<CollectiveType>(random() % kCollectiveTypesCount);
    const int64_t bytes = 4 * (1 + static_cast<int64_t>(random() % 1000)), tag = random() % 3;
    for (int32_t rank = 0; rank < world_size; ++rank) {
      const auto parity = static_cast<uint32_t>(rank % 2);
      TestStep step;
      if (kind == 0) {
        step.type = NodeType::kMemLoad;
      } else if (kind >= 4) {
        const uint32_t group = group_kind == 0   ? kWorldGroup
                               : group_kind == 1 ? 1 + parity
                                                 : 3 + static_cast<uint32_t>(rank) / 2;
        step = Collective(type, bytes, group);
        const bool rooted = type == CollectiveType::kBroadcast || type == CollectiveType::kReduce;
        if (rooted) step.comm.root = job.groups[group].ranks[member];
      } else if (kind == 3) {
        step = Message(parity == member ? NodeType::kCommSend : NodeType::kCommRecv, rank ^ 1,
                       bytes, tag);
      }
      job.programs[static_cast<size_t>(rank)].push_back(step);
    }
  }
  return job;
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CHECK_TESTING_CONSISTENT_TRACE_H_
