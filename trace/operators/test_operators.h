// Rank traces with operators and their arguments, for tests.
#ifndef CHAKRAD_TRACE_OPERATORS_TEST_OPERATORS_H_
#define CHAKRAD_TRACE_OPERATORS_TEST_OPERATORS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "trace/model/rank_trace_builder.h"
#include "trace/readers/cold_writer.h"

namespace chakrad {

// Arguments of an operator as PyTorch's recorder writes them: JSON texts.
struct OpArguments {
  std::string in_values, in_shapes, in_types;
  std::string out_values, out_shapes, out_types;
};

inline std::string ColdOf(const OpArguments& arguments) {
  std::string cold;
  ColdWriter writer(&cold);
  writer.Inputs(arguments.in_values, arguments.in_shapes, arguments.in_types);
  writer.Outputs(arguments.out_values, arguments.out_shapes, arguments.out_types);
  writer.Int("rf_id", 1);
  return cold;
}

class OpMaker {
 public:
  uint32_t Add(const NodeSpec& spec) { return builder_.AddNode(spec); }
  // `node` is nested in `parent`.
  void Nest(uint32_t node, uint32_t parent) { builder_.AddEdge(node, parent, EdgeKind::kControl); }
  void Launch(uint32_t device_node, uint32_t host_node) {
    builder_.AddEdge(device_node, host_node, EdgeKind::kLaunch);
  }
  RankTrace Make() {
    absl::StatusOr<RankTrace> trace = builder_.Build(nullptr);
    EXPECT_TRUE(trace.ok()) << trace.status().ToString();
    return trace.ok() ? *std::move(trace) : RankTrace();
  }

 private:
  RankTraceBuilder builder_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_OPERATORS_TEST_OPERATORS_H_
