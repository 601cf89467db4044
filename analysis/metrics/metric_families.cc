#include "analysis/metrics/metric_families.h"

#include "common/check.h"

namespace chakrad {
namespace {

using Labels = std::vector<absl::string_view>;

// Where the time of a rank went.
std::vector<MetricFamily> TimeFamilies() {
  return {
      {MetricId::kSpanSeconds,
       "chakrad_trace_span_seconds",
       "Recorded time of a rank, mean over ranks.",
       {}},
      {MetricId::kStepSeconds,
       "chakrad_trace_step_seconds",
       "Time of a training step, mean over steps and ranks.",
       {}},
      {MetricId::kSteps, "chakrad_trace_steps", "Training steps found in the trace.", {}},
      {MetricId::kComputeSeconds,
       "chakrad_trace_compute_seconds",
       "Time in which a rank computes, mean over ranks.",
       {}},
      {MetricId::kCommSeconds,
       "chakrad_trace_comm_seconds",
       "Time in which a rank communicates, hidden or not, mean over ranks.",
       {}},
      {MetricId::kExposedCommSeconds,
       "chakrad_trace_exposed_comm_seconds",
       "Time in which a rank communicates and computes nothing, mean over ranks.",
       {}},
      {MetricId::kExposedCommRatio,
       "chakrad_trace_exposed_comm_ratio",
       "Exposed communication as a share of the rank's recorded time, mean over ranks.",
       {}},
      {MetricId::kWorstExposedCommRatio,
       "chakrad_trace_worst_rank_exposed_comm_ratio",
       "Exposed communication as a share of recorded time, of the rank where it is highest.",
       {}},
      {MetricId::kExposedMemorySeconds,
       "chakrad_trace_exposed_memory_seconds",
       "Time in which a rank copies and neither computes nor communicates, mean over ranks.",
       {}},
      {MetricId::kIdleSeconds,
       "chakrad_trace_idle_seconds",
       "Time in which a rank does none of these, by cause, mean over ranks.",
       {"cause"}},
      {MetricId::kIdleRatio,
       "chakrad_trace_idle_ratio",
       "Idle time of all causes as a share of recorded time, mean over ranks.",
       {}},
      {MetricId::kOverlapRatio,
       "chakrad_trace_overlap_ratio",
       "Share of communication that compute hides, mean over ranks.",
       {}},
  };
}

// What was communicated.
std::vector<MetricFamily> CommFamilies() {
  const Labels collective{"type", "size"};
  return {
      {MetricId::kParallelismCommSeconds,
       "chakrad_trace_parallelism_comm_seconds",
       "Communication by guessed kind of parallelism, mean over ranks.",
       {"parallelism"}},
      {MetricId::kParallelismExposedCommSeconds,
       "chakrad_trace_parallelism_exposed_comm_seconds",
       "Exposed communication by guessed kind of parallelism, mean over ranks.",
       {"parallelism"}},
      {MetricId::kCollectives, "chakrad_trace_collectives",
       "Communication operations, all traced ranks together, by type and size.", collective},
      {MetricId::kCollectiveBytes, "chakrad_trace_collective_bytes",
       "Bytes of these operations, as the trace defines their sizes.", collective},
      {MetricId::kCollectiveSeconds, "chakrad_trace_collective_seconds",
       "Sum of the times of these operations.", collective},
      {MetricId::kCollectiveBusBandwidth, "chakrad_trace_collective_bus_bandwidth_bytes_per_second",
       "Bus bandwidth of these operations: all bytes over all time.", collective},
  };
}

// How ranks, clocks and the recording itself behaved.
std::vector<MetricFamily> HealthFamilies() {
  return {
      {MetricId::kStragglerWaitSeconds,
       "chakrad_trace_straggler_wait_seconds",
       "Time in collectives before the last rank joins, mean over ranks.",
       {}},
      {MetricId::kStragglerSkewSeconds,
       "chakrad_trace_straggler_skew_seconds",
       "From the first to the last join of a collective, mean over collectives.",
       {}},
      {MetricId::kClockOffsetSeconds,
       "chakrad_trace_clock_offset_seconds",
       "Largest correction of a rank's clock that aligning collectives needed.",
       {}},
      {MetricId::kQualityRatio,
       "chakrad_trace_quality_ratio",
       "Quality score of the conformance suite.",
       {}},
      {MetricId::kPeriodicityRatio,
       "chakrad_trace_periodicity_ratio",
       "How alike the steps are: 1 when all take the same time.",
       {}},
      {MetricId::kTracedRanks, "chakrad_trace_ranks", "Ranks that were traced.", {}},
      {MetricId::kWorldRanks, "chakrad_trace_world_ranks", "Ranks of the job.", {}},
      {MetricId::kEndTimestampSeconds,
       "chakrad_trace_end_timestamp_seconds",
       "When the recording ended, in seconds since 1970.",
       {}},
  };
}

std::vector<MetricFamily> SimulationFamilies() {
  const Labels simulation{"variant"};
  return {
      {MetricId::kSimulatedSpanSeconds, "chakrad_simulation_span_seconds",
       "Simulated time of the job, by variant.", simulation},
      {MetricId::kSimulatedExposedCommSeconds, "chakrad_simulation_exposed_comm_seconds",
       "Exposed communication of the simulation, mean over ranks.", simulation},
      {MetricId::kSimulatedExposedCommRatio, "chakrad_simulation_exposed_comm_ratio",
       "The same as a share of simulated time.", simulation},
      {MetricId::kSimulationMeasuredSeconds, "chakrad_simulation_measured_seconds",
       "Recorded time of the trace that the simulation is compared with: the newest of the same "
       "job and number of ranks.",
       simulation},
      {MetricId::kSimulationErrorRatio, "chakrad_simulation_error_ratio",
       "Simulated over measured time, less 1.", simulation}};
}

std::vector<MetricFamily> AllFamilies() {
  std::vector<MetricFamily> families;
  for (const auto& part :
       {TimeFamilies(), CommFamilies(), HealthFamilies(), SimulationFamilies()}) {
    families.insert(families.end(), part.begin(), part.end());
  }
  for (size_t i = 0; i < families.size(); ++i) CHECK(static_cast<size_t>(families[i].id) == i);
  CHECK(families.size() == kMetricFamiliesCount);
  return families;
}

}  // namespace

const std::vector<MetricFamily>& MetricFamilies() {
  static const auto* const families = new std::vector<MetricFamily>(AllFamilies());
  return *families;
}

const MetricFamily& FamilyOf(MetricId id) { return MetricFamilies()[static_cast<size_t>(id)]; }

}  // namespace chakrad
