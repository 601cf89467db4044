// Uploads as a fleet makes them: several hosts at once, daemons that restart, files
// that are known already, tenants with bounds.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/json.h"
#include "client/session.h"
#include "common/sha256.h"
#include "common/status_matchers.h"
#include "storage/open.h"
#include "tests/e2e/run_chakra.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

constexpr char kMlp[] = "tests/data/collected/mlp_dp/w2";

Files Mlp() { return ReadFolder(kMlp); }

v1::CreateUploadRequest Joint(const std::string& request_id, int expected_files,
                              int64_t seal_after_seconds = 0) {
  v1::CreateUploadRequest request;
  request.set_request_id(request_id);
  request.mutable_join()->set_expected_files(expected_files);
  request.mutable_join()->set_seal_after_seconds(seal_after_seconds);
  return request;
}

void Claim(const Files& files, v1::CreateUploadRequest* request) {
  for (const auto& [file, bytes] : files) {
    v1::FileClaim* claim = request->add_files();
    claim->set_file(file);
    claim->set_size_bytes(static_cast<int64_t>(bytes.size()));
    claim->set_sha256(Sha256Of(bytes));
  }
}

absl::StatusOr<v1::Upload> Query(TestServer* server, const std::string& name) {
  grpc::ClientContext context;
  v1::QueryUploadRequest request;
  request.set_name(name);
  v1::Upload upload;
  RETURN_IF_ERROR(FromGrpc(server->ingest().QueryUpload(&context, request, &upload)));
  return upload;
}

// Sends bytes of a file from `offset` on and waits for the end of the stream.
absl::Status WriteFrom(TestServer* server, const std::string& upload, const std::string& file,
                       int64_t offset, const std::string& bytes, bool last) {
  grpc::ClientContext context;
  const auto stream = server->ingest().Write(&context);
  v1::WriteRequest piece;
  piece.set_upload(upload);
  piece.set_file(file);
  piece.set_offset(offset);
  piece.set_data(bytes);
  piece.set_last(last);
  stream->Write(piece);
  stream->WritesDone();
  v1::WriteResponse response;
  while (stream->Read(&response)) {
  }
  return FromGrpc(stream->Finish());
}

absl::Status WriteComplete(TestServer* server, const std::string& upload, const Files& files) {
  for (const auto& [file, bytes] : files) {
    RETURN_IF_ERROR(WriteFrom(server, upload, file, 0, bytes, /*last=*/true));
  }
  return absl::OkStatus();
}

