// Searching and keeping few, as an operator does it: filters, pins, policies, runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/admin.grpc.pb.h"
#include "client/json.h"
#include "common/status_matchers.h"
#include "tests/e2e/run_chakra.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The names in `chakra traces ls ARGS`, in order.
std::vector<std::string> Listed(const TestServer& server, std::vector<std::string> args) {
  args.insert(args.begin(), {"--output", "json", "traces", "ls"});
  const Ran ran = Chakra(server, args);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  std::vector<std::string> names;
  if (ran.exit_code != 0) return names;
  const client::Json json = client::Json::parse(ran.out);
  for (const auto& trace : json["traces"]) names.push_back(trace["name"]);
  return names;
}

std::string PolicyFile(const std::string& yaml) {
  const std::string path = MakeTempFolder() + "/policies.yml";
  std::ofstream(path) << yaml;
  return path;
}

std::string UploadStep(TestServer* server, const std::string& job, int step,
                       const std::string& folder = "tests/data/collected/mlp_dp/w2") {
  v1::CreateUploadRequest request;
  (*request.mutable_labels())["job"] = job;
  (*request.mutable_labels())["step"] = absl::StrCat(step);
  const auto trace = server->Upload(ReadFolder(folder), request);
  EXPECT_THAT(trace, IsOk());
  return trace.ok() ? trace->name() : "";
}

int64_t StoredBytes(TestServer* server) {
  const auto stub = v1::AdminService::NewStub(server->channel());
  grpc::ClientContext context;
  v1::StoreStatus status;
  EXPECT_THAT(FromGrpc(stub->GetStoreStatus(&context, {}, &status)), IsOk());
  return status.stored_bytes();
}

TEST(SearchTest, TracesAreFilteredOrderedAndPaged) {
  TestServer server;
  const std::string a9 = UploadStep(&server, "alpha", 9);
  const std::string b5 = UploadStep(&server, "beta", 5);
  const std::string a10 = UploadStep(&server, "alpha", 10);
  EXPECT_THAT(Listed(server, {}), ElementsAre(a10, b5, a9));
  EXPECT_THAT(Listed(server, {"--order_by", "labels.step"}), ElementsAre(b5, a9, a10));
  EXPECT_THAT(Listed(server, {"--filter", "labels.step < 10", "--order-by", "labels.step desc"}),
              ElementsAre(a9, b5));
  EXPECT_THAT(Listed(server, {"--filter", "ALPH", "--limit", "1"}), ElementsAre(a10));
  EXPECT_THAT(Listed(server, {"--filter", "world_size = 2 -labels.job = \"a*\""}), ElementsAre(b5));
  const Ran text = Chakra(server, {"traces", "ls", "--limit", "2"});
  EXPECT_THAT(text.out, HasSubstr("job=beta, step=5"));
  EXPECT_THAT(text.out, HasSubstr("(2 of 3; a higher --limit has more)"));
  const Ran wrong = Chakra(server, {"traces", "ls", "--filter", "world_size = many"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("filter: position 13, at \"many\": expected a whole number"));

  grpc::ClientContext context, other;
  v1::ListTracesRequest request;
  request.set_page_size(1);
  request.set_filter("labels.job = alpha");
  v1::ListTracesResponse page;
  ASSERT_THAT(FromGrpc(server.traces().ListTraces(&context, request, &page)), IsOk());
  EXPECT_EQ(page.total_count(), 2);
  ASSERT_EQ(page.traces_size(), 1);
  EXPECT_EQ(page.traces(0).name(), a10);
  EXPECT_GT(page.traces(0).nodes_count(), 0);
  EXPECT_GT(page.traces(0).stored_bytes(), 0);
  EXPECT_GT(page.traces(0).check().quality_score(), 0);
  request.set_page_token(page.next_page_token());
  request.set_order_by("id");
  EXPECT_THAT(FromGrpc(server.traces().ListTraces(&other, request, &page)),
              StatusIs(absl::StatusCode::kInvalidArgument, "page_token: belongs to a list with"));
}

TEST(SearchTest, APinnedTraceIsNotDeletedUntilItIsUnpinned) {
  TestServer server;
  const std::string name = UploadStep(&server, "alpha", 1);
  EXPECT_THAT(Chakra(server, {"traces", "pin", name}).out, HasSubstr("is pinned"));
  EXPECT_THAT(Listed(server, {"--filter", "pinned = true"}), ElementsAre(name));
  EXPECT_THAT(Chakra(server, {"traces", "rm", name}).err, HasSubstr("pinned"));
  server.Restart();
  EXPECT_THAT(Chakra(server, {"traces", "show", name}).out, HasSubstr(", pinned"));
  EXPECT_THAT(Chakra(server, {"traces", "ls"}).out, HasSubstr("pinned"));
  EXPECT_EQ(Chakra(server, {"traces", "unpin", name}).exit_code, 0);
  EXPECT_EQ(Chakra(server, {"traces", "rm", name}).exit_code, 0);
  EXPECT_THAT(Chakra(server, {"traces", "pin", name}).err, HasSubstr(name.substr(7)));
}

TEST(RetentionTest, APlanTellsWhatARunThenDeletesAndDeletesNothing) {
  TestServer server;
  const std::string a1 = UploadStep(&server, "alpha", 1);
  const std::string a2 = UploadStep(&server, "alpha", 2);
  const std::string b1 = UploadStep(&server, "beta", 1);
  const std::string yaml =
      "# one of each\npolicies:\n  - {name: one, group_by: [job], keep_newest: 1}\n";
  const std::string file = PolicyFile(yaml);
  EXPECT_THAT(Chakra(server, {"retention", "show"}).out, HasSubstr("no policies"));

  const Ran tried = Chakra(server, {"retention", "plan", file});
  EXPECT_EQ(tried.exit_code, 0) << tried.err;
  EXPECT_THAT(tried.out, HasSubstr(absl::StrCat(
                             "goes  ", a1, "  policy one: not among the newest 1 of job=alpha")));
  EXPECT_THAT(tried.out, HasSubstr("1 goes, "));
  EXPECT_EQ(Chakra(server, {"retention", "run"}).out.substr(0, 10), "0 deleted,");
  EXPECT_EQ(Listed(server, {}).size(), 3u);

  ASSERT_EQ(Chakra(server, {"retention", "set", file}).exit_code, 0);
  server.Restart();
  EXPECT_EQ(Chakra(server, {"retention", "show"}).out, yaml);
  const Ran plan = Chakra(server, {"--output", "json", "retention", "plan", "--all"});
  const client::Json json = client::Json::parse(plan.out);
  EXPECT_EQ(json["decisions"].size(), 3u);
  EXPECT_EQ(json["deleted_count"], 1);
  EXPECT_EQ(json["kept_count"], 2);
  EXPECT_EQ(json["decisions"][0]["reason"], "policy one: among the newest 1 of job=beta");
  EXPECT_EQ(Listed(server, {}).size(), 3u);

  const Ran run = Chakra(server, {"retention", "run"});
  EXPECT_THAT(run.out, HasSubstr(absl::StrCat("deleted  ", a1)));
  EXPECT_THAT(Listed(server, {}), ElementsAre(b1, a2));
  EXPECT_THAT(server.HttpGet("/metrics"), HasSubstr("chakrad_retention_deleted_traces_total 1"));
  EXPECT_THAT(Chakra(server, {"traces", "show", a1}).err, HasSubstr(a1.substr(7)));
}

TEST(RetentionTest, PoliciesWithAFaultAreRefusedByNameAndTheOldOnesStay) {
  TestServer server;
  const std::string good = "policies:\n - {name: p, keep_newest: 3}\n";
  ASSERT_EQ(Chakra(server, {"retention", "set", PolicyFile(good)}).exit_code, 0);
  const std::string bad =
      PolicyFile("policies:\n - {name: q, filter: 'job = x', keep_newest: 3}\n");
  const Ran refused = Chakra(server, {"retention", "set", bad});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("policy q: filter: position 0"));
  EXPECT_THAT(Chakra(server, {"retention", "plan", bad}).err, HasSubstr("policy q"));
  EXPECT_EQ(Chakra(server, {"retention", "set", "/no/such/file"}).exit_code, 2);
  EXPECT_EQ(Chakra(server, {"retention", "show"}).out, good);
  ASSERT_EQ(Chakra(server, {"retention", "set", PolicyFile("")}).exit_code, 0);
  EXPECT_THAT(Chakra(server, {"retention", "show"}).out, HasSubstr("no policies"));
}

