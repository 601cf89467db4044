#include "trace/readers/kineto/kineto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_matchers.h"
#include "trace/readers/byte_source.h"

namespace chakrad {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Result {
  KinetoTrace trace;
  Ledger ledger;
};

absl::StatusOr<Result> Read(absl::string_view text) {
  Result result;
  const auto source = OpenMemorySource(text);
  ASSIGN_OR_RETURN(result.trace, ReadKineto(source.get(), &result.ledger));
  EXPECT_TRUE(result.ledger.Balanced());
  EXPECT_EQ(result.ledger.kept, static_cast<int64_t>(result.trace.events.size()));
  return result;
}

std::string Document(absl::string_view events, absl::string_view rest = "") {
  return absl::StrCat(R"({"schemaVersion":1,"traceEvents":[)", events, "]", rest.empty() ? "" : ",",
                      rest, "}");
}
std::string Event(absl::string_view cat, absl::string_view name, absl::string_view ts,
                  absl::string_view dur, absl::string_view args = "") {
  return absl::StrCat(R"({"ph":"X","cat":")", cat, R"(","name":")", name,
                      R"(","pid":7,"tid":9,"ts":)", ts, R"(,"dur":)", dur, R"(,"args":{)", args,
                      "}}");
}
std::string HostOp(absl::string_view ts, absl::string_view dur, absl::string_view args = "") {
  return Event("cpu_op", "aten::mm", ts, dur, args);
}

TEST(KinetoTest, CategoriesOfAllSpellingsHaveTheirKind) {
  const std::pair<const char*, KinetoKind> cases[] = {
      {"cpu_op", KinetoKind::kHostOp},
      {"Operator", KinetoKind::kHostOp},
      {"user_annotation", KinetoKind::kAnnotation},
      {"cuda_runtime", KinetoKind::kRuntime},
      {"cuda_driver", KinetoKind::kRuntime},
      {"hip_runtime", KinetoKind::kRuntime},
      {"Runtime", KinetoKind::kRuntime},
      {"kernel", KinetoKind::kKernel},
      {"Kernel", KinetoKind::kKernel},
      {"gpu_memcpy", KinetoKind::kMemcpy},
      {"Memcpy", KinetoKind::kMemcpy},
      {"gpu_memset", KinetoKind::kMemset},
      {"cuda_sync", KinetoKind::kSync},
  };
  for (const auto& [cat, kind] : cases) {
    ASSERT_OK_AND_ASSIGN(const Result result, Read(Document(Event(cat, "x", "5", "1"))));
    ASSERT_THAT(result.trace.events, SizeIs(1)) << cat;
    EXPECT_EQ(result.trace.events[0].kind, kind) << cat;
  }
}

TEST(KinetoTest, DescribingEventsAreMergedByRule) {
  const std::string text = Document(absl::StrCat(
      Event("gpu_user_annotation", "a", "1", "1"), ",", Event("python_function", "b", "1", "1"),
      ",", Event("overhead", "c", "1", "1"), ",", Event("Trace", "d", "1", "1"), ",",
      R"({"ph":"s","id":1,"cat":"ac2g","ts":1},{"ph":"f","id":1,"ts":2},{"ph":"M","name":"x"},)",
      R"({"ph":"C","ts":1},{"ph":"i","ts":1},{"ph":"b","ts":1},{"ph":"N"},)",
      Event("cpu_instant_event", "e", "1", "1")));
  ASSERT_OK_AND_ASSIGN(const Result result, Read(text));
  EXPECT_THAT(result.trace.events, IsEmpty());
  EXPECT_EQ(result.ledger.merged_by_rule,
            (std::map<std::string, int64_t>{{"gpu_user_annotation", 1},
                                            {"python_function", 1},
                                            {"overhead", 1},
                                            {"span", 1},
                                            {"flow_event", 2},
                                            {"metadata", 1},
                                            {"counter", 1},
                                            {"instant", 2},
                                            {"async_event", 1},
                                            {"object_event", 1}}));
}

