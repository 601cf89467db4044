// Bad files: a status with file, place and reason; nothing half stored; the
// daemon goes on serving.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/status_matchers.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string EtNode(int id, int parent, const std::string& name) {
  return absl::StrCat(R"({"id": )", id, R"(, "name": ")", name, R"(", "ctrl_deps": )", parent,
                      R"(, "inputs": {"values": [], "shapes": [], "types": []}, )"
                      R"("outputs": {"values": [], "shapes": [], "types": []}, "attrs": [)"
                      R"({"name": "rf_id", "type": "uint64", "value": )",
                      id,
                      R"(}, {"name": "fw_parent", "type": "uint64", "value": 0}, )"
                      R"({"name": "seq_id", "type": "int64", "value": -1}, )"
                      R"({"name": "scope", "type": "uint64", "value": 0}, )"
                      R"({"name": "tid", "type": "uint64", "value": 1}, )"
                      R"({"name": "fw_tid", "type": "uint64", "value": 0}, )"
                      R"({"name": "op_schema", "type": "string", "value": ""}]})");
}

std::string Et(const std::string& schema, const std::vector<std::string>& nodes) {
  std::string text = absl::StrCat(R"({"schema": ")", schema,
                                  R"(", "pid": 1, "time": "now", "start_ts": 1, "nodes": [)");
  for (size_t i = 0; i < nodes.size(); ++i) absl::StrAppend(&text, i == 0 ? "" : ",", nodes[i]);
  return text + R"(], "finish_ts": 2})";
}

std::string GoodEt() {
  return Et("1.0.3-chakra.0.0.4",
            {EtNode(1, 1, "[pytorch|profiler|execution_trace|process]"),
             EtNode(2, 1, "[pytorch|profiler|execution_trace|thread]"), EtNode(3, 2, "aten::mm")});
}

class BadInputTest : public ::testing::Test {
 protected:
  // Uploading `files` fails with INVALID_ARGUMENT whose message has all `parts`,
  // stores nothing, and the daemon takes a good trace after it.
  void ExpectRefused(const std::map<std::string, std::string>& files,
                     const std::vector<std::string>& parts) {
    const auto result = server_.Upload(files);
    for (const std::string& part : parts) EXPECT_THAT(result, StatusIs(kInvalid, part));
    ExpectTraces(0);
    EXPECT_THAT(server_.Upload({{"rank0.json", GoodEt()}}), IsOk());
    ExpectTraces(1);
  }
  void ExpectTraces(size_t count) {
    const auto names = server_.TraceNames();
    ASSERT_THAT(names, IsOk());
    EXPECT_EQ(names->size(), count);
  }

  TestServer server_;
};

TEST_F(BadInputTest, NoFiles) { ExpectRefused({}, {"files: none were given"}); }

TEST_F(BadInputTest, EmptyFile) { ExpectRefused({{"rank0.json", ""}}, {"rank0.json", "empty"}); }

TEST_F(BadInputTest, OnlyWhiteSpace) {
  ExpectRefused({{"rank0.json", " \n\t "}}, {"rank0.json", "white space"});
}

TEST_F(BadInputTest, HtmlInsteadOfJson) {
  ExpectRefused({{"rank0.json", "<!DOCTYPE html><html><body>Sign in</body></html>"}},
                {"rank0.json", "HTML"});
}

TEST_F(BadInputTest, TruncatedGzip) {
  const auto files = ReadFolder("tests/data/collected/mlp_dp/w2");
  const std::string& whole = files.at("rank0.et.json.gz");
  ExpectRefused({{"rank0.et.json.gz", whole.substr(0, whole.size() / 2)}},
                {"rank0.et.json.gz", "gzip", "byte"});
}

TEST_F(BadInputTest, TruncatedJson) {
  const std::string good = GoodEt();
  ExpectRefused({{"rank0.json", good.substr(0, good.size() - 40)}}, {"rank0.json", "byte"});
}

TEST_F(BadInputTest, UnknownSchemaListsTheKnownOnes) {
  ExpectRefused({{"rank0.json", absl::StrReplaceAll(GoodEt(), {{"1.0.3-", "9.0.0-"}})}},
                {"rank0.json", "9.0.0", "1.0.1", "1.1.1"});
}

TEST_F(BadInputTest, OneRankTwice) {
  ExpectRefused({{"a.rank0.json", GoodEt()}, {"b.rank0.json", GoodEt()}},
                {"a.rank0.json", "b.rank0.json", "rank 0"});
}

TEST_F(BadInputTest, SeveralFilesWithoutRanks) {
  ExpectRefused({{"one.json", GoodEt()}, {"two.json", GoodEt()}}, {"one.json", "two.json", "rank"});
}

TEST_F(BadInputTest, Cycle) {
  ExpectRefused({{"rank0.json", Et("1.0.3-chakra.0.0.4",
                                   {EtNode(1, 1, "[pytorch|profiler|execution_trace|process]"),
                                    EtNode(2, 3, "aten::a"), EtNode(3, 2, "aten::b")})}},
                {"rank0.json", "cycle", "aten::a", "aten::b"});
}

TEST_F(BadInputTest, MissingParent) {
  ExpectRefused({{"rank0.json", Et("1.0.3-chakra.0.0.4",
                                   {EtNode(1, 1, "[pytorch|profiler|execution_trace|process]"),
                                    EtNode(2, 77, "aten::mm")})}},
                {"rank0.json", "77", "aten::mm", "byte"});
}

TEST(RefusedUploadTest, RefusedUploadsDoNotLockOthersOut) {
  ServerOptions options;
  options.limits.open_uploads = 1;
  TestServer server(options);
  v1::CreateUploadRequest request;
  request.set_request_id("same");
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(server.Upload({{"rank0.json", ""}}, request), StatusIs(kInvalid, "empty"));
  }
  EXPECT_THAT(server.Upload({{"rank0.json", GoodEt()}}, request), IsOk());
}

}  // namespace
}  // namespace chakrad