// As last seen within twenty seconds, at best in the state that is waited for.
v1::Upload WaitFor(TestServer* server, const std::string& name, v1::Upload::State state) {
  v1::Upload upload;
  for (int i = 0; i < 1000; ++i) {
    const auto now = Query(server, name);
    if (now.ok()) upload = *now;
    if (upload.state() == state) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(upload.state(), state) << upload.error();
  return upload;
}

absl::StatusOr<v1::Trace> GetTrace(TestServer* server, const std::string& name) {
  grpc::ClientContext context;
  v1::GetTraceRequest request;
  request.set_name(name);
  v1::Trace trace;
  RETURN_IF_ERROR(FromGrpc(server->traces().GetTrace(&context, request, &trace)));
  return trace;
}

// A folder with those of the bundled files whose names begin so.
std::string HostFolder(const std::string& prefix) {
  const std::string folder = MakeTempFolder();
  for (const auto& [file, bytes] : Mlp()) {
    if (file.rfind(prefix, 0) == 0) std::ofstream(folder + "/" + file, std::ios::binary) << bytes;
  }
  return folder;
}

TEST(JointUploadTest, HostsThatPushAtTheSameTimeWaitForOneTrace) {
  TestServer server;
  const std::vector<std::string> folders = {HostFolder("rank0"), HostFolder("rank1"),
                                            HostFolder("manifest")};
  std::vector<Ran> ran(folders.size());
  std::vector<std::thread> hosts;
  for (size_t host = 0; host < folders.size(); ++host) {
    hosts.emplace_back([&, host] {
      ran[host] = Chakra(server, {"--output", "json", "ingest", folders[host], "--join", "run-7",
                                  "--expect", "5", "--label", "job=mlp", "--wait"});
    });
  }
  for (std::thread& host : hosts) host.join();
  std::set<std::string> names;
  for (const Ran& host : ran) {
    ASSERT_EQ(host.exit_code, 0) << host.err;
    names.insert(host.json()["trace"]["name"].get<std::string>());
  }
  EXPECT_EQ(names.size(), 1u);
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, GetTrace(&server, *names.begin()));
  EXPECT_EQ(trace.ranks_size(), 2);
  EXPECT_EQ(trace.files_size(), static_cast<int>(Mlp().size()));
  EXPECT_EQ(trace.labels().at("job"), "mlp");
  // The same from one place is the same trace.
  const Ran again = Chakra(server, {"ingest", kMlp, "--label", "job=mlp"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("already stored as " + *names.begin()), std::string::npos) << again.out;
}

TEST(JointUploadTest, AnOpenOneSurvivesARestartAndIsSealedByCount) {
  TestServer server;
  const Files files = Mlp();
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload,
                       server.Create(Joint("a", static_cast<int>(files.size()))));
  Files first = files;
  const auto second = first.extract(first.begin());
  ASSERT_THAT(WriteComplete(&server, upload.name(), first), IsOk());
  server.Restart();
  ASSERT_OK_AND_ASSIGN(const v1::Upload after, Query(&server, upload.name()));
  EXPECT_EQ(after.state(), v1::Upload::OPEN);
  EXPECT_EQ(after.complete_files_count(), static_cast<int>(first.size()));
  ASSERT_THAT(WriteComplete(&server, upload.name(), {{second.key(), second.mapped()}}), IsOk());
  const v1::Upload sealed = WaitFor(&server, upload.name(), v1::Upload::SEALED);
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, GetTrace(&server, sealed.trace()));
  EXPECT_EQ(trace.ranks_size(), 2);
}

TEST(JointUploadTest, OneThatWasBeingSealedWhenTheDaemonDiedIsSealedByTheNext) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create(Joint("a", 0)));
  ASSERT_THAT(WriteComplete(&server, upload.name(), Mlp()), IsOk());
  server.Stop();
  {  // As a daemon leaves it that dies right after the decision to seal.
    StoreOptions options;
    options.data_dir = server.data_dir();
    ASSERT_OK_AND_ASSIGN(const Stores stores, OpenRocksStores(options));
    ASSERT_OK_AND_ASSIGN(UploadRecord record, stores.uploads->FindByRequestId("a"));
    record.state = UploadRecord::State::kSealing;
    ASSERT_THAT(stores.uploads->Update(record), IsOk());
  }
  server.Restart();
  const v1::Upload sealed = WaitFor(&server, upload.name(), v1::Upload::SEALED);
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, GetTrace(&server, sealed.trace()));
  EXPECT_EQ(trace.ranks_size(), 2);
}

TEST(JointUploadTest, ATimeOutSealsWhatIsThereAndTheTraceSaysWhatIsNot) {
  TestServer server;
  Files files = Mlp();
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create(Joint("a", 100, 2)));
  const std::string cut = "rank1.kineto.json.gz";
  ASSERT_THAT(WriteFrom(&server, upload.name(), cut, 0, files[cut].substr(0, 100), false), IsOk());
  files.erase(cut);
  ASSERT_THAT(WriteComplete(&server, upload.name(), files), IsOk());
  const v1::Upload sealed = WaitFor(&server, upload.name(), v1::Upload::SEALED);
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, GetTrace(&server, sealed.trace()));
  ASSERT_GT(trace.notices_size(), 0);
  EXPECT_EQ(trace.notices(0),
            absl::StrCat("joint upload: sealed by time-out after 2 s, ", files.size(),
                         " files complete of 100 expected; left out, since not complete: ", cut,
                         " (100 bytes)"));
}

