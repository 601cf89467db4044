// How far the clocks of ranks are apart, from what ranks did together, and a timeline
// with one clock. See docs/analysis.md#clocks.
#ifndef CHAKRAD_ANALYSIS_CLOCKS_CLOCK_OFFSETS_H_
#define CHAKRAD_ANALYSIS_CLOCKS_CLOCK_OFFSETS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/collectives/match_comm.h"
#include "analysis/timeline/timeline.h"

namespace chakrad {

// Below it differences of ends say nothing about clocks: ranks of one host, which share a
// clock, end their collectives that far apart.
inline constexpr int64_t kMinClockOffsetPs = 100'000'000;  // 100 us
// An offset must be so many times its spread, unless times are impossible without it.
inline constexpr int64_t kClockOffsetSpreads = 4;
// From so few differences no spread can be told.
inline constexpr int64_t kMinClockMatches = 4;
// Recorders count microseconds, and round.
inline constexpr int64_t kCausalityTolerancePs = 2'000'000;  // 2 us

struct ClockOffset {
  int32_t rank = 0;
  int64_t offset_ps = 0;      // To be added to the rank's times. 0 of a reference.
  int64_t spread_ps = 0;      // Median absolute deviation, summed along the way to the reference.
  int64_t matched_count = 0;  // Differences that say so; 0: the rank is tied to no other.
};

struct ClockEstimate {
  std::vector<ClockOffset> offsets;  // Of JobTimeline::ranks, in that order.
  bool should_align = false;
  // Collectives that a rank ended before another joined, and messages received before they
  // were sent: by the recorded times, and with the offsets added.
  int64_t impossible_count = 0;
  int64_t impossible_aligned_count = 0;
  std::vector<std::string> notices;
};

// `matches`: MatchComm(job). Collectives in which every member waits for every other end on
// all of them at about the same time (but all-to-alls of unequal sizes): of two ranks, the
// half-sample mode of the differences of ends. Messages in both directions bound an offset; of the
// possible ones the smallest is taken. Ranks are tied to the lowest one by the most certain such
// pairs (a spanning tree). A pair's offset counts when it is kClockOffsetSpreads times its spread,
// of kMinClockMatches or more, or makes possible what is not; else, up to kMinClockOffsetPs, the
// two are taken to have one clock; beyond it the pair says nothing, and a rank without another tie
// stays as recorded, with a notice. All pairs count where that leaves half as much impossible, and
// in the offsets of an estimate that should not be aligned.
//
// should_align: something is impossible by the recorded times and the offsets make most of it
// possible; or some offset is beyond both kMinClockOffsetPs and kClockOffsetSpreads times its
// spread, and makes nothing impossible. Never of a simulation. An offset is one number: clocks that
// drift while they are recorded show as spread. O(k log k) for k matched operations.
ClockEstimate EstimateClocks(const JobTimeline& job, const MatchedComm& matches);

// `job` with the offsets added; unchanged where all are 0. When times would be before the base,
// the base moves.
JobTimeline AlignClocks(JobTimeline job, const ClockEstimate& estimate);

// Both for whoever has a timeline and wants one clock: `*job` is aligned if it should be and
// `align` says so; what was found is among its notices.
ClockEstimate EstimateAndAlign(bool align, JobTimeline* job);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_CLOCKS_CLOCK_OFFSETS_H_
