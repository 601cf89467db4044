#include "server/series/make_record.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/clocks/clock_offsets.h"
#include "analysis/metrics/trace_metrics.h"
#include "analysis/timeline/timeline.h"
#include "chakrad/v1/job.pb.h"
#include "common/saturating.h"
#include "common/status.h"
#include "server/jobs/simulation.h"
#include "server/limits.h"
#include "server/series/sample_codec.h"

namespace chakrad {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kEarliestUnixNs = 1'262'304'000'000'000'000;  // 2010.
// As much as receivers of remote write take.
constexpr int64_t kAheadNsMax = int64_t{600} * 1'000'000'000;

bool HasPlausibleEnd(const TraceCard& card) {
  const int64_t end_ns = card.end_unix_ns;
  return end_ns >= kEarliestUnixNs && end_ns <= SaturatingAdd(card.create_unix_ns, kAheadNsMax);
}

int64_t TimeOf(const TraceCard& card) {
  return (HasPlausibleEnd(card) ? card.end_unix_ns : card.create_unix_ns) / kNsPerMs;
}

SeriesKey KeyOf(const std::map<std::string, std::string>& labels, const std::vector<int32_t>& ranks,
                int32_t world_size) {
  std::vector<std::string> values = JobLabelValues(labels, ranks, world_size);
  return {std::move(values[0]), std::move(values[1]), std::move(values[2]), std::move(values[3])};
}

void Finish(MadeRecord* made) {
  made->dropped_samples = LimitSamples(&made->samples);
  made->record.samples = EncodeSamples(made->samples);
}

const std::string& LabelOf(const std::map<std::string, std::string>& labels, const char* name) {
  static const auto* const none = new std::string();
  const auto it = labels.find(name);
  return it == labels.end() ? *none : it->second;
}

// Of the newest recording of the same job with so many ranks. Traces that name no job are not
// one another's.
std::optional<int64_t> MeasuredPs(const TraceInfo& info, int64_t ranks_count, TraceStore* traces) {
  if (LabelOf(info.labels, "job").empty()) return std::nullopt;
  const TraceCard* newest = nullptr;
  const auto cards = traces->Cards();
  for (const auto& card : *cards) {
    if (card->world_size != ranks_count || card->span_ns <= 0) continue;
    bool same = true;
    for (const char* label : {"cluster", "job", "model"}) {
      same = same && LabelOf(card->labels, label) == LabelOf(info.labels, label);
    }
    if (same && (newest == nullptr || TimeOf(*card) > TimeOf(*newest))) newest = card.get();
  }
  if (newest == nullptr) return std::nullopt;
  return newest->span_ns * kPsPerNs;
}

absl::StatusOr<MadeRecord> MakeOfStored(const TraceCard& card, TraceStore* traces) {
  ASSIGN_OR_RETURN(const TraceInfo info, traces->GetInfo(card.id));
  ASSIGN_OR_RETURN(const Trace trace, traces->Load(card.id, TraceLoadOptions()));
  ASSIGN_OR_RETURN(JobTimeline job, MeasuredTimeline(trace, {}));
  const ClockEstimate clocks = EstimateAndAlign(/*align=*/true, &job);
  std::vector<int32_t> ranks;
  for (const RankTrace& rank : trace.ranks) ranks.push_back(rank.rank);
  MadeRecord made;
  made.record.source = absl::StrCat("traces/", card.id);
  made.record.time_unix_ms = TimeOf(card);
  made.record.added_unix_ms = card.create_unix_ns / kNsPerMs;
  made.record.key = KeyOf(trace.labels, ranks, trace.world_size);
  made.samples =
      TraceMetrics(job, LargestOffsetPs(clocks, clocks.should_align), info.check.quality);
  // "When the recording ended" is not what such a clock says.
  if (!HasPlausibleEnd(card)) {
    std::erase_if(made.samples,
                  [](const MetricSample& s) { return s.id == MetricId::kEndTimestampSeconds; });
  }
  Finish(&made);
  return made;
}

}  // namespace

absl::StatusOr<MadeRecord> MakeTraceRecord(const TraceCard& card, TraceStore* traces) {
  if (card.damaged) return absl::DataLossError("its manifest cannot be read");
  if (card.span_ns <= 0) return absl::FailedPreconditionError("no rank has times");
  if (card.nodes_count > kMaxSeriesNodes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(card.nodes_count, " nodes are more than ", kMaxSeriesNodes));
  }
  absl::StatusOr<MadeRecord> made = MakeOfStored(card, traces);
  // A delete does not wait for us, and takes chunks away.
  if (absl::IsDataLoss(made.status()) && absl::IsNotFound(traces->GetInfo(card.id).status())) {
    return absl::NotFoundError("it was deleted meanwhile");
  }
  return made;
}

absl::StatusOr<MadeRecord> MakeJobRecord(const JobRecord& job, TraceStore* traces) {
  ASSIGN_OR_RETURN(const SimulationSpec spec, DecodeSpec(job.spec));
  v1::SimulationResult result;
  if (!result.ParseFromString(job.result)) {
    return absl::DataLossError("the stored result does not parse");
  }
  ASSIGN_OR_RETURN(const TraceInfo info, traces->GetInfo(job.trace_id));
  MadeRecord made;
  made.record.source = absl::StrCat("jobs/", job.id);
  made.record.time_unix_ms = made.record.added_unix_ms = job.end_unix_ns / kNsPerMs;
  std::vector<int32_t> traced;
  int64_t longest_ns = 0;
  for (const RankSummary& rank : info.ranks) {
    traced.push_back(rank.rank);
    longest_ns = std::max(longest_ns, rank.span_ns);
  }
  std::sort(traced.begin(), traced.end());
  made.record.key = KeyOf(info.labels, traced, info.world_size);
  made.record.variant = MetricLabelValue(VariantOf(spec));
  SimulatedTimes times;
  times.end_ps = result.end_ps();
  int64_t ranks_count = 0;
  for (const v1::RankResult& rank : result.ranks()) {
    const int64_t same = std::max(rank.ranks_count(), 1);
    times.exposed_comm_ps +=
        static_cast<double>(rank.exposed_comm_ps()) * static_cast<double>(same);
    ranks_count += same;
  }
  if (ranks_count > 0) times.exposed_comm_ps /= static_cast<double>(ranks_count);
  times.measured_ps = spec.projection.has_value() ? MeasuredPs(info, result.ranks_count(), traces)
                                                  : std::optional<int64_t>(longest_ns * kPsPerNs);
  made.samples = SimulationMetrics(times, made.record.variant);
  Finish(&made);
  return made;
}

}  // namespace chakrad
