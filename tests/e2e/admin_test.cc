// Care of the store, as an operator does it: backup, restore, status, verify.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/admin.grpc.pb.h"
#include "client/json.h"
#include "common/status_matchers.h"
#include "storage/backup.h"
#include "tests/e2e/run_chakra.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::map<std::string, std::string> Mlp() { return ReadFolder("tests/data/collected/mlp_dp/w2"); }

ServerOptions WithBackups() {
  ServerOptions options;
  options.backup_dir = MakeTempFolder();
  return options;
}

// Flips a byte in the middle of the largest blob file; false when there is none.
bool DamageLargestBlob(const std::string& data_dir) {
  fs::path largest;
  for (const auto& entry : fs::directory_iterator(data_dir + "/db")) {
    if (entry.path().extension() != ".blob") continue;
    if (largest.empty() || entry.file_size() > fs::file_size(largest)) largest = entry.path();
  }
  if (largest.empty()) return false;
  std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(fs::file_size(largest) / 2);
  file.seekg(middle);
  const char flipped = static_cast<char>(file.get() ^ 0x40);
  file.seekp(middle);
  file.put(flipped);
  return file.good();
}

TEST(AdminTest, ABackupMadeByOneCommandIsRestoredAndServed) {
  const ServerOptions options = WithBackups();
  TestServer server(options);
  ASSERT_OK_AND_ASSIGN(const v1::Trace kept, server.Upload(Mlp()));
  const Ran made = Chakra(server, {"backup", "create", "nightly"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("/nightly: 1 traces"));
  EXPECT_THAT(made.out, HasSubstr("--restore_from"));
  ASSERT_OK_AND_ASSIGN(const auto whole, server.Export(kept.name()));

  TestServer restored([&](const std::string& data_dir) {
    EXPECT_THAT(RestoreBackup(options.backup_dir + "/nightly", data_dir, nullptr), IsOk());
  });
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> names, restored.TraceNames());
  EXPECT_EQ(names, std::vector<std::string>{kept.name()});
  ASSERT_OK_AND_ASSIGN(const auto files, restored.Export(kept.name()));
  EXPECT_TRUE(files == whole);
  EXPECT_EQ(Chakra(restored, {"traces", "verify"}).exit_code, 0);
}

TEST(AdminTest, BackupsAreListedAsTextAndJson) {
  TestServer server(WithBackups());
  EXPECT_EQ(Chakra(server, {"backup", "ls"}).out, "no backups\n");
  ASSERT_EQ(Chakra(server, {"backup", "create", "a"}).exit_code, 0);
  ASSERT_EQ(Chakra(server, {"backup", "create", "b"}).exit_code, 0);
  EXPECT_THAT(Chakra(server, {"backup", "create", "b"}).err, HasSubstr("backup b exists"));
  const Ran text = Chakra(server, {"backup", "ls"});
  EXPECT_LT(text.out.find("a "), text.out.find("b ")) << text.out;
  const Ran json = Chakra(server, {"--output", "json", "backup", "ls"});
  const client::Json parsed = client::Json::parse(json.out);
  ASSERT_EQ(parsed["backups"].size(), 2u);
  EXPECT_EQ(parsed["backups"][1]["name"], "b");
  EXPECT_EQ(parsed["backups"][1]["traces_count"], 0);
}

TEST(AdminTest, WithoutABackupFolderTheFlagIsNamed) {
  TestServer server;
  const Ran ran = Chakra(server, {"backup", "create"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("--backup_dir"));
}

TEST(AdminTest, StatusTellsTracesBytesAndTenants) {
  TestServer server;
  v1::CreateUploadRequest request;
  (*request.mutable_labels())["tenant"] = "vision";
  ASSERT_THAT(server.Upload(Mlp(), request), IsOk());
  const Ran text = Chakra(server, {"status"});
  EXPECT_THAT(text.out, HasSubstr("1 traces"));
  EXPECT_THAT(text.out, HasSubstr("writable"));
  EXPECT_THAT(text.out, HasSubstr("vision"));
  const client::Json json = client::Json::parse(Chakra(server, {"--output", "json", "status"}).out);
  EXPECT_EQ(json["writable"], true);
  EXPECT_GT(json["stored_bytes"], 0);
  EXPECT_GT(json["disk_free_bytes"], 0);
  EXPECT_EQ(json["tenants"]["vision"]["traces_count"], 1);
  EXPECT_THAT(server.HttpGet("/metrics"), HasSubstr("chakrad_store_writable 1"));
}

TEST(AdminTest, VerifyNamesTheDamagedTraceAndTheOthersAreServed) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace small, server.Upload(Mlp()));
  ASSERT_OK_AND_ASSIGN(const v1::Trace large,
                       server.Upload(ReadFolder("tests/data/collected/dlrm/w4")));
  const Ran whole = Chakra(server, {"traces", "verify"});
  EXPECT_EQ(whole.exit_code, 0) << whole.out;
  EXPECT_THAT(whole.out, HasSubstr("2 traces"));
  EXPECT_THAT(whole.out, HasSubstr("all whole"));
  server.Restart();  // What the log held is in files now.
  server.Stop();
  ASSERT_TRUE(DamageLargestBlob(server.data_dir()));
  server.Restart();
  const Ran damaged = Chakra(server, {"traces", "verify"});
  EXPECT_EQ(damaged.exit_code, 1) << damaged.out;
  EXPECT_THAT(damaged.out, HasSubstr(" is damaged\n  rank "));
  EXPECT_THAT(damaged.out, HasSubstr("1 damaged"));
  int served = 0;
  for (const std::string& name : {small.name(), large.name()}) {
    const auto exported = server.Export(name);
    if (exported.ok()) {
      ++served;
      EXPECT_EQ(damaged.out.find(name + " is damaged"), std::string::npos);
    } else {
      EXPECT_THAT(exported, StatusIs(absl::StatusCode::kDataLoss, name.substr(7)));
      EXPECT_NE(damaged.out.find(name + " is damaged"), std::string::npos);
    }
  }
  EXPECT_EQ(served, 1);
  const Ran one = Chakra(server, {"traces", "verify", small.name()});
  EXPECT_THAT(one.out, HasSubstr("1 traces"));
}

TEST(AdminTest, VerifyingAnUnknownTraceIsNotFound) {
  TestServer server;
  const Ran ran = Chakra(server, {"traces", "verify", "t-17"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("t-17"));
}

}  // namespace
}  // namespace chakrad
