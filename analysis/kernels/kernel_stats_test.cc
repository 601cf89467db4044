#include "analysis/kernels/kernel_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "analysis/timeline/testing/rank_sketch.h"

namespace chakrad {
namespace {

constexpr int64_t kNs = 1000;

KernelBreakdown BreakDown(const Trace& trace) {
  absl::StatusOr<JobTimeline> job = MeasuredTimeline(trace, {});
  EXPECT_TRUE(job.ok()) << job.status();
  return BreakDownKernels(*job);
}

// gemm takes 10, 20 and (on the other rank) 30: total 60, mean 20, variance (100 + 0 + 100) / 3.
TEST(KernelStatsTest, OperationsOfANameAreCountedOverAllRanks) {
  RankSketch a, b;
  a.Kernel("gemm", 0, 10);
  a.Kernel("gemm", 5, 25, 8);  // Beside the other: sums count both.
  a.Host("aten::mm", 0, 100);
  a.Comm(25, 30);
  b.Kernel("relu", 0, 60);
  b.Kernel("gemm", 60, 90);
  b.Copy(90, 97);
  const KernelBreakdown got = BreakDown(SketchTrace({a.Build(0), b.Build(1)}));
  ASSERT_EQ(got.kernels.size(), 4u);
  EXPECT_EQ(got.kernels[0].name, "gemm");  // Of equal totals by name.
  EXPECT_EQ(got.kernels[0].count, 3);
  EXPECT_EQ(got.kernels[0].total_ps, 60 * kNs);
  EXPECT_EQ(got.kernels[0].min_ps, 10 * kNs);
  EXPECT_EQ(got.kernels[0].max_ps, 30 * kNs);
  EXPECT_DOUBLE_EQ(got.kernels[0].mean_ps, 20 * kNs);
  EXPECT_NEAR(got.kernels[0].stddev_ps, std::sqrt(200.0 / 3) * kNs, 1e-6);
  EXPECT_EQ(got.kernels[1].name, "relu");
  EXPECT_EQ(got.kernels[1].stddev_ps, 0);
  EXPECT_EQ(got.kernels[2].name, "memcpy");
  EXPECT_EQ(got.kernels[2].kind, IntervalKind::kMemory);
  EXPECT_EQ(got.kernels[3].kind, IntervalKind::kComm);
  EXPECT_EQ(got.compute_ps, 120 * kNs);
  EXPECT_EQ(got.comm_ps, 5 * kNs);
  EXPECT_EQ(got.memory_ps, 7 * kNs);
  EXPECT_EQ(got.total_ps(), 132 * kNs);
  EXPECT_EQ(got.count, 6);
}

TEST(KernelStatsTest, AnEmptyTimelineHasNoneAndLargeTimesStop) {
  EXPECT_EQ(BreakDownKernels(JobTimeline()).kernels.size(), 0u);
  RankSketch sketch;
  for (int stream = 0; stream < 3; ++stream) {
    sketch.Kernel("k", 0, std::numeric_limits<int64_t>::max(), stream);
  }
  const KernelBreakdown got = BreakDown(SketchTrace({sketch.Build()}));
  EXPECT_EQ(got.total_ps(), std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(std::isfinite(got.kernels[0].stddev_ps));
}

TEST(KernelStatsTest, OfRandomTimesMomentsEqualTheirDefinitions) {
  std::mt19937_64 random(3);
  std::map<std::string, std::vector<double>> times;
  std::vector<RankTrace> ranks;
  for (int32_t rank = 0; rank < 3; ++rank) {
    RankSketch sketch;
    for (int i = 0; i < 200; ++i) {
      const std::string name = absl::StrCat("k", random() % 5);
      const auto dur_ns = static_cast<int64_t>(1'000'000'000 + random() % 100);
      sketch.Kernel(name, i, i + dur_ns);
      times[name].push_back(static_cast<double>(dur_ns * kNs));
    }
    ranks.push_back(sketch.Build(rank));
  }
  const KernelBreakdown got = BreakDown(SketchTrace(std::move(ranks)));
  ASSERT_EQ(got.kernels.size(), times.size());
  for (const KernelStats& kernel : got.kernels) {
    const std::vector<double>& all = times[kernel.name];
    double sum = 0, squares = 0;
    for (const double t : all) sum += t;
    const double mean = sum / static_cast<double>(all.size());
    for (const double t : all) squares += (t - mean) * (t - mean);
    EXPECT_EQ(static_cast<size_t>(kernel.count), all.size());
    EXPECT_NEAR(kernel.mean_ps, mean, 1);
    EXPECT_NEAR(kernel.stddev_ps, std::sqrt(squares / static_cast<double>(all.size())), 1);
  }
}

}  // namespace
}  // namespace chakrad
