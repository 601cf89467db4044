// A disk that is full, read-only or gone under the real daemon: clear errors, reads go on,
// and writes do by themselves once there is space.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/encoded_trace.h"
#include "client/push.h"
#include "common/status_matchers.h"
#include "tests/e2e/test_server.h"
#include "tests/fault/daemon_process.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

constexpr char kMlp[] = "tests/data/collected/mlp_dp/w2";

int64_t FreeBytes(const std::string& folder) {
  struct statvfs disk;
  EXPECT_EQ(statvfs(folder.c_str(), &disk), 0);
  return static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
}

// A file of so many bytes, all of them allocated.
class Ballast {
 public:
  Ballast(const std::string& folder, int64_t bytes) : path_(folder + "/ballast") {
    const int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(posix_fallocate(fd, 0, bytes), 0);
    close(fd);
  }
  ~Ballast() { Drop(); }
  void Drop() { unlink(path_.c_str()); }

 private:
  const std::string path_;
};

// Some hundred KB of chunks: more than a record may take of the reserve.
absl::Status Push(TestClient* client, const std::string& request_id) {
  Trace trace;
  trace.world_size = 1;
  trace.groups.push_back({"world", "", {0}});
  trace.ranks.push_back(RecordedLikeRank(3, 30'000, /*cold=*/false));
  trace.ranks[0].rank = 0;
  ASSIGN_OR_RETURN(const client::EncodedTrace encoded, client::EncodeTrace(trace));
  EXPECT_GT(encoded.chunk_bytes, 200'000);
  client::PushOptions options;
  options.retry.attempts_max = 1;
  options.sleep = [](std::chrono::milliseconds) {};
  return client::PushTrace(client->channel(), encoded, request_id, options).status();
}

TEST(DiskFullTest, UploadsAreRefusedReadsGoOnAndWritesResumeByThemselves) {
  const std::string folder = MakeTempFolder();
  const int64_t free_bytes = FreeBytes(folder);
  const int64_t room_bytes = std::min<int64_t>(int64_t{1} << 30, free_bytes / 4);
  DaemonProcess daemon(folder, {"--reserve_bytes", absl::StrCat(free_bytes - room_bytes)});
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
  TestClient client;
  client.Connect(daemon.grpc_address());
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, client.Upload(ReadFolder(kMlp)));
  ASSERT_OK_AND_ASSIGN(const auto exported, client.Export(trace.name()));

  Ballast ballast(folder, 2 * room_bytes);
  v1::CreateUploadRequest request;
  request.set_request_id("again");
  (*request.mutable_labels())["try"] = "again";
  const auto is_refused = StatusIs(absl::StatusCode::kResourceExhausted, "are kept in reserve");
  EXPECT_THAT(client.Upload(ReadFolder(kMlp), request), is_refused);
  EXPECT_THAT(Push(&client, "push"), is_refused);
  ASSERT_OK_AND_ASSIGN(auto names, client.TraceNames());
  EXPECT_EQ(names, std::vector<std::string>{trace.name()});
  ASSERT_OK_AND_ASSIGN(const auto exported_again, client.Export(trace.name()));
  EXPECT_TRUE(exported_again == exported);
  ASSERT_OK_AND_ASSIGN(const v1::Job job, client.Run(SpecOf(trace, "Ring")));
  EXPECT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();

  ballast.Drop();
  ASSERT_OK_AND_ASSIGN(const v1::Trace second, client.Upload(ReadFolder(kMlp), request));
  EXPECT_THAT(Push(&client, "push"), IsOk());
  ASSERT_OK_AND_ASSIGN(names, client.TraceNames());
  EXPECT_EQ(names.size(), 3u);
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.Wait(), 0) << daemon.Errors();
}

TEST(DiskFullTest, AFolderThatCannotBeMadeIsOneLine) {
  DaemonProcess daemon("/proc/chakrad");  // Nobody may, not even root.
  EXPECT_FALSE(daemon.WaitUntilReady());
  EXPECT_EQ(daemon.Wait(), 1);
  const std::string errors = daemon.Errors();
  EXPECT_EQ(errors.rfind("chakrad: data_dir: ", 0), 0u) << errors;
  EXPECT_NE(errors.find("/proc/chakrad"), std::string::npos) << errors;
  EXPECT_EQ(errors.find('\n'), errors.size() - 1) << errors;
}

TEST(DiskFullTest, AFolderRemovedUnderTheDaemonIsAnErrorAndNoCrash) {
  const std::string folder = MakeTempFolder();
  DaemonProcess daemon(folder);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
  TestClient client;
  client.Connect(daemon.grpc_address());
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, client.Upload(ReadFolder(kMlp)));
  std::filesystem::remove_all(folder);
  v1::CreateUploadRequest request;
  (*request.mutable_labels())["try"] = "again";
  EXPECT_FALSE(client.Upload(ReadFolder(kMlp), request).ok());
  EXPECT_FALSE(Push(&client, "push").ok());
  ASSERT_OK_AND_ASSIGN(const auto names, client.TraceNames());  // It still answers.
  EXPECT_EQ(names, std::vector<std::string>{trace.name()});
  daemon.Signal(SIGTERM);
  EXPECT_GE(daemon.Wait(), 0) << daemon.Errors();
}

}  // namespace
}  // namespace chakrad
