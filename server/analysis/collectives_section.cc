#include "analysis/collectives/collective_stats.h"
#include "analysis/collectives/match_comm.h"
#include "chakrad/v1/analysis.pb.h"
#include "server/analysis/notices.h"
#include "server/analysis/sections.h"

namespace chakrad {

void FillCollectives(const SectionInput& input, v1::TimelineAnalysis* answer) {
  const MatchedComm matches = MatchComm(*input.whole);
  AddNotices(matches.notices, answer);
  for (const CollectiveStats& stats : ComputeCollectiveStats(*input.job, matches)) {
    v1::CollectiveStats* row = answer->add_collectives();
    row->set_type(std::string(stats.type));
    row->set_size_bucket(std::string(stats.size_bucket));
    row->set_count(stats.count);
    row->set_instances_count(stats.instances_count);
    row->set_bytes(stats.bytes);
    row->set_total_ps(stats.total_ps);
    row->set_exposed_ps(stats.exposed_ps);
    row->set_min_ps(stats.min_ps);
    row->set_median_ps(stats.median_ps);
    row->set_max_ps(stats.max_ps);
    row->set_algorithm_bandwidth_bytes_per_second(stats.algorithm_bandwidth);
    row->set_bus_bandwidth_bytes_per_second(stats.bus_bandwidth);
  }
}

}  // namespace chakrad
