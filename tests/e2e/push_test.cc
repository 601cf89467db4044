// Traces that a client converted: pushed, equal to the same files uploaded; resumed,
// repeated, refused.
#include "client/push.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/encoded_trace.h"
#include "common/sha256.h"
#include "common/status_matchers.h"
#include "tests/e2e/test_server.h"
#include "trace/api/trace_content.h"
#include "trace/codec/rank_generator.h"
#include "trace/codec/rank_index.pb.h"
#include "trace/import/import.h"

namespace chakrad {
namespace {

using client::EncodedTrace;
using Request = v1::PushTraceRequest;

constexpr char kMlp[] = "tests/data/collected/mlp_dp/w2";

EncodedTrace Converted(const std::string& folder,
                       const std::map<std::string, std::string>& labels = {}) {
  std::vector<ImportFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back({entry.path().filename().string(), entry.path().string()});
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  auto imported = ImportTrace(files, ImportOptions());
  EXPECT_THAT(imported, IsOk());
  imported->trace.labels = labels;
  auto encoded = client::EncodeTrace(imported->trace);
  EXPECT_THAT(encoded, IsOk());
  encoded->ledgers = imported->ledgers;
  encoded->notices = imported->notices;
  return *std::move(encoded);
}

// Two ranks of the same chunks and one of its own.
EncodedTrace Small() {
  Trace trace;
  trace.world_size = 4;
  trace.groups.push_back({"world", "", {0, 1, 2, 3}});
  for (int32_t rank = 0; rank < 3; ++rank) {
    trace.ranks.push_back(RecordedLikeRank(rank == 2 ? 7 : 5, 2'000, /*cold=*/true));
    trace.ranks.back().rank = rank;
  }
  return client::EncodeTrace(trace).value();
}

client::PushOptions Options() {
  client::PushOptions options;
  options.sleep = [](std::chrono::milliseconds ms) { std::this_thread::sleep_for(ms); };
  return options;
}

absl::StatusOr<client::PushResult> Push(TestClient* server, const EncodedTrace& trace,
                                        const std::string& request_id) {
  return client::PushTrace(server->channel(), trace, request_id, Options());
}

absl::StatusOr<v1::Trace> GetTrace(TestClient* server, const std::string& name) {
  grpc::ClientContext context;
  v1::GetTraceRequest request;
  request.set_name(name);
  v1::Trace trace;
  RETURN_IF_ERROR(FromGrpc(server->traces().GetTrace(&context, request, &trace)));
  return trace;
}

// One stream, message by message.
class RawPush {
 public:
  explicit RawPush(TestClient* server) : stream_(server->ingest().PushTrace(&context_)) {}
  ~RawPush() { context_.TryCancel(); }

  RawPush& Begin(const EncodedTrace& trace, const std::string& request_id) {
    Request request;
    request.mutable_begin()->set_request_id(request_id);
    for (const auto& [key, value] : trace.labels) {
      (*request.mutable_begin()->mutable_labels())[key] = value;
    }
    request.mutable_begin()->set_content_hash(trace.content_hash);
    return Send(request);
  }
  RawPush& Header(const EncodedTrace& trace) {
    Request request;
    request.mutable_header()->set_world_size(trace.world_size);
    for (const ProcessGroup& group : trace.groups) {
      v1::ProcessGroup* added = request.mutable_header()->add_process_groups();
      added->set_group(group.name);
      added->mutable_ranks()->Add(group.ranks.begin(), group.ranks.end());
    }
    return Send(request);
  }
  RawPush& Rank(const RankIndex& index) {
    codec::RankIndexRecord record;
    RankIndexToProto(index, &record);
    Request request;
    request.set_rank_end(record.SerializeAsString());
    return Send(request);
  }
  RawPush& Chunk(const std::string& hash, const std::string& data, bool more = false) {
    Request request;
    request.mutable_chunk()->set_sha256(hash);
    request.mutable_chunk()->set_data(data);
    request.mutable_chunk()->set_more(more);
    return Send(request);
  }
  RawPush& End(int ranks_count) {
    Request request;
    request.mutable_end()->set_ranks_count(ranks_count);
    return Send(request);
  }
  RawPush& Send(const Request& request) {
    stream_->Write(request);
    return *this;
  }
  // The hashes that the server asks for.
  std::vector<std::string> Missing() {
    v1::PushTraceResponse response;
    EXPECT_TRUE(stream_->Read(&response) && response.has_missing());
    return {response.missing().sha256().begin(), response.missing().sha256().end()};
  }
  absl::Status Finish() {
    stream_->WritesDone();
    v1::PushTraceResponse response;
    while (stream_->Read(&response)) {
    }
    return FromGrpc(stream_->Finish());
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriterInterface<Request, v1::PushTraceResponse>> stream_;
};

void ExpectEmpty(TestServer* server) {
  const auto names = server->TraceNames();
  ASSERT_THAT(names, IsOk());
  EXPECT_TRUE(names->empty());
  EXPECT_NE(server->HttpGet("/metrics").find("chakrad_store_bytes 0"), std::string::npos);
}

TEST(PushTest, APushedTraceIsTheSameAsItsFilesUploaded) {
  for (const char* folder : {kMlp, "tests/data/collected/dlrm/w4"}) {
    SCOPED_TRACE(folder);
    TestServer server;
    v1::CreateUploadRequest request;
    (*request.mutable_labels())["job"] = "a";
    ASSERT_OK_AND_ASSIGN(const v1::Trace uploaded, server.Upload(ReadFolder(folder), request));
    ASSERT_OK_AND_ASSIGN(const client::PushResult pushed,
                         Push(&server, Converted(folder, {{"job", "a"}}), "push"));
    EXPECT_EQ(pushed.sent_bytes, 0);  // The upload had stored every chunk.
    EXPECT_NE(pushed.trace.name(), uploaded.name());
    ASSERT_OK_AND_ASSIGN(v1::Trace got, GetTrace(&server, pushed.trace.name()));
    v1::Trace want = uploaded;
    for (v1::Trace* trace : {&got, &want}) {
      trace->clear_name();
      trace->clear_create_time();
    }
    google::protobuf::util::MessageDifferencer differencer;
    std::string differences;
    differencer.ReportDifferencesToString(&differences);
    EXPECT_TRUE(differencer.Compare(got, want)) << differences;
    ASSERT_OK_AND_ASSIGN(const auto want_files, server.Export(uploaded.name()));
    ASSERT_OK_AND_ASSIGN(const auto got_files, server.Export(pushed.trace.name()));
    EXPECT_TRUE(got_files == want_files);
  }
}

TEST(PushTest, APushIntoAnEmptyStoreSendsEachChunkOnceAndIsSimulatedAsAnyTrace) {
  TestServer server;
  const EncodedTrace trace = Converted(kMlp);
  ASSERT_OK_AND_ASSIGN(const client::PushResult pushed, Push(&server, trace, "push"));
  EXPECT_EQ(pushed.sent_bytes, trace.chunk_bytes);
  EXPECT_FALSE(pushed.known);
  server.Restart();
  ASSERT_OK_AND_ASSIGN(const v1::Job job, server.Run(SpecOf(pushed.trace, "Ring")));
  EXPECT_EQ(job.state(), v1::Job::SUCCEEDED) << job.error();
}

TEST(PushTest, TheSameRequestAndTheSameContentAreTheSameTrace) {
  TestServer server;
  const EncodedTrace trace = Converted(kMlp, {{"job", "a"}});
  ASSERT_OK_AND_ASSIGN(const client::PushResult first, Push(&server, trace, "one"));
  server.Restart();
  for (const char* request_id : {"one", "two"}) {
    ASSERT_OK_AND_ASSIGN(const client::PushResult again, Push(&server, trace, request_id));
    EXPECT_TRUE(again.known);
    EXPECT_EQ(again.sent_bytes, 0);
    EXPECT_EQ(again.trace.name(), first.trace.name());
  }
  EXPECT_THAT(Push(&server, Converted(kMlp, {{"job", "b"}}), "one"),
              StatusIs(absl::StatusCode::kAlreadyExists, "its label job is a, not b"));
  EXPECT_THAT(Push(&server, Small(), "two"),
              StatusIs(absl::StatusCode::kAlreadyExists, "it has a label job=a"));
  ASSERT_OK_AND_ASSIGN(const auto names, server.TraceNames());
  EXPECT_EQ(names.size(), 1u);
}

TEST(PushTest, ADeletedTraceCanBePushedAgain) {
  TestServer server;
  ASSERT_OK_AND_ASSIGN(const client::PushResult first, Push(&server, Small(), "one"));
  grpc::ClientContext context;
  v1::DeleteTraceRequest request;
  request.set_name(first.trace.name());
  google::protobuf::Empty empty;
  ASSERT_THAT(FromGrpc(server.traces().DeleteTrace(&context, request, &empty)), IsOk());
  ASSERT_OK_AND_ASSIGN(const client::PushResult second, Push(&server, Small(), "one"));
  EXPECT_FALSE(second.known);
  EXPECT_EQ(second.sent_bytes, Small().chunk_bytes);
}

TEST(PushTest, ABrokenStreamsChunksAreNotSentAgain) {
  TestServer server;
  const EncodedTrace trace = Small();
  int64_t sent_bytes = 0;
  {
    RawPush push(&server);
    push.Begin(trace, "one").Header(trace).Rank(trace.ranks[0]);
    const std::vector<std::string> missing = push.Missing();
    ASSERT_GT(missing.size(), 2u);
    for (size_t i = 0; i < missing.size() / 2; ++i) {
      push.Chunk(missing[i], trace.chunks.at(missing[i]));
      sent_bytes += static_cast<int64_t>(trace.chunks.at(missing[i]).size());
    }
    EXPECT_THAT(push.Finish(), StatusIs(absl::StatusCode::kCancelled, "kept for a while"));
  }
  ASSERT_OK_AND_ASSIGN(const client::PushResult pushed, Push(&server, trace, "one"));
  EXPECT_EQ(pushed.sent_bytes, trace.chunk_bytes - sent_bytes);
}

// The first trace's chunks must not stay for ever, counted by the second.
TEST(PushTest, OtherContentUnderTheRequestIdOfABrokenStreamUsesNoneOfItsChunks) {
  TestServer server;
  const EncodedTrace broken = Small();
  {
    RawPush push(&server);
    push.Begin(broken, "one").Header(broken).Rank(broken.ranks[0]);
    for (const std::string& hash : push.Missing()) push.Chunk(hash, broken.chunks.at(hash));
    EXPECT_THAT(push.Finish(), StatusIs(absl::StatusCode::kCancelled, "kept for a while"));
  }
  ASSERT_OK_AND_ASSIGN(const client::PushResult other, Push(&server, Converted(kMlp), "one"));
  grpc::ClientContext context;
  v1::DeleteTraceRequest request;
  request.set_name(other.trace.name());
  google::protobuf::Empty empty;
  ASSERT_THAT(FromGrpc(server.traces().DeleteTrace(&context, request, &empty)), IsOk());
  EXPECT_NE(server.HttpGet("/metrics").find("\nchakrad_store_bytes 0\n"), std::string::npos);
}

TEST(PushTest, ItsRequestIdDoesNotAnswerAnUploadOfFiles) {
  TestServer server;
  ASSERT_THAT(Push(&server, Small(), "one"), IsOk());
  v1::CreateUploadRequest request;
  request.set_request_id("one");
  EXPECT_THAT(server.Create(request),
              StatusIs(absl::StatusCode::kAlreadyExists, "was pushed converted"));
}

TEST(PushTest, OnlyOneStreamARequest) {
  TestServer server;
  const EncodedTrace trace = Small();
  RawPush first(&server);
  first.Begin(trace, "one").Header(trace).Rank(trace.ranks[0]);
  first.Missing();
  RawPush second(&server);
  EXPECT_THAT(second.Begin(trace, "one").Finish(),
              StatusIs(absl::StatusCode::kAborted, "by another stream"));
}

TEST(PushTest, TwoRequestsOfOneContentAtOnceStoreItOnce) {
  TestServer server;
  const EncodedTrace trace = Small();
  std::vector<std::thread> threads;
  std::vector<std::string> names(4);
  for (size_t i = 0; i < names.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto pushed = Push(&server, trace, absl::StrCat("request-", i));
      if (pushed.ok()) names[i] = pushed->trace.name();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& name : names) EXPECT_EQ(name, names[0]);
  ASSERT_OK_AND_ASSIGN(const auto listed, server.TraceNames());
  EXPECT_EQ(listed, std::vector<std::string>{names[0]});
}

// What a hostile client does with a stream; it is refused, and nothing is stored.
class HostilePushTest : public testing::Test {
 protected:
  void ExpectRefused(const std::string& part, const std::function<void(RawPush*)>& send,
                     absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    RawPush push(&server_);
    send(&push);
    EXPECT_THAT(push.Finish(), StatusIs(code, part));
    ExpectEmpty(&server_);
  }
  // Up to the first rank, whose chunks are all sent but as `spoil` says.
  void SendRank(RawPush* push, const RankIndex& index,
                const std::function<void(const std::string&, std::string*)>& spoil) {
    push->Begin(trace_, "one").Header(trace_).Rank(index);
    for (const std::string& hash : push->Missing()) {
      std::string stored = trace_.chunks.at(hash);
      spoil(hash, &stored);
      push->Chunk(hash, stored);
    }
  }

  TestServer server_;
  EncodedTrace trace_ = Small();
};

TEST_F(HostilePushTest, BadBeginnings) {
  ExpectRefused("begin: must be the first", [](RawPush*) {});
  ExpectRefused("begin: must be the first", [&](RawPush* push) { push->Header(trace_); });
  ExpectRefused("request_id", [&](RawPush* push) { push->Begin(trace_, "a b"); });
  ExpectRefused("begin: came twice",
                [&](RawPush* push) { push->Begin(trace_, "one").Begin(trace_, "one"); });
  EncodedTrace other = trace_;
  other.content_hash = "short";
  ExpectRefused("content_hash: has 5 bytes", [&](RawPush* push) { push->Begin(other, "one"); });
  other = trace_;
  other.world_size = 2'000'000'000;
  ExpectRefused("world_size: 2000000000", [&](RawPush* push) {
    push->Begin(trace_, "one").Header(other).Rank(trace_.ranks[0]);
  });
  other = trace_;
  other.groups[0].ranks[1] = 5;
  ExpectRefused("process_groups[0]", [&](RawPush* push) {
    push->Begin(trace_, "one").Header(other).Rank(trace_.ranks[0]);
  });
  ExpectRefused("came before the header",
                [&](RawPush* push) { push->Begin(trace_, "one").Rank(trace_.ranks[0]); });
  ExpectRefused("end: came before the header",
                [&](RawPush* push) { push->Begin(trace_, "one").End(0); });
  ExpectRefused("ranks: none",
                [&](RawPush* push) { push->Begin(trace_, "one").Header(trace_).End(0); });
}

TEST_F(HostilePushTest, BadRanks) {
  const auto with_rank = [&](const std::function<void(RankIndex*)>& change) {
    return [&, change](RawPush* push) {
      RankIndex index = trace_.ranks[0];
      change(&index);
      push->Begin(trace_, "one").Header(trace_).Rank(index);
    };
  };
  ExpectRefused("rank: 4 is not in [0, 4)", with_rank([](RankIndex* i) { i->header.rank = 4; }));
  ExpectRefused("rank: -1 is not", with_rank([](RankIndex* i) { i->header.rank = -1; }));
  ExpectRefused("31 bytes", with_rank([](RankIndex* i) { i->hot[0].hash.pop_back(); }));
  ExpectRefused("does not tell what", with_rank([](RankIndex* i) { i->has_spans = false; }));
  ExpectRefused("rank: 0 came twice", [&](RawPush* push) {
    push->Begin(trace_, "one").Header(trace_).Rank(trace_.ranks[0]).Rank(trace_.ranks[0]);
  });
  ExpectRefused("is no RankIndexRecord", [&](RawPush* push) {
    codec::RankIndexRecord record;
    RankIndexToProto(trace_.ranks[0], &record);
    std::string bytes = record.SerializeAsString();
    bytes.pop_back();
    Request request;
    request.set_rank_end(bytes);
    push->Begin(trace_, "one").Header(trace_).Send(request);
  });
  ExpectRefused(
      "takes more than",
      [&](RawPush* push) {
        Request request;
        request.set_rank(std::string(1 << 20, 'x'));
        push->Begin(trace_, "one").Header(trace_);
        for (int i = 0; i < 8; ++i) push->Send(request);
      },
      absl::StatusCode::kResourceExhausted);
}

TEST_F(HostilePushTest, BadChunks) {
  const RankIndex& rank = trace_.ranks[0];
  ExpectRefused("does not match its hash", [&](RawPush* push) {
    SendRank(push, rank, [](const std::string&, std::string* stored) { stored->back() ^= 1; });
  });
  ExpectRefused("is of no rank that was named", [&](RawPush* push) {
    push->Begin(trace_, "one").Header(trace_).Chunk(Sha256Of("x"), "x");
  });
  ExpectRefused("is there already", [&](RawPush* push) {
    SendRank(push, rank, [](const std::string&, std::string*) {});
    push->Chunk(rank.hot[0].hash, trace_.chunks.at(rank.hot[0].hash));
  });
  ExpectRefused("chunk: has 0 bytes",
                [&](RawPush* push) { push->Begin(trace_, "one").Header(trace_).Chunk("", "x"); });
  ExpectRefused("the rest of it did not follow", [&](RawPush* push) {
    push->Begin(trace_, "one").Header(trace_).Chunk(rank.hot[0].hash, "x", true).End(1);
  });
  ExpectRefused("another one came before", [&](RawPush* push) {
    push->Begin(trace_, "one").Header(trace_).Chunk(rank.hot[0].hash, "x", true);
    push->Chunk(rank.hot[1].hash, "x");
  });
  ExpectRefused("is larger than", [&](RawPush* push) {  // "2 GB", a MiB at a time.
    push->Begin(trace_, "one").Header(trace_);
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 2'000; ++i) push->Chunk(rank.hot[0].hash, piece, true);
  });
}

// Right hashes over chunks that are none, or that do not fit their index.
TEST_F(HostilePushTest, ChunksThatAreWhatTheirHashSaysAndNoColumns) {
  EncodedTrace forged = trace_;
  forged.ranks.resize(1);
  const auto push_forged = [&](RawPush* push) {
    std::vector<const RankIndex*> ranks = {&forged.ranks[0]};
    forged.content_hash = TraceContentHash(forged.labels, forged.world_size, forged.groups, ranks);
    push->Begin(forged, "one").Header(forged).Rank(forged.ranks[0]);
    for (const std::string& hash : push->Missing()) push->Chunk(hash, forged.chunks.at(hash));
    push->End(1);
  };
  const auto replace = [&](ChunkRef* ref, const std::string& stored) {
    ref->hash = Sha256Of(stored);
    forged.chunks[ref->hash] = stored;
  };
  const std::string nodes = trace_.chunks.at(trace_.ranks[0].hot[0].hash);
  replace(&forged.ranks[0].hot[0], "no chunk");
  ExpectRefused("", push_forged);
  replace(&forged.ranks[0].hot[0], nodes.substr(0, nodes.size() - 1));
  ExpectRefused("rank 0: ", push_forged);
  std::string claims = nodes.substr(0, 2);  // A frame that claims 2 GB.
  claims += std::string("\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x80", 9) + "xxxx";
  replace(&forged.ranks[0].hot[0], claims);
  ExpectRefused("claims too much", push_forged);
  replace(&forged.ranks[0].hot[0], nodes);
  forged.ranks[0].header.nodes_count = UINT32_MAX;
  ExpectRefused("rank 0: ", push_forged);
  forged.ranks[0].header.nodes_count = trace_.ranks[0].header.nodes_count;
  std::swap(forged.ranks[0].hot[0], forged.ranks[0].hot[1]);
  ExpectRefused("rank 0: ", push_forged);
}

TEST_F(HostilePushTest, BadEnds) {
  const auto all_sent = [&](RawPush* push) {
    push->Begin(trace_, "one").Header(trace_);
    for (const RankIndex& rank : trace_.ranks) {
      push->Rank(rank);
      for (const std::string& hash : push->Missing()) push->Chunk(hash, trace_.chunks.at(hash));
    }
  };
  ExpectRefused("ranks_count is 4", [&](RawPush* push) {
    all_sent(push);
    push->End(4);
  });
  ExpectRefused("did not come", [&](RawPush* push) {
    push->Begin(trace_, "one").Header(trace_).Rank(trace_.ranks[0]).End(1);
  });
  trace_.content_hash[3] ^= 1;
  ExpectRefused("was claimed", [&](RawPush* push) {
    all_sent(push);
    push->End(3);
  });
}

TEST_F(HostilePushTest, ADependencyCycleIsNamed) {
  Trace trace;
  trace.world_size = 1;
  trace.groups.push_back({"world", "", {0}});
  trace.ranks.push_back(RecordedLikeRank(5, 100, /*cold=*/false));
  trace.ranks[0].rank = 0;
  trace.ranks[0].dep_node[0] = 99;  // Which waits for what waits for node 1.
  const EncodedTrace cyclic = client::EncodeTrace(trace).value();
  EXPECT_THAT(Push(&server_, cyclic, "one"),
              StatusIs(absl::StatusCode::kInvalidArgument, "rank 0: dependency cycle"));
  ExpectEmpty(&server_);
}

}  // namespace
}  // namespace chakrad
