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
  spec.variant = "400G";
  spec.projection = ProjectionSpec{"dp", std::nullopt, 0, 2, 0};
  spec.custom_algorithms = {{"t-2", CollectiveType::kAllReduce, {}, 9}, {"t-3", {}, {4, 5}, 0}};
  ASSERT_OK_AND_ASSIGN(const SimulationSpec read, DecodeSpec(EncodeSpec(spec)));
  EXPECT_EQ(read.trace_id, "t-1");
  EXPECT_EQ(read.variant, "400G");
  EXPECT_EQ(read.system_yaml, "a");
  EXPECT_EQ(read.network_yaml, "b");
  EXPECT_EQ(read.system_json, "c");
  EXPECT_EQ(read.remote_memory_json, "d");
  EXPECT_EQ(read.back_end, NetworkBackEnd::kLink);
  EXPECT_TRUE(read.replicate_missing_ranks && read.keep_timeline && read.unfolded &&
              read.critical_path);
  EXPECT_EQ(read.max_simulated_ps, 5);
  EXPECT_EQ(read.max_events, 6);
  ASSERT_TRUE(read.projection.has_value());
  EXPECT_EQ(read.projection->group, "dp");
  EXPECT_EQ(read.projection->multiply_by, 2);
  ASSERT_EQ(read.custom_algorithms.size(), 2u);
  EXPECT_EQ(read.custom_algorithms[0].trace_id, "t-2");
  EXPECT_EQ(read.custom_algorithms[0].type, CollectiveType::kAllReduce);
  EXPECT_EQ(read.custom_algorithms[0].total_bytes, 9);
  EXPECT_FALSE(read.custom_algorithms[1].type.has_value());
  EXPECT_EQ(read.custom_algorithms[1].node_ids, (std::vector<uint64_t>{4, 5}));
  spec = {};
  spec.trace_id = "t-1";
  ASSERT_OK_AND_ASSIGN(const SimulationSpec plain, DecodeSpec(EncodeSpec(spec)));
  EXPECT_FALSE(plain.back_end.has_value() || plain.projection.has_value());
}

// What the first version stored: fields 1 to 5.
TEST(SimulationSpecTest, WithoutAVariantTheSpecSaysWhatItIs) {
  SimulationSpec spec;
  EXPECT_EQ(VariantOf(spec), "unnamed");
  spec.projection = ProjectionSpec{};
  EXPECT_EQ(VariantOf(spec), "projected");
  spec.variant = "v";
  EXPECT_EQ(VariantOf(spec), "v");
}

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

TEST(SimulationSpecTest, ProjectionsAndAlgorithmsThatAreNoneAreNamed) {
  const auto fault = [](const SimulationSpec& spec) {
    SimulationSpec whole = spec;
    whole.system_yaml = kSystem;
    return std::string(SystemOf(whole).status().message());
  };
  SimulationSpec spec;
  spec.projection = ProjectionSpec{"dp", std::nullopt, 0, 0, 0};
  EXPECT_EQ(fault(spec),
            "projection: one of new_size, multiply_by and divide_by must be given, not 0");
  spec.projection = ProjectionSpec{"dp", std::nullopt, 4, 2, 0};
  EXPECT_EQ(fault(spec),
            "projection: one of new_size, multiply_by and divide_by must be given, not 2");
  spec.projection = ProjectionSpec{"dp", std::nullopt, 0, -2, 0};
  EXPECT_EQ(fault(spec), "projection: -2 is not in [0, 1048576]");
  spec.projection.reset();
  spec.custom_algorithms = {{"t-2", {}, {}, 0}};
  EXPECT_EQ(fault(spec), "custom_algorithms: traces/t-2 needs either a type or node_ids");
  spec.custom_algorithms = {{"t-2", CollectiveType::kAllReduce, {1}, 0}};
  EXPECT_EQ(fault(spec), "custom_algorithms: traces/t-2 needs either a type or node_ids");
  spec.custom_algorithms = {{"t-2", {}, {1}, 0}, {"t-3", {}, {1}, 0}};
  EXPECT_EQ(fault(spec), "custom_algorithms: node 1 stands twice");
  spec.custom_algorithms = {{"t-2", {}, {1}, -1}};
  EXPECT_EQ(fault(spec), "custom_algorithms.total_bytes: -1 is not in [0, 4398046511104]");
  spec.custom_algorithms.assign(65, {"t-2", {}, {1}, 0});
  EXPECT_EQ(fault(spec), "custom_algorithms: 65 are over the limit of 64");
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