TEST(KinetoTest, MalformedEventsAreRejectedByRule) {
  const std::pair<std::string, const char*> cases[] = {
      {R"({"ph":"X","cat":"cpu_op","name":"a","dur":1})", "kineto_no_time"},
      {HostOp("NaN", "1"), "kineto_bad_time"},
      {HostOp("\"soon\"", "1"), "kineto_bad_time"},
      {HostOp("1e300", "1"), "kineto_bad_time"},
      {HostOp("-50", "1"), "kineto_negative_time"},
      {R"({"ph":"X","cat":"cpu_op","name":"a","ts":1})", "kineto_no_duration"},
      {HostOp("1", "-1"), "kineto_negative_duration"},
      {HostOp("1", "-0.001"), "kineto_negative_duration"},
      {HostOp("1", "Infinity"), "kineto_bad_duration"},
      {HostOp("1", "null"), "kineto_bad_duration"},
      {HostOp("1", "1e13"), "kineto_duration_too_long"},  // 115 days.
      {Event("kernel", "k", "0", "1"), "kineto_device_op_at_zero"},
      {Event("gpu_memcpy", "k", "0.0", "0"), "kineto_device_op_at_zero"},
      {Event("quantum", "k", "5", "1"), "kineto_unknown_category"},
      {R"({"cat":"cpu_op","ts":1,"dur":1})", "kineto_no_phase"},
      {R"({"ph":"XX","ts":1,"dur":1})", "kineto_unknown_phase"},
      {R"({"ph":"?","ts":1,"dur":1})", "kineto_unknown_phase"},
      {R"({"ph":"B","cat":"cpu_op","name":"a","ts":1})", "kineto_begin_without_end"},
      {R"({"ph":"E","ts":1})", "kineto_end_without_begin"},
      {"17", "kineto_not_an_object"},
  };
  for (const auto& [event, rule] : cases) {
    const std::string text = Document(absl::StrCat(HostOp("10", "5"), ", ", event));
    ASSERT_OK_AND_ASSIGN(const Result result, Read(text));
    EXPECT_THAT(result.trace.events, SizeIs(1)) << event;
    EXPECT_EQ(result.ledger.rejected, 1) << event;
    ASSERT_THAT(result.ledger.rejections, SizeIs(1)) << event;
    const Rejection& rejection = result.ledger.rejections[0];
    EXPECT_EQ(rejection.rule, rule) << event;
    EXPECT_EQ(rejection.record, 1);
    EXPECT_EQ(rejection.byte_offset, static_cast<int64_t>(text.find(event, 60)));
    EXPECT_THAT(rejection.reason, testing::Not(IsEmpty()));
  }
}

