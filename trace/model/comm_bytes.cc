#include "trace/model/comm_bytes.h"

namespace chakrad {

double AlgorithmBytes(CollectiveType type, int64_t bytes, int64_t ranks_count) {
  if (type == CollectiveType::kBarrier || bytes <= 0) return 0;
  const double data = static_cast<double>(bytes);
  const bool per_rank = type == CollectiveType::kAllGather || type == CollectiveType::kGather;
  return per_rank ? data * static_cast<double>(ranks_count) : data;
}

double BusBytes(CollectiveType type, int64_t bytes, int64_t ranks_count) {
  const double n = static_cast<double>(ranks_count);
  const double share = (n - 1) / n;
  const double data = AlgorithmBytes(type, bytes, ranks_count);
  switch (type) {
    case CollectiveType::kAllReduce:
      return data * 2 * share;
    case CollectiveType::kAllGather:
    case CollectiveType::kReduceScatter:
    case CollectiveType::kReduceScatterBlock:
    case CollectiveType::kAllToAll:
    case CollectiveType::kGather:
    case CollectiveType::kScatter:
      return data * share;
    case CollectiveType::kReduce:
    case CollectiveType::kBroadcast:
    case CollectiveType::kBarrier:
      break;
  }
  return ranks_count > 1 ? data : 0;
}

}  // namespace chakrad
