#include "tests/bench/repeat_trace.h"

#include <gtest/gtest.h>

#include "common/status_matchers.h"

namespace chakrad {
namespace {

std::string Repeated(absl::string_view json, absl::string_view key, int64_t count,
                     uint64_t id_distance) {
  std::string text;
  EXPECT_THAT(RepeatTrace(json, key, count, id_distance,
                          [&](absl::string_view part) {
                            text.append(part.data(), part.size());
                            return absl::OkStatus();
                          }),
              IsOk());
  return text;
}

TEST(RepeatTraceTest, TimesMoveOnByTheSpanAndIdsByTheDistance) {
  // The span is [10, 15) us, so the second time starts 1,005 us later.
  const std::string json =
      R"({"traceEvents": [{"ts": 10.25, "dur": 5, "args": {"correlation": 3, "stream": 7}}], "x": 1})";
  EXPECT_EQ(Repeated(json, "traceEvents", 2, IdDistance(json)),
            R"({"traceEvents": [{"ts": 10.25, "dur": 5, "args": {"correlation": 3, "stream": 7}},
{"ts": 1015.25, "dur": 5, "args": {"correlation": 7, "stream": 7}}], "x": 1})");
}

TEST(RepeatTraceTest, RootsStayAndAreReferredToByAll) {
  const std::string json =
      R"({"nodes":[{"id":1,"name":"[pytorch|profiler|execution_trace|process]","ctrl_deps":1},)"
      R"({"id":5,"name":"a","ctrl_deps":1,"attrs":[{"name":"rf_id","type":"uint64","value":2},)"
      R"({"name":"tid","value":2}]}]})";
  EXPECT_EQ(IdDistance(json), 6);
  EXPECT_EQ(
      Repeated(json, "nodes", 2, 10),
      R"({"nodes":[{"id":1,"name":"[pytorch|profiler|execution_trace|process]","ctrl_deps":1},)"
      "\n"
      R"({"id":5,"name":"a","ctrl_deps":1,"attrs":[{"name":"rf_id","type":"uint64","value":2},)"
      R"({"name":"tid","value":2}]},)"
      "\n"
      R"({"id":15,"name":"a","ctrl_deps":1,"attrs":[{"name":"rf_id","type":"uint64","value":12},)"
      R"({"name":"tid","value":2}]}]})");
}

TEST(RepeatTraceTest, NoneAndTextInsideStringsStay) {
  const std::string json = R"([{"traceEvents": [{"id": 0, "t": "\"id\":4", "seq_id": -1}]}])";
  EXPECT_EQ(IdDistance(json), 1);
  EXPECT_EQ(Repeated(json, "traceEvents", 1, 10), json);
}

TEST(RepeatTraceTest, AMissingListIsAnError) {
  const auto sink = [](absl::string_view) { return absl::OkStatus(); };
  EXPECT_THAT(RepeatTrace("{}", "nodes", 2, 1, sink),
              StatusIs(absl::StatusCode::kInvalidArgument, "no such list"));
}

}  // namespace
}  // namespace chakrad
