#include "trace/import/launches.h"

#include "chakra/et_def.pb.h"
#include "trace/model/rank_trace.h"

namespace chakrad {
namespace {

int64_t LaunchNs(const RankTrace& rank, uint32_t node, ChakraProtoMsg::Node* cold) {
  const absl::string_view bytes = rank.ColdOf(node);
  if (!cold->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return kUnknownNs;
  for (const auto& attribute : cold->attr()) {
    if (attribute.name() == "launch_ns") return attribute.int64_val();
  }
  return kUnknownNs;
}

}  // namespace

LaunchCount CountLaunches(const RankTrace& rank) {
  LaunchCount count;
  ChakraProtoMsg::Node cold;
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (rank.queues[rank.queue[node]].kind != Queue::Kind::kDeviceStream) continue;
    if (rank.start_ns[node] == kUnknownNs) continue;
    ++count.device_ops_count;
    for (uint32_t j = rank.dep_begin[node]; j < rank.dep_begin[node + 1]; ++j) {
      if (rank.dep_kind[j] != EdgeKind::kLaunch) continue;
      ++count.launched_count;
      const uint32_t host = rank.dep_node[j];
      const int64_t launch_ns = LaunchNs(rank, node, &cold), start_ns = rank.start_ns[host];
      if (launch_ns == kUnknownNs || start_ns == kUnknownNs || rank.dur_ns[host] < 0) continue;
      if (start_ns <= launch_ns && launch_ns <= start_ns + rank.dur_ns[host]) {
        ++count.contained_count;
      }
    }
  }
  return count;
}

}  // namespace chakrad
