#include "server/series/trace_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/status_matchers.h"
#include "server/series/sample_codec.h"
#include "storage/mem_kv.h"
#include "storage/trace_store_kv.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TracePageTest : public testing::Test {
 protected:
  void Add(const std::string& source, int64_t time_ms, const std::string& job,
           const std::string& variant = "") {
    SeriesRecord record;
    record.source = source;
    record.time_unix_ms = time_ms;
    record.key = {"c", job, "m", "0-3"};
    record.variant = variant;
    record.samples = EncodeSamples(
        {{MetricId::kExposedCommRatio, {}, 0.375}, {MetricId::kIdleSeconds, {"<i>sync</i>"}, 1}});
    ASSERT_THAT(series_->Append({record}, "t", ""), IsOk());
  }
  HttpResponse Get(const std::map<std::string, std::string>& query) {
    return TracePage({query}, series_.get(), traces_.get());
  }

  const std::shared_ptr<Kv> kv_ = NewMemKv();
  const std::unique_ptr<TraceStore> traces_ = *OpenTraceStore(kv_);
  const std::unique_ptr<SeriesStore> series_ = *NewSeriesStore(kv_);
  const std::map<std::string, std::string> query_{
      {"cluster", "c"}, {"job", "train"}, {"model", "m"}, {"rank_group", "0-3"}};
};

TEST_F(TracePageTest, ShowsTheTraceOfATimeWithItsNumbersAndTheWayOn) {
  const Trace trace = RandomTrace(1, 1, 10);
  TraceInfo info;
  info.id = "t-2";
  info.world_size = trace.world_size;
  info.groups = trace.groups;
  ASSERT_THAT(traces_->Put(trace, info), IsOk());
  Add("traces/t-1", 1'000, "train");
  Add("traces/t-2", 1'700'000'000'123, "train");
  auto query = query_;
  query["time"] = "1700000000123";
  const HttpResponse page = Get(query);
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.content_type, HasSubstr("text/html"));
  EXPECT_THAT(page.body, HasSubstr("<h1>traces/t-2</h1>"));
  EXPECT_THAT(page.body, HasSubstr("2023-11-14 22:13:20.123 UTC"));
  EXPECT_THAT(page.body, HasSubstr("<td>job</td><td>train</td>"));
  EXPECT_THAT(page.body, HasSubstr("<td>rank_group</td><td>0-3</td>"));
  EXPECT_THAT(page.body, HasSubstr("chakrad_trace_exposed_comm_ratio</td><td class=\"number\">"
                                   "0.375</td>"));
  EXPECT_THAT(page.body, HasSubstr("chakra analyze traces/t-2\n"));
  query["time"] = "0";
  EXPECT_THAT(Get(query).body, HasSubstr("traces/t-1"));
  EXPECT_THAT(Get(query).body, HasSubstr("no longer stored"));
  EXPECT_THAT(Get(query_).body, HasSubstr("traces/t-2")) << "without a time the latest";
}

TEST_F(TracePageTest, ASimulationIsFoundByItsVariant) {
  Add("traces/t-1", 1'000, "train");
  Add("jobs/j-1", 1'000, "train", "400G");
  auto query = query_;
  query["variant"] = "400G";
  EXPECT_THAT(Get(query).body, HasSubstr("chakra jobs show jobs/j-1\n"));
  EXPECT_THAT(Get(query).body, HasSubstr("<td>variant</td><td>400G</td>"));
}

// Grafana leaves the words as they are where a line has no such label.
TEST_F(TracePageTest, ALabelThatGrafanaDidNotFindIsNone) {
  Add("traces/t-1", 1'000, "");
  auto query = query_;
  query["job"] = "${__field.labels.job:percentencode}";
  EXPECT_THAT(Get(query).body, HasSubstr("traces/t-1"));
}

TEST_F(TracePageTest, LabelsAreTextWhateverTheyHold) {
  const std::string script = "<script>alert('x')</script>&\"\xff";
  Add("traces/t-1", 1'000, script);
  auto query = query_;
  query["job"] = script;
  const HttpResponse page = Get(query);
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;?"));
  EXPECT_THAT(page.body, Not(HasSubstr("<script")));
  EXPECT_THAT(page.body, HasSubstr("&lt;i&gt;sync&lt;/i&gt;"));
  query["job"] = "<script>none";
  query["<b>"] = "<b>";
  const HttpResponse none = Get(query);
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.body, HasSubstr("No trace or simulation has series with these labels"));
  EXPECT_THAT(none.body, HasSubstr("&lt;script&gt;none"));
  EXPECT_THAT(none.body, Not(HasSubstr("<script")));
  EXPECT_THAT(none.body, Not(HasSubstr("<b>")));
}

TEST_F(TracePageTest, ATimeThatIsNoneIsRefused) {
  auto query = query_;
  for (const char* time : {"<b>now", "1e9", "99999999999999999999", " "}) {
    query["time"] = time;
    const HttpResponse page = Get(query);
    EXPECT_EQ(page.status, 400) << time;
    EXPECT_THAT(page.body, Not(HasSubstr("<b>")));
  }
}

TEST_F(TracePageTest, TimesBeyondAnyDateStillAnswer) {
  Add("traces/t-1", 1'000, "train");
  auto query = query_;
  for (const char* time : {"-9223372036854775808", "9223372036854775807"}) {
    query["time"] = time;
    EXPECT_EQ(Get(query).status, 200) << time;
  }
}

}  // namespace
}  // namespace chakrad