TEST(JointUploadTest, ARefusedOneShowsItsErrorUntilItIsDeleted) {
  TestServer server;
  const std::string folder = MakeTempFolder();
  std::ofstream(folder + "/rank0.json") << "{\"no\": \"trace\"}";
  const std::vector<std::string> push = {"ingest",   folder, "--join", "bad",
                                         "--expect", "1",    "--wait"};
  const Ran refused = Chakra(server, push);
  EXPECT_EQ(refused.exit_code, client::kExitFailed);
  EXPECT_NE(refused.err.find("rank0.json"), std::string::npos) << refused.err;
  server.Restart();
  const Ran list = Chakra(server, {"--output", "json", "uploads", "ls"});
  ASSERT_EQ(list.exit_code, 0) << list.err;
  ASSERT_EQ(list.json()["uploads"].size(), 1u) << list.out;
  EXPECT_EQ(list.json()["uploads"][0]["state"], "refused");
  const Ran show = Chakra(server, {"uploads", "show", "bad"});
  EXPECT_NE(show.out.find("error:   rank0.json"), std::string::npos) << show.out;
  EXPECT_EQ(Chakra(server, {"uploads", "rm", "bad"}).exit_code, 0);
  std::ofstream(folder + "/rank0.json") << Mlp()["manifest.json"];
  EXPECT_EQ(Chakra(server, {"uploads", "ls"}).out, "no uploads in progress\n");
  EXPECT_EQ(Chakra(server, push).exit_code, client::kExitFailed);  // Anew: refused anew.
}

TEST(JointUploadTest, ABrokenStreamGoesOnFileByFile) {
  TestServer server;
  const Files files = Mlp();
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload,
                       server.Create(Joint("a", static_cast<int>(files.size()))));
  for (const auto& [file, bytes] : files) {  // Half of each, then the host is gone.
    ASSERT_THAT(
        WriteFrom(&server, upload.name(), file, 0, bytes.substr(0, bytes.size() / 2), false),
        IsOk());
  }
  const Ran resumed = Chakra(server, {"--output", "json", "ingest", kMlp, "--join", "a", "--expect",
                                      absl::StrCat(files.size()), "--wait"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["trace"]["ranks"].size(), 2u);
}

TEST(JointUploadTest, TwoFilesOfOneNameAreNotTakenForOne) {
  TestServer server;
  const std::string one = MakeTempFolder();
  const std::string other = MakeTempFolder();
  std::ofstream(one + "/trace.json") << "{\"a\": 1}";
  std::ofstream(other + "/trace.json") << "{\"b\": 1}";
  EXPECT_EQ(Chakra(server, {"ingest", one, "--join", "a", "--expect", "2"}).exit_code, 0);
  const Ran second = Chakra(server, {"ingest", other, "--join", "a", "--expect", "2"});
  EXPECT_EQ(second.exit_code, client::kExitFailed);
  EXPECT_NE(second.err.find("another file of this name"), std::string::npos) << second.err;
}

TEST(JointUploadTest, AHostThatComesTooLateIsTold) {
  TestServer server;
  const std::vector<std::string> join = {"--join", "a", "--expect", "3"};
  const auto push = [&](const std::string& folder) {
    std::vector<std::string> args = {"ingest", folder};
    args.insert(args.end(), join.begin(), join.end());
    return Chakra(server, args);
  };
  const std::string early = HostFolder("rank0");
  EXPECT_EQ(push(early).exit_code, 0);
  EXPECT_EQ(Chakra(server, {"uploads", "seal", "a"}).exit_code, 0);
  const Ran late = push(HostFolder("rank1"));
  EXPECT_EQ(late.exit_code, client::kExitFailed);
  EXPECT_NE(late.err.find("was sealed before 2 of 2 files were there"), std::string::npos)
      << late.err;
  EXPECT_EQ(push(early).exit_code, 0);  // Those are in it.
}

TEST(UploadContentTest, EightThreadsThatPushTheSameStoreItOnce) {
  TestServer server;
  std::vector<std::thread> threads;
  std::vector<std::string> names(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      TestClient own;
      own.Connect(absl::StrCat("127.0.0.1:", server.port()));
      v1::CreateUploadRequest request;
      request.set_request_id(absl::StrCat("thread-", i));
      const auto trace = own.Upload(Mlp(), request);
      ASSERT_THAT(trace, IsOk());
      names[i] = trace->name();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 1u);
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> stored, server.TraceNames());
  EXPECT_EQ(stored.size(), 1u);
}

