// Uploads resume, repeat without effect, and survive restarts.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

std::map<std::string, std::string> Mlp() { return ReadFolder("tests/data/collected/mlp_dp/w2"); }

absl::StatusOr<v1::Upload> Query(TestServer* server, const std::string& name) {
  grpc::ClientContext context;
  v1::QueryUploadRequest request;
  request.set_name(name);
  v1::Upload upload;
  if (const auto status = FromGrpc(server->ingest().QueryUpload(&context, request, &upload));
      !status.ok()) {
    return status;
  }
  return upload;
}

// Sends one piece and waits for its answer.
absl::StatusOr<int64_t> WriteOne(TestServer* server, const std::string& upload,
                                 const std::string& file, int64_t offset, const std::string& data) {
  grpc::ClientContext context;
  const auto stream = server->ingest().Write(&context);
  v1::WriteRequest piece;
  piece.set_upload(upload);
  piece.set_file(file);
  piece.set_offset(offset);
  piece.set_data(data);
  stream->Write(piece);
  v1::WriteResponse response;
  const bool answered = stream->Read(&response);  // Before the stream is half closed.
  stream->WritesDone();
  const absl::Status status = FromGrpc(stream->Finish());
  if (!status.ok()) return status;
  if (!answered) return absl::InternalError("no answer");
  return response.committed_bytes();
}

TEST(UploadTest, EachPieceIsAnsweredWhileTheStreamStaysOpen) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create({}));
  ASSERT_OK_AND_ASSIGN(const int64_t committed,
                       WriteOne(&server, upload.name(), "a.json", 0, "hello"));
  EXPECT_EQ(committed, 5);
}

TEST(UploadTest, ABrokenUploadGoesOnFromTheCommittedOffset) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create({}));
  std::map<std::string, std::string> files = Mlp();
  for (const auto& [file, bytes] : files) {
    const std::string first = bytes.substr(0, bytes.size() / 2);
    ASSERT_THAT(WriteOne(&server, upload.name(), file, 0, first), IsOk());
  }
  server.Restart();
  ASSERT_OK_AND_ASSIGN(const v1::Upload after, Query(&server, upload.name()));
  ASSERT_EQ(after.files_size(), static_cast<int>(files.size()));
  for (const v1::UploadFile& file : after.files()) {
    const std::string& bytes = files[file.file()];
    ASSERT_EQ(file.committed_bytes(), static_cast<int64_t>(bytes.size() / 2));
    ASSERT_THAT(WriteOne(&server, upload.name(), file.file(), file.committed_bytes(),
                         bytes.substr(static_cast<size_t>(file.committed_bytes()))),
                IsOk());
  }
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, server.Seal(upload.name()));
  EXPECT_EQ(trace.ranks_size(), 2);
}

TEST(UploadTest, APieceThatWasSentBeforeIsSkippedAndAGapIsRefused) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create({}));
  ASSERT_THAT(WriteOne(&server, upload.name(), "f", 0, "0123456789"), IsOk());
  ASSERT_OK_AND_ASSIGN(int64_t committed, WriteOne(&server, upload.name(), "f", 2, "2345"));
  EXPECT_EQ(committed, 10);
  ASSERT_OK_AND_ASSIGN(committed, WriteOne(&server, upload.name(), "f", 8, "89ab"));
  EXPECT_EQ(committed, 12);
  EXPECT_THAT(WriteOne(&server, upload.name(), "f", 13, "x"),
              StatusIs(absl::StatusCode::kOutOfRange, "f has 12 bytes"));
  EXPECT_THAT(WriteOne(&server, upload.name(), "f", -1, "x"),
              StatusIs(absl::StatusCode::kOutOfRange, "-1"));
}

TEST(UploadTest, TheSameRequestIsTheSameUploadAndTheSameTrace) {
  TestServer server;
  v1::CreateUploadRequest request;
  request.set_request_id("nightly-2024-01-02");
  ASSERT_OK_AND_ASSIGN(const v1::Upload first, server.Create(request));
  ASSERT_OK_AND_ASSIGN(const v1::Upload second, server.Create(request));
  EXPECT_EQ(first.name(), second.name());
  ASSERT_THAT(server.Write(first.name(), Mlp()), IsOk());
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, server.Seal(first.name()));
  server.Restart();
  ASSERT_OK_AND_ASSIGN(const v1::Upload third, server.Create(request));
  EXPECT_EQ(third.state(), v1::Upload::SEALED);
  EXPECT_EQ(third.trace(), trace.name());
  ASSERT_OK_AND_ASSIGN(const v1::Trace again, server.Seal(first.name()));
  EXPECT_EQ(again.name(), trace.name());
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> names, server.TraceNames());
  EXPECT_EQ(names, std::vector<std::string>{trace.name()});
  EXPECT_THAT(server.Write(first.name(), Mlp()),
              StatusIs(absl::StatusCode::kFailedPrecondition, trace.name()));
}

