#include "server/jobs/simulation.h"

#include <gtest/gtest.h>

#include "chakrad/v1/job.pb.h"
#include "common/status_matchers.h"

namespace chakrad {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kSystem[] =
    "network: {dimensions: [{topology: Ring, npus: 4, bandwidth: 1 GB/s, latency: 1 us}]}";

TEST(SimulationSpecTest, EveryFieldSurvivesItsStoredForm) {
  SimulationSpec spec;
  spec.trace_id = "t-1";
  spec.system_yaml = "a";
  spec.network_yaml = "b";
  spec.system_json = "c";
  spec.remote_memory_json = "d";
  spec.back_end = NetworkBackEnd::kLink;
  spec.replicate_missing_ranks = spec.keep_timeline = spec.unfolded = spec.critical_path = true;
  spec.max_simulated_ps = 5;
  spec.max_events = 6;
  ASSERT_OK_AND_ASSIGN(const SimulationSpec read, DecodeSpec(EncodeSpec(spec)));
  EXPECT_EQ(read.trace_id, "t-1");
  EXPECT_EQ(read.system_yaml, "a");
  EXPECT_EQ(read.network_yaml, "b");
  EXPECT_EQ(read.system_json, "c");
  EXPECT_EQ(read.remote_memory_json, "d");
  EXPECT_EQ(read.back_end, NetworkBackEnd::kLink);
  EXPECT_TRUE(read.replicate_missing_ranks && read.keep_timeline && read.unfolded &&
              read.critical_path);
  EXPECT_EQ(read.max_simulated_ps, 5);
  EXPECT_EQ(read.max_events, 6);
  ASSERT_OK_AND_ASSIGN(const SimulationSpec plain, DecodeSpec(EncodeSpec(SimulationSpec{})));
  EXPECT_FALSE(plain.back_end.has_value());
}

// What the first version stored: fields 1 to 5.
TEST(SimulationSpecTest, ASpecOfAnEarlierVersionReads) {
  const std::string stored("\x0a\x0atraces/t-1\x12\x01n\x1a\x01s\x20\x01\x28\x01", 22);
  ASSERT_OK_AND_ASSIGN(const SimulationSpec spec, DecodeSpec(stored));
  EXPECT_EQ(spec.trace_id, "t-1");
  EXPECT_EQ(spec.network_yaml, "n");
  EXPECT_EQ(spec.system_json, "s");
  EXPECT_TRUE(spec.replicate_missing_ranks && spec.keep_timeline);
  EXPECT_TRUE(OptionsOf(spec).fold);
  EXPECT_EQ(OptionsOf(spec).max_events, SimOptions().max_events);
}

TEST(SimulationSpecTest, TheBackEndOfTheSpecWins) {
  SimulationSpec spec;
  spec.system_yaml = kSystem;
  ASSERT_OK_AND_ASSIGN(const SystemDescription as_said, SystemOf(spec));
  EXPECT_EQ(as_said.back_end, NetworkBackEnd::kAnalytical);
  spec.back_end = NetworkBackEnd::kLink;
  ASSERT_OK_AND_ASSIGN(const SystemDescription link, SystemOf(spec));
  EXPECT_EQ(link.back_end, NetworkBackEnd::kLink);
}

TEST(SimulationSpecTest, LimitsOutOfRangeAreNamed) {
  SimulationSpec spec;
  spec.system_yaml = kSystem;
  spec.max_events = -1;
  EXPECT_THAT(SystemOf(spec), StatusIs(kInvalid, "max_events: -1 is not in [0, "));
  spec.max_events = 0;
  spec.max_simulated_ps = (int64_t{1} << 61) + 1;
  EXPECT_THAT(SystemOf(spec), StatusIs(kInvalid, "max_simulated_ps: 2305843009213693953 is not"));
  spec.max_simulated_ps = 0;
  spec.system_yaml = std::string(2 << 20, ' ');
  EXPECT_THAT(SystemOf(spec), StatusIs(kInvalid, "system_yaml: 2097152 bytes are over the limit"));
}

TEST(SimulationSpecTest, OptionsReachTheSimulator) {
  SimulationSpec spec;
  spec.unfolded = spec.critical_path = spec.replicate_missing_ranks = true;
  spec.max_simulated_ps = 7;
  spec.max_events = 8;
  const SimOptions options = OptionsOf(spec);
  EXPECT_FALSE(options.fold);
  EXPECT_TRUE(options.critical_path && options.replicate_missing_ranks);
  EXPECT_EQ(options.max_simulated_ps, 7);
  EXPECT_EQ(options.max_events, 8);
}

}  // namespace
}  // namespace chakrad