TEST(UploadContentTest, ClaimedFilesOfAStoredTraceNeedNoBytesAlsoAfterARestart) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, server.Upload(Mlp()));
  server.Restart();
  v1::CreateUploadRequest request;
  request.set_request_id("claimed");
  Claim(Mlp(), &request);
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create(request));
  EXPECT_EQ(upload.state(), v1::Upload::SEALED);
  EXPECT_EQ(upload.trace(), trace.name());
  (*request.mutable_labels())["job"] = "other";
  EXPECT_THAT(server.Create(request),
              StatusIs(absl::StatusCode::kAlreadyExists, "labels: job was absent"));
  request.set_request_id("other");
  ASSERT_OK_AND_ASSIGN(const v1::Upload other, server.Create(request));
  EXPECT_EQ(other.state(), v1::Upload::OPEN);
}

TEST(UploadBoundsTest, ATenantThatIsFullIsToldAndOthersGoOn) {
  ServerOptions options;
  options.limits.tenant_bytes = 1000;
  TestServer server(options);
  v1::CreateUploadRequest red;
  (*red.mutable_labels())["tenant"] = "red";
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create(red));
  ASSERT_THAT(WriteFrom(&server, upload.name(), "f", 0, std::string(900, 'x'), false), IsOk());
  EXPECT_THAT(WriteFrom(&server, upload.name(), "g", 0, std::string(101, 'x'), false),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "101 more would exceed 1000 (--max_tenant_bytes)"));
  v1::CreateUploadRequest blue;
  (*blue.mutable_labels())["tenant"] = "blue";
  ASSERT_OK_AND_ASSIGN(const v1::Upload other, server.Create(blue));
  EXPECT_THAT(WriteFrom(&server, other.name(), "f", 0, std::string(1000, 'x'), false), IsOk());
  EXPECT_THAT(server.Create(blue), StatusIs(absl::StatusCode::kResourceExhausted, "\"blue\""));
}

TEST(RawFilesTest, KeptFilesComeBackByteForByte) {
  TestServer server;
  const Ran pushed = Chakra(server, {"--output", "json", "ingest", kMlp, "--keep-files"});
  ASSERT_EQ(pushed.exit_code, 0) << pushed.err;
  const std::string trace = pushed.json()["trace"]["name"].get<std::string>();
  const std::string folder = MakeTempFolder() + "/raw";
  const Ran raw = Chakra(server, {"traces", "raw", trace, "-o", folder});
  ASSERT_EQ(raw.exit_code, 0) << raw.err;
  EXPECT_EQ(ReadFolder(folder), Mlp());
  const Ran one = Chakra(server, {"traces", "raw", trace, "manifest.json", "-o", "-"});
  EXPECT_EQ(one.out, Mlp()["manifest.json"]);
  const Ran none = Chakra(server, {"traces", "raw", trace, "nothing.json", "-o", "-"});
  EXPECT_EQ(none.exit_code, client::kExitFailed);
  EXPECT_NE(none.err.find("nothing.json"), std::string::npos) << none.err;
}

TEST(UploadListTest, AnUploadOfManyLongNamesFitsIntoAnAnswer) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create({}));
  Files files;
  for (int i = 0; i < 4000; ++i) files[absl::StrCat(i, std::string(1000, 'n'))] = "";
  ASSERT_THAT(server.Write(upload.name(), files), IsOk());
  ASSERT_OK_AND_ASSIGN(const v1::Upload now, Query(&server, upload.name()));
  EXPECT_EQ(now.files_count(), 4000);
  EXPECT_LT(now.files_size(), 4000);
  EXPECT_LE(now.ByteSizeLong(), 3u << 20);
  EXPECT_GT(now.ByteSizeLong(), 2u << 20);
}

}  // namespace
}  // namespace chakrad