TEST(UploadTest, ADeletedTraceCanBePushedAgain) {
  TestServer server;
  v1::CreateUploadRequest request;
  request.set_request_id("nightly");
  ASSERT_OK_AND_ASSIGN(const v1::Trace trace, server.Upload(Mlp(), request));
  grpc::ClientContext context;
  v1::DeleteTraceRequest remove;
  remove.set_name(trace.name());
  google::protobuf::Empty empty;
  ASSERT_THAT(FromGrpc(server.traces().DeleteTrace(&context, remove, &empty)), IsOk());
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create(request));
  EXPECT_EQ(upload.state(), v1::Upload::OPEN);
  ASSERT_OK_AND_ASSIGN(const v1::Trace again, server.Upload(Mlp(), request));
  EXPECT_NE(again.name(), trace.name());
}

TEST(UploadTest, ASecondStreamAndASealDuringAStreamAreAborted) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create({}));
  grpc::ClientContext context;
  const auto stream = server.ingest().Write(&context);
  v1::WriteRequest piece;
  piece.set_upload(upload.name());
  piece.set_file("f");
  piece.set_data("x");
  stream->Write(piece);
  v1::WriteResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(WriteOne(&server, upload.name(), "f", 1, "y"),
              StatusIs(absl::StatusCode::kAborted, "being written"));
  EXPECT_THAT(server.Seal(upload.name()),
              StatusIs(absl::StatusCode::kAborted, "still being written"));
  stream->WritesDone();
  EXPECT_THAT(FromGrpc(stream->Finish()), IsOk());
  EXPECT_THAT(WriteOne(&server, upload.name(), "f", 1, "y"), IsOk());
}

TEST(UploadTest, LimitsAreToldWithTheirNumbers) {
  ServerOptions options;
  options.limits.upload_bytes = 10;
  options.limits.upload_files = 2;
  options.limits.open_uploads = 1;
  TestServer server(options);
  v1::CreateUploadRequest request;
  request.set_request_id("mine");
  ASSERT_OK_AND_ASSIGN(const v1::Upload upload, server.Create(request));
  ASSERT_OK_AND_ASSIGN(const v1::Upload asked_again, server.Create(request));  // No limit.
  EXPECT_EQ(asked_again.name(), upload.name());
  EXPECT_THAT(server.Create({}),
              StatusIs(absl::StatusCode::kResourceExhausted, "1 uploads are open"));
  EXPECT_THAT(WriteOne(&server, upload.name(), "a", 0, "0123456789a"),
              StatusIs(absl::StatusCode::kResourceExhausted, "exceed 10 bytes"));
  ASSERT_THAT(WriteOne(&server, upload.name(), "a", 0, "0"), IsOk());
  ASSERT_THAT(WriteOne(&server, upload.name(), "b", 0, "0"), IsOk());
  EXPECT_THAT(WriteOne(&server, upload.name(), "c", 0, "0"),
              StatusIs(absl::StatusCode::kResourceExhausted, "2 files"));
  EXPECT_THAT(WriteOne(&server, upload.name(), std::string(5000, 'n'), 0, "0"),
              StatusIs(absl::StatusCode::kInvalidArgument, "5000 bytes"));
  EXPECT_THAT(WriteOne(&server, upload.name(), "a", 1, std::string((1 << 20) + 1, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument, "larger than 1048576"));
  EXPECT_THAT(WriteOne(&server, "uploads/u-none", "a", 0, "x"),
              StatusIs(absl::StatusCode::kNotFound, "u-none"));
  EXPECT_THAT(WriteOne(&server, "u-none", "a", 0, "x"),
              StatusIs(absl::StatusCode::kInvalidArgument, "uploads/{id}"));
}

}  // namespace
}  // namespace chakrad
