#include "server/analysis/shares_to_proto.h"

#include "chakrad/v1/analysis.pb.h"

namespace chakrad {

void ToProto(const TimeShares& shares, v1::TimeShares* proto) {
  proto->set_compute_ratio(shares.compute_ratio);
  proto->set_comm_ratio(shares.comm_ratio);
  proto->set_exposed_comm_ratio(shares.exposed_comm_ratio);
  proto->set_exposed_memory_ratio(shares.exposed_memory_ratio);
  proto->set_idle_ratio(shares.idle_ratio);
  proto->set_overlap_ratio(shares.overlap_ratio);
  proto->set_worst_exposed_comm_ratio(shares.worst_exposed_comm_ratio);
  proto->set_worst_rank(shares.worst_rank);
}

}  // namespace chakrad
