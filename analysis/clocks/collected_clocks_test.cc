// Recorded runs of which every rank's times count from when its own profiler started: their
// clocks disagree by up to some milliseconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/clocks/clock_offsets.h"
#include "analysis/testing/collected.h"
#include "common/status_matchers.h"

namespace chakrad {
namespace {

struct Case {
  const char* name;
  bool should_align;
  int64_t impossible, impossible_aligned;
  std::vector<int64_t> offsets_us;  // Rounded towards zero.
};

class CollectedClocksTest : public ::testing::TestWithParam<Case> {};

TEST_P(CollectedClocksTest, OffsetsMakePossibleWhatWasNot) {
  ASSERT_OK_AND_ASSIGN(const Trace trace, CollectedTrace(GetParam().name));
  ASSERT_OK_AND_ASSIGN(const JobTimeline job, MeasuredTimeline(trace, {}));
  const ClockEstimate estimate = EstimateClocks(job, MatchComm(job));
  EXPECT_EQ(estimate.should_align, GetParam().should_align);
  EXPECT_EQ(estimate.impossible_count, GetParam().impossible);
  EXPECT_EQ(estimate.impossible_aligned_count, GetParam().impossible_aligned);
  std::vector<int64_t> offsets_us;
  for (const ClockOffset& offset : estimate.offsets) {
    offsets_us.push_back(offset.offset_ps / 1'000'000);
  }
  EXPECT_EQ(offsets_us, GetParam().offsets_us);
}

// Of DLRM the six pairs of ranks, each on its own, say the same to within 20 us: rank 0 is
// 2,177, 2,184 and 179 us ahead of the others, rank 1 -2,013 us of rank 3, and so on. Both
// ranks of the MLP began together, as far as ends that differ by 0.6 ms can say.
INSTANTIATE_TEST_SUITE_P(
    Workloads, CollectedClocksTest,
    ::testing::Values(Case{"dlrm/w4", true, 1, 0, {-2176, 0, 7, -1998}},
                      Case{"mlp_dp/w2", false, 0, 0, {0, -74}},
                      Case{"transformer_dp_tp/w4", true, 24, 3, {-1986, 0, 1533, -1977}},
                      Case{"transformer_pp/w2", true, 8, 0, {0, -1042}}),
    [](const auto& info) {
      std::string name = info.param.name;
      for (char& c : name) c = c == '/' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace chakrad