TEST(RetentionTest, ATraceThatARunningJobReadsSurvivesARun) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::SimulationSpec spec, EndlessSpec(&server));
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.CreateJob(spec));
  const std::string newer = UploadStep(&server, "alpha", 2);
  ASSERT_EQ(
      Chakra(server, {"retention", "set", PolicyFile("policies: [{name: one, keep_newest: 1}]")})
          .exit_code,
      0);
  const Ran run = Chakra(server, {"retention", "run"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(absl::StrCat("stays  ", spec.trace())));
  EXPECT_THAT(Listed(server, {}), ElementsAre(newer, spec.trace()));
  ASSERT_THAT(server.CancelJob(job.name()), IsOk());
  ASSERT_THAT(server.Wait(job.name()), IsOk());
  EXPECT_THAT(Chakra(server, {"retention", "run"}).out,
              HasSubstr(absl::StrCat("deleted  ", spec.trace())));
  EXPECT_THAT(Listed(server, {}), ElementsAre(newer));
}

TEST(RetentionTest, ARunFreesTheBytesOfWhatItDeletes) {
  TestServer server;
  const std::string kept = UploadStep(&server, "alpha", 1);
  const int64_t before = StoredBytes(&server);
  const std::string gone = UploadStep(&server, "beta", 1, "tests/data/collected/dlrm/w4");
  const int64_t both = StoredBytes(&server);
  ASSERT_GT(both, before);
  ASSERT_EQ(
      Chakra(server, {"retention", "set",
                      PolicyFile("policies: [{name: q, filter: labels.job = beta, max_bytes: 1}]")})
          .exit_code,
      0);
  const client::Json json =
      client::Json::parse(Chakra(server, {"--output", "json", "retention", "run"}).out);
  ASSERT_EQ(json["decisions"].size(), 1u);
  EXPECT_EQ(json["decisions"][0]["name"], gone);
  EXPECT_EQ(json["decisions"][0]["reason"], "policy q: over 1B");
  EXPECT_GE(json["freed_bytes"].get<int64_t>(), both - before);
  EXPECT_EQ(StoredBytes(&server), before);
  EXPECT_THAT(server.Export(kept), IsOk());
}

TEST(RetentionTest, TheDaemonRunsThePoliciesByItself) {
  ServerOptions options;
  options.retention_period_seconds = 1;
  TestServer server(options);
  UploadStep(&server, "alpha", 1);
  const std::string newer = UploadStep(&server, "alpha", 2);
  ASSERT_EQ(
      Chakra(server, {"retention", "set", PolicyFile("policies: [{name: one, keep_newest: 1}]")})
          .exit_code,
      0);
  for (int i = 0; i < 600 && Listed(server, {}).size() > 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_THAT(Listed(server, {}), ElementsAre(newer));
}

}  // namespace
}  // namespace chakrad