TEST(KinetoTest, TimesAreExactFromTheDecimalText) {
  // As doubles, 1700000000000000.125 and .751 us would be off by up to 125 ns.
  ASSERT_OK_AND_ASSIGN(const Result result,
                       Read(Document(absl::StrCat(HostOp("1.7e15", "0.750"), ",",
                                                  HostOp("1700000000000000.125", "0.125"), ",",
                                                  HostOp("\"1700000000000000.751\"", "\"2\"")))));
  const KinetoEvents& events = result.trace.events;
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(result.trace.base_unix_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(events[0].start_ns, 0);
  EXPECT_EQ(events[0].dur_ns, 750);
  EXPECT_EQ(events[1].start_ns, 125);
  EXPECT_EQ(events[1].dur_ns, 125);
  EXPECT_EQ(events[2].start_ns, 751);
  EXPECT_EQ(events[2].dur_ns, 2000);
  EXPECT_THAT(result.ledger.notices, IsEmpty());
}

TEST(KinetoTest, FractionsOfANanosecondAreRoundedSoThatNestingStays) {
  // [1.0004, 3.0006] us around [2.0006, 3.0006]: equal ends stay equal.
  ASSERT_OK_AND_ASSIGN(
      const Result result,
      Read(Document(absl::StrCat(HostOp("1.0004", "2.0002"), ",", HostOp("2.0006", "1.0000")))));
  const KinetoEvents& events = result.trace.events;
  EXPECT_EQ(events[0].start_ns, 1000);
  EXPECT_EQ(events[0].start_ns + events[0].dur_ns, 3001);
  EXPECT_EQ(events[1].start_ns, 2001);
  EXPECT_EQ(events[1].start_ns + events[1].dur_ns, 3001);
  EXPECT_THAT(result.ledger.notices, ElementsAre(HasSubstr("2 events have fractions")));
}

TEST(KinetoTest, TheBaseIsTheFirstEventWhereTheClockHasAnEpoch) {
  // The base comes behind the events in Kineto's files.
  ASSERT_OK_AND_ASSIGN(const Result with_base,
                       Read(Document(absl::StrCat(HostOp("4203669604595.407", "1"), ",",
                                                  HostOp("4203669604594.406", "1")),
                                     R"("baseTimeNanoseconds":1735632360000000000)")));
  EXPECT_EQ(with_base.trace.base_unix_ns, 1735632360000000000 + 4203669604594406);
  EXPECT_EQ(with_base.trace.events[0].start_ns, 0);
  EXPECT_EQ(with_base.trace.events[1].start_ns, 1001);
  // Small times without an epoch stay.
  ASSERT_OK_AND_ASSIGN(const Result relative, Read(Document(HostOp("123", "1"))));
  EXPECT_EQ(relative.trace.base_unix_ns, 0);
  EXPECT_EQ(relative.trace.events[0].start_ns, 123'000);
  // A clock since boot, a year ago.
  ASSERT_OK_AND_ASSIGN(const Result boot, Read(Document(HostOp("31536000000000", "1"))));
  EXPECT_EQ(boot.trace.base_unix_ns, 0);
  EXPECT_EQ(boot.trace.events[0].start_ns, 0);
  EXPECT_THAT(boot.ledger.notices, ElementsAre(HasSubstr("no epoch")));
  EXPECT_THAT(Read(Document("", R"("baseTimeNanoseconds":-5)")),
              StatusIs(kInvalid, "baseTimeNanoseconds: -5 is not in [0, 2^62)"));
}

TEST(KinetoTest, OneLostTimeDoesNotStretchTheRecording) {
  ASSERT_OK_AND_ASSIGN(
      const Result result,
      Read(Document(absl::StrCat(HostOp("0", "5"), ",", HostOp("1615207264504915", "30"), ",",
                                 HostOp("1615207264504990", "12")))));
  ASSERT_THAT(result.trace.events, SizeIs(2));
  EXPECT_EQ(result.trace.base_unix_ns, 1615207264504915000);
  EXPECT_EQ(result.ledger.rejected_by_rule.at("kineto_time_outlier"), 1);
}

TEST(KinetoTest, BeginAndEndBecomeOneEvent) {
  ASSERT_OK_AND_ASSIGN(
      const Result result,
      Read(Document(R"({"ph":"B","cat":"cpu_op","name":"outer","pid":1,"tid":"2","ts":1},)"
                    R"({"ph":"B","cat":"cpu_op","name":"inner","pid":1,"tid":"2","ts":2},)"
                    R"({"ph":"B","cat":"cpu_op","name":"other","pid":1,"tid":"3","ts":2},)"
                    R"({"ph":"E","pid":1,"tid":"2","ts":3},{"ph":"E","pid":1,"tid":"2","ts":5},)"
                    R"({"ph":"B","cat":"cpu_op","name":"back","pid":1,"tid":"4","ts":9},)"
                    R"({"ph":"E","pid":1,"tid":"4","ts":8})")));
  const KinetoEvents& events = result.trace.events;
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(result.trace.strings.Get(events[0].name), "outer");
  EXPECT_EQ(events[0].dur_ns, 4000);
  EXPECT_EQ(events[1].dur_ns, 1000);
  EXPECT_EQ(result.ledger.merged_by_rule.at("end_event"), 3);
  EXPECT_EQ(result.ledger.rejected_by_rule.at("kineto_begin_without_end"), 1);
  EXPECT_EQ(result.ledger.rejected_by_rule.at("kineto_negative_duration"), 1);
}

TEST(KinetoTest, EventsComeByStartLongerFirstThenByRecord) {
  ASSERT_OK_AND_ASSIGN(
      const Result result,
      Read(Document(absl::StrJoin({HostOp("7", "1"), HostOp("5", "1"), HostOp("5", "3"),
                                   HostOp("5", "1"), HostOp("6", "0")},
                                  ","))));
  std::vector<int64_t> records;
  for (const KinetoEvent& event : result.trace.events) records.push_back(event.record);
  EXPECT_THAT(records, ElementsAre(2, 1, 3, 4, 0));
}

TEST(KinetoTest, ArgumentsAreReadInAnyCapitalsAndAsText) {
  ASSERT_OK_AND_ASSIGN(
      const Result result,
      Read(Document(absl::StrCat(
          HostOp("1", "1",
                 R"("external id":11,"Record function id":"12","Sequence number":13,)"
                 R"("Fwd thread id":14,"Launch tid":15,"correlation":16)"),
          ",", HostOp("2", "1", R"("Record function id":0,"External id":null)"), ",",
          Event("gpu_memcpy", "Memcpy HtoD", "3", "1",
                R"("stream":0,"device":2,"bytes":832,"correlation":17)"),
          ",",
          Event("cuda_sync", "Stream Wait Event", "4", "1",
                R"("stream":20,"device":0,"wait_on_stream":7,"wait_on_cuda_event_id":8,)"
                R"("wait_on_cuda_event_record_corr_id":5169)")))));
  const KinetoEvents& events = result.trace.events;
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_EQ(events[0].external_id, 11);
  EXPECT_EQ(events[0].rf_id, 12);
  EXPECT_EQ(events[0].sequence, 13);
  EXPECT_EQ(events[0].forward_tid, 14);
  EXPECT_EQ(events[0].launch_tid, 15);
  EXPECT_EQ(events[0].correlation, 16);
  EXPECT_EQ(events[1].rf_id, -1);  // 0 is no id.
  EXPECT_EQ(events[1].external_id, -1);
  EXPECT_EQ(events[2].bytes, 832);
  EXPECT_EQ(result.trace.queues[events[2].queue],
            (Queue{Queue::Kind::kDeviceStream, 2, 0}));  // Stream 0 is a stream.
  EXPECT_EQ(events[3].sync_stream, 7);
  EXPECT_EQ(events[3].sync_event, 8);
  EXPECT_EQ(events[3].sync_record_correlation, 5169);
}

TEST(KinetoTest, ThreadsAndStreamsAreQueues) {
  ASSERT_OK_AND_ASSIGN(
      const Result result,
      Read(Document(
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":"host","tid":"main","ts":1,"dur":1},)"
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":"host","tid":"io","ts":2,"dur":1},)"
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":"host","tid":"main","ts":3,"dur":1},)"
          R"({"ph":"X","cat":"kernel","name":"a","pid":3,"tid":"stream 7","ts":4,"dur":1},)"
          R"({"ph":"X","cat":"kernel","name":"a","pid":3,"tid":5,"ts":5,"dur":1,)"
          R"("args":{"stream":7,"device":3}})")));
  const KinetoTrace& trace = result.trace;
  ASSERT_THAT(trace.queues, SizeIs(3));
  EXPECT_EQ(trace.events[0].queue, trace.events[2].queue);
  EXPECT_NE(trace.events[0].queue, trace.events[1].queue);
  EXPECT_EQ(trace.events[3].queue, trace.events[4].queue);
  EXPECT_EQ(trace.queues[2], (Queue{Queue::Kind::kDeviceStream, 3, 7}));
}

TEST(KinetoTest, KernelsTellTheirCollective) {
  ASSERT_OK_AND_ASSIGN(
      const Result result,
      Read(Document(Event(
          "kernel", "ncclDevKernel_Generic", "5", "1",
          R"("Collective name":"_reduce_scatter_base","In msg nelems":4096,"Out msg nelems":1024,)"
          R"("Group size":4,"dtype":"BFloat16","In split size":"[]","Out split size":"[1, ...]",)"
          R"("Process Group Name":"7","Process Group Description":"fsdp",)"
          R"("Process Group Ranks":"[4, 5, 6, 7]","Global rank start":4,"Global rank stride":1)"))));
  ASSERT_THAT(result.trace.comm_args, SizeIs(1));
  const CommArgs& args = result.trace.comm_args[0];
  EXPECT_EQ(args.op, "reduce_scatter_base");
  EXPECT_EQ(args.in_bytes, 8192);
  EXPECT_EQ(args.out_bytes, 2048);
  EXPECT_EQ(args.group_size, 4);
  EXPECT_EQ(args.group_name, "7");
  EXPECT_EQ(args.group_description, "fsdp");
  EXPECT_THAT(args.group_ranks, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(args.global_rank_start, 4);
  EXPECT_TRUE(args.splits_cut);
  EXPECT_THAT(Read(Document(Event("kernel", "k", "5", "1",
                                  R"("Collective name":"x","dtype":"Double",)"
                                  R"("In msg nelems":9223372036854775807)"))),
              StatusIs(kInvalid, "9223372036854775807 elements of 8 bytes"));
}

TEST(KinetoTest, BackendMarksTellTheirOperation) {
  ASSERT_OK_AND_ASSIGN(const Result result,
                       Read(Document(Event("user_annotation", "gloo:all_reduce", "5", "1",
                                           R"("Input Dims":[[24,2],[],[3]])"))));
  ASSERT_THAT(result.trace.comm_args, SizeIs(1));
  EXPECT_EQ(result.trace.comm_args[0].op, "all_reduce");
  EXPECT_EQ(result.trace.comm_args[0].input_dims, 2);
  EXPECT_EQ(result.trace.comm_args[0].in_elements, 51);  // 24 x 2 + 3.
  EXPECT_EQ(result.trace.comm_args[0].in_bytes, kNotStated);
}

TEST(KinetoTest, DistributedInfoTellsRankWorldAndGroups) {
  ASSERT_OK_AND_ASSIGN(
      const Result result,
      Read(Document("", R"("distributedInfo":{"backend":"nccl","rank":3,"world_size":4,)"
                        R"("pg_config":[{"pg_name":"0","pg_desc":"default_pg","pg_size":4,)"
                        R"("ranks":[0,1,2,3]}]})")));
  EXPECT_EQ(result.trace.rank, 3);
  EXPECT_EQ(result.trace.world_size, 4);
  EXPECT_EQ(result.trace.backend, "nccl");
  ASSERT_THAT(result.trace.groups, SizeIs(1));
  EXPECT_THAT(result.trace.groups[0].ranks, ElementsAre(0, 1, 2, 3));
  for (const char* info : {R"("distributedInfo":{})", R"("distributedInfo":null)",
                           R"("distributedInfo":{"rank":null})"}) {
    ASSERT_OK_AND_ASSIGN(const Result unknown, Read(Document("", info)));
    EXPECT_EQ(unknown.trace.rank, kNoRank);
    EXPECT_EQ(unknown.trace.world_size, 0);
  }
  EXPECT_THAT(Read(Document("", R"("distributedInfo":{"rank":-1})")),
              StatusIs(kInvalid, "distributedInfo: rank is not in [0, 2^31)"));
}

TEST(KinetoTest, ABareListOfProfilerEventsIsRead) {
  ASSERT_OK_AND_ASSIGN(
      const Result result,
      Read(
          R"([{"name":"aten::mm","ph":"X","ts":5,"dur":1,"tid":1,"pid":"CPU functions","args":{}},)"
          R"({"name":"gloo:all_reduce","ph":"X","ts":7,"dur":1,"tid":2,"pid":"CPU functions"},)"
          R"({"name":"ProfilerStep#1","ph":"X","ts":3,"dur":9,"tid":1,"pid":"CPU functions"}])"));
  ASSERT_THAT(result.trace.events, SizeIs(3));
  EXPECT_EQ(result.trace.events[0].kind, KinetoKind::kAnnotation);
  EXPECT_EQ(result.trace.events[1].kind, KinetoKind::kHostOp);
  EXPECT_EQ(result.trace.events[2].kind, KinetoKind::kAnnotation);
}

TEST(KinetoTest, DocumentsOfAnotherKindAreRefused) {
  EXPECT_THAT(Read("{}"), StatusIs(kInvalid, "traceEvents: missing"));
  EXPECT_THAT(Read(R"({"traceEvents":{}})"), StatusIs(kInvalid, "expected a list"));
  EXPECT_THAT(Read(R"({"traceEvents":[],"traceEvents":[]})"), StatusIs(kInvalid, "is there twice"));
}

TEST(KinetoTest, AFileCutAtAnyByteIsAnError) {
  const std::string text = Document(absl::StrCat(HostOp("1.5", "2"), ",", HostOp("2", "1")),
                                    R"("distributedInfo":{"rank":1})");
  for (size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_THAT(Read(text.substr(0, cut)), StatusIs(kInvalid, "byte offset ")) << cut;
  }
}

TEST(KinetoTest, AnyByteMayBeDamaged) {
  const std::string text =
      Document(HostOp("1.5", "2e1", R"("External id":3)"), R"("distributedInfo":{"rank":1})");
  ASSERT_THAT(Read(text), IsOk());
  for (size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const absl::Status status = Read(damaged).status();
      EXPECT_TRUE(status.ok() || status.code() == kInvalid) << status << "\n" << damaged;
    }
  }
}

// Of tests/data/collected, counted with another program.
TEST(KinetoTest, RealFilesAreReadWhole) {
  const struct {
    const char* path;
    int32_t rank, world_size;
    size_t events, annotations;
    int64_t first_ns;
  } cases[] = {
      {"mlp_dp/w2/rank1", 1, 2, 671, 22, 106'000},
      {"dlrm/w4/rank0", 0, 4, 2093, 22, 132'000},
      {"transformer_dp_tp/w4/rank0", 0, 4, 5837, 36, 123'000},
      {"transformer_pp/w2/rank1", 1, 2, 11118, 40, 107'000},
  };
  for (const auto& c : cases) {
    Ledger ledger;
    ASSERT_OK_AND_ASSIGN(
        const auto source,
        OpenFileSource(absl::StrCat("tests/data/collected/", c.path, ".kineto.json.gz")));
    ASSERT_OK_AND_ASSIGN(const KinetoTrace trace, ReadKineto(source.get(), &ledger));
    EXPECT_EQ(trace.rank, c.rank);
    EXPECT_EQ(trace.world_size, c.world_size);
    EXPECT_EQ(trace.backend, "gloo");
    EXPECT_THAT(trace.events, SizeIs(c.events)) << c.path;
    EXPECT_TRUE(ledger.Balanced());
    size_t annotations = 0;
    for (const KinetoEvent& event : trace.events) {
      annotations += event.kind == KinetoKind::kAnnotation;
    }
    EXPECT_EQ(annotations, c.annotations) << c.path;
    EXPECT_EQ(trace.events[0].start_ns, c.first_ns) << c.path;
  }
}

TEST(KinetoEventsTest, ValuesOfAnySizeComeBackInOrder) {
  std::mt19937_64 random(1);
  std::vector<KinetoEvent> wanted;
  KinetoEvents events;
  const auto any = [&random]() -> int64_t {
    const int64_t values[] = {-1, 0, 7, UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX, INT64_MAX, -9};
    return values[random() % std::size(values)];
  };
  for (int64_t i = 0; i < 1000; ++i) {
    KinetoEvent event;
    event.kind = static_cast<KinetoKind>(random() % 7);
    event.queue = static_cast<uint32_t>(random() % 100);
    event.record = i;
    event.start_ns = static_cast<int64_t>(random() % 50);
    event.dur_ns = std::abs(any());
    event.correlation = any();
    event.sequence = any();
    if (random() % 2 == 0) event.bytes = any();
    if (random() % 2 == 0) event.sync_record_correlation = any();
    wanted.push_back(event);
    events.push_back(event);
  }
  const auto key = [](const KinetoEvent& e) { return std::tuple(e.start_ns, -e.dur_ns, e.record); };
  std::sort(wanted.begin(), wanted.end(),
            [&](const KinetoEvent& a, const KinetoEvent& b) { return key(a) < key(b); });
  events.Sort();
  const auto all = [](const KinetoEvent& e) {
    return std::tuple(e.kind, e.queue, e.record, e.start_ns, e.dur_ns, e.correlation, e.sequence,
                      e.bytes, e.sync_record_correlation);
  };
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(all(events[i]), all(wanted[i])) << i;
}

}  // namespace
}  // namespace chakrad
