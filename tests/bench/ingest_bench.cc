// Ingest of converted traces against its ceilings, side by side, on the same bytes:
//
//   (a) a gRPC stream of the chunks to a server that drops them
//   (b) RocksDB writes of the chunks: engine settings, log and syncs as the store's
//   (c) PushTrace into a whole server in this process, over a store on disk
//
//   ingest_bench [--nodes N] [--ranks R] [--traces T] [--streams S] [--rounds K]
//     Traces as trace/codec/rank_generator.h makes them.
//   ingest_bench --from FOLDER [--repeat K] ...
//     The trace of the files there, each rank repeated K times; every trace differs.
//
// Prints of each round the three, (a) and (b) at once, and (a + b) / c; then medians. --costs:
// what a node costs in each step of (c), on one core.
#include <grpcpp/grpcpp.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/measured_breakdown.h"
#include "chakrad/v1/ingest.grpc.pb.h"
#include "client/encoded_trace.h"
#include "client/push.h"
#include "common/check.h"
#include "common/sha256.h"
#include "common/status.h"
#include "server/options.h"
#include "server/server.h"
#include "storage/limits.h"
#include "tests/bench/repeat_rank.h"
#include "trace/check/check_trace.h"
#include "trace/check/comm_details.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_generator.h"
#include "trace/import/import.h"
#include "trace/model/trace_summary.h"

namespace chakrad {
namespace {

constexpr double kMiB = 1 << 20;

struct BenchOptions {
  uint32_t nodes = 1 << 19;
  int32_t ranks = 4;
  int64_t traces = 4;
  int streams = 2;
  int rounds = 5;
  std::string from;
  int64_t repeat = 1;
  bool costs = false;
  bool only_push = false;
};

using Chunks = std::vector<std::pair<std::string, const std::string*>>;  // Hash and bytes.

struct BenchTrace {
  client::EncodedTrace encoded;
  // What a client sends of it, in order: not what traces before have (their edges).
  Chunks fresh;
};
using Traces = std::vector<BenchTrace>;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double CpuSeconds() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string TempFolder() {
  std::string folder = (std::filesystem::temp_directory_path() / "ingest_bench.XXXXXX").string();
  CHECK(mkdtemp(folder.data()) != nullptr);
  return folder;
}

// Runs work(i) for each trace on `streams` threads, trace by trace.
double RunAll(int streams, const Traces& traces, const std::function<void(size_t)>& work) {
  const double begin = Now();
  std::vector<std::thread> threads;
  for (int stream = 0; stream < streams; ++stream) {
    threads.emplace_back([&, stream] {
      for (size_t i = stream; i < traces.size(); i += streams) work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return Now() - begin;
}

// The chunks of each rank that `seen` lacks, in the order in which a client sends them.
Chunks InOrder(const client::EncodedTrace& trace, std::set<std::string>* seen) {
  Chunks chunks;
  for (const RankIndex& rank : trace.ranks) {
    for (const auto* refs : {&rank.hot, &rank.cold}) {
      for (const ChunkRef& ref : *refs) {
        if (seen->insert(ref.hash).second)
          chunks.emplace_back(ref.hash, &trace.chunks.at(ref.hash));
      }
    }
  }
  return chunks;
}

double MiBOf(const Traces& traces) {
  double bytes = 0;
  for (const BenchTrace& trace : traces) {
    for (const auto& [hash, chunk] : trace.fresh) bytes += chunk->size();
  }
  return bytes / kMiB;
}

class DroppingService : public v1::IngestService::Service {
 public:
  grpc::Status PushTrace(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::PushTraceResponse, v1::PushTraceRequest>* stream) override {
    v1::PushTraceRequest request;
    while (stream->Read(&request)) {
    }
    stream->Write(v1::PushTraceResponse());
    return grpc::Status::OK;
  }
};

std::shared_ptr<grpc::Channel> OpenChannel(int port) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // A connection a stream.
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port),
                                   grpc::InsecureChannelCredentials(), arguments);
}

class RawStream {
 public:
  RawStream() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    CHECK(server_ != nullptr);
  }
  void Send(const BenchTrace& trace) {
    const auto stub = v1::IngestService::NewStub(OpenChannel(port_));
    grpc::ClientContext context;
    const auto stream = stub->PushTrace(&context);
    v1::PushTraceRequest request;
    for (const auto& [hash, chunk] : trace.fresh) {
      request.mutable_chunk()->set_sha256(hash);
      request.mutable_chunk()->set_data(*chunk);
      CHECK(stream->Write(request));
    }
    stream->WritesDone();
    v1::PushTraceResponse response;
    CHECK(stream->Read(&response));
    CHECK(stream->Finish().ok());
  }

 private:
  DroppingService service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// As storage/rocks_kv.cc opens its family of chunks.
class RawDatabase {
 public:
  explicit RawDatabase(const std::string& folder) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.max_total_wal_size = kMaxWalBytes;
    options.db_write_buffer_size = kAllWriteBuffersBytes;
    options.write_buffer_size = kWriteBufferBytes;
    options.max_background_jobs = 2;
    options.bytes_per_sync = 1 << 20;
    options.wal_bytes_per_sync = 1 << 20;
    options.compression = rocksdb::kNoCompression;
    options.enable_blob_files = true;
    options.min_blob_size = kMinBlobBytes;
    options.blob_file_size = kBlobFileBytes;
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(options, folder, &db);
    CHECK(status.ok()) << status.ToString();
    db_.reset(db);
  }
  // What must be durable before a trace is acknowledged.
  void Write(const BenchTrace& trace) {
    for (const auto& [hash, chunk] : trace.fresh) CHECK(db_->Put({}, hash, *chunk).ok());
    rocksdb::WriteOptions synced;
    synced.sync = true;
    CHECK(db_->Put(synced, trace.encoded.content_hash, "manifest").ok());
  }

 private:
  std::unique_ptr<rocksdb::DB> db_;
};

double RunRawStream(const BenchOptions& options, const Traces& traces) {
  RawStream raw;
  return RunAll(options.streams, traces, [&](size_t i) { raw.Send(traces[i]); });
}

double RunRawDatabase(const BenchOptions& options, const Traces& traces) {
  const std::string folder = TempFolder();
  double seconds;
  {
    RawDatabase raw(folder);
    seconds = RunAll(options.streams, traces, [&](size_t i) { raw.Write(traces[i]); });
  }
  std::filesystem::remove_all(folder);
  return seconds;
}

double RunBoth(const BenchOptions& options, const Traces& traces) {
  const double begin = Now();
  std::thread stream([&] { RunRawStream(options, traces); });
  RunRawDatabase(options, traces);
  stream.join();
  return Now() - begin;
}

double RunPush(const BenchOptions& options, const Traces& traces) {
  ServerOptions server_options;
  server_options.data_dir = TempFolder();
  server_options.listen = server_options.http_listen = "127.0.0.1:0";
  server_options.log_level = LogLevel::kError;
  double seconds;
  {
    auto server = StartServer(server_options);
    CHECK(server.ok()) << server.status();
    client::PushOptions push_options;
    push_options.sleep = [](std::chrono::milliseconds ms) { std::this_thread::sleep_for(ms); };
    seconds = RunAll(options.streams, traces, [&](size_t i) {
      const auto result = client::PushTrace(OpenChannel((*server)->grpc_port()), traces[i].encoded,
                                            absl::StrCat("bench-", i), push_options);
      CHECK(result.ok()) << result.status();
      CHECK(!result->known);
    });
  }
  std::filesystem::remove_all(server_options.data_dir);
  return seconds;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void RunRounds(const BenchOptions& options, const Traces& traces) {
  const double mib = MiBOf(traces);
  std::vector<double> streams, databases, both, pushes, ratios, ratios_both;
  for (int round = 0; round < options.rounds; ++round) {
    if (!options.only_push) {
      streams.push_back(RunRawStream(options, traces));
      databases.push_back(RunRawDatabase(options, traces));
      both.push_back(RunBoth(options, traces));
    }
    const double cpu = CpuSeconds();
    pushes.push_back(RunPush(options, traces));
    const double push_cpu = CpuSeconds() - cpu;
    if (options.only_push) {
      std::printf("push %.2f s (%.0f MiB/s), cpu %.2f s\n", pushes.back(), mib / pushes.back(),
                  push_cpu);
      continue;
    }
    ratios.push_back((streams.back() + databases.back()) / pushes.back());
    ratios_both.push_back(both.back() / pushes.back());
    std::printf(
        "stream %.2f s (%.0f MiB/s)  rocksdb %.2f s (%.0f MiB/s)  both at once %.2f s  "
        "push %.2f s (%.0f MiB/s), cpu %.2f s  ratio %.2f, to both at once %.2f\n",
        streams.back(), mib / streams.back(), databases.back(), mib / databases.back(), both.back(),
        pushes.back(), mib / pushes.back(), push_cpu, ratios.back(), ratios_both.back());
    std::fflush(stdout);
  }
  if (options.only_push) return;
  std::printf(
      "median: stream %.0f MiB/s, rocksdb %.0f MiB/s, both at once %.0f MiB/s, push %.0f MiB/s; "
      "(stream + rocksdb) / push %.0f %%, (both at once) / push %.0f %%\n",
      mib / Median(streams), mib / Median(databases), mib / Median(both), mib / Median(pushes),
      100 * Median(ratios), 100 * Median(ratios_both));
}

// Nanoseconds of processor time a node of the steps that PushTrace takes with a rank's bytes.
void PrintCosts(const Trace& trace) {
  const client::EncodedTrace encoded = client::EncodeTrace(trace).value();
  double nodes = 0;
  for (const RankTrace& rank : trace.ranks) nodes += rank.size();
  const auto cost = [nodes](const std::function<void()>& work) {
    const double begin = CpuSeconds();
    work();
    return (CpuSeconds() - begin) * 1e9 / nodes;
  };
  const double sha_ns = cost([&] {
    for (const auto& [hash, chunk] : encoded.chunks) CHECK(Sha256Of(chunk) == hash);
  });
  const auto decode = [&](bool cold) {
    for (const RankIndex& index : encoded.ranks) {
      RankDecoder decoder(index.header);
      decoder.KeepCold(NodesWithCommDetails);
      for (const ChunkRef& ref : index.hot) CHECK(decoder.Add(encoded.chunks.at(ref.hash)).ok());
      for (size_t i = 0; cold && i < index.cold.size(); ++i) {
        CHECK(decoder.Add(encoded.chunks.at(index.cold[i].hash)).ok());
      }
      CHECK(decoder.Finish(cold, trace.groups.size()).ok());
    }
  };
  const double hot_ns = cost([&] { decode(false); });
  const double all_ns = cost([&] { decode(true); });
  const double breakdown_ns = cost([&] { MeasuredBreakdown(trace); });
  const double check_ns = cost([&] { CheckTrace(trace, {}); });
  const double summary_ns = cost([&] {
    for (const RankTrace& rank : trace.ranks) SummarizeRank(rank);
  });
  std::printf(
      "a node: %.1f bytes stored; ns: hash %.0f, decode %.0f (hot columns %.0f), check %.0f, "
      "summary %.0f, breakdown %.0f\n",
      encoded.chunk_bytes / nodes, sha_ns, all_ns, hot_ns, check_ns, summary_ns, breakdown_ns);
}

absl::StatusOr<Trace> Recorded(const BenchOptions& options) {
  std::vector<ImportFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(options.from)) {
    if (!entry.is_regular_file()) continue;
    files.push_back({entry.path().filename().string(), entry.path().string()});
  }
  ASSIGN_OR_RETURN(ImportResult imported, ImportTrace(files, ImportOptions()));
  for (RankTrace& rank : imported.trace.ranks) rank = RepeatRank(rank, options.repeat);
  return std::move(imported.trace);
}

Trace Generated(const BenchOptions& options) {
  Trace trace;
  trace.world_size = options.ranks;
  trace.groups.push_back({"world", "", {}});
  for (int32_t rank = 0; rank < options.ranks; ++rank) {
    trace.groups[0].ranks.push_back(rank);
    trace.ranks.push_back(RecordedLikeRank(rank, options.nodes, /*cold=*/true));
    trace.ranks.back().rank = rank;
  }
  return trace;
}

absl::Status RunBench(const BenchOptions& options) {
  Trace trace;
  if (options.from.empty()) {
    trace = Generated(options);
  } else {
    ASSIGN_OR_RETURN(trace, Recorded(options));
  }
  if (options.costs) PrintCosts(trace);
  Traces traces(static_cast<size_t>(options.traces));
  std::set<std::string> seen;
  size_t chunks_count = 0;
  for (int64_t i = 0; i < options.traces; ++i) {
    Trace distinct = trace;
    for (RankTrace& rank : distinct.ranks) MakeDistinct(i * 100'000 + rank.rank + 1, &rank);
    ASSIGN_OR_RETURN(traces[i].encoded, client::EncodeTrace(distinct));
    traces[i].fresh = InOrder(traces[i].encoded, &seen);
    chunks_count += traces[i].fresh.size();
  }
  int64_t nodes = 0;
  for (const RankTrace& rank : trace.ranks) nodes += rank.size();
  trace = Trace();
  std::printf("%zu traces of %lld nodes: %.0f MiB in %zu chunks; %d streams\n", traces.size(),
              static_cast<long long>(nodes), MiBOf(traces), chunks_count, options.streams);
  std::fflush(stdout);
  RunRounds(options, traces);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  BenchOptions options;
  CLI::App app("Ingest of converted traces against a raw stream and raw writes.");
  app.add_option("--nodes", options.nodes, "Nodes of a generated rank");
  app.add_option("--ranks", options.ranks, "Ranks of a generated trace");
  app.add_option("--traces", options.traces, "Different traces of a round");
  app.add_option("--streams", options.streams, "At once")->check(CLI::Range(1, 64));
  app.add_option("--rounds", options.rounds, "Rounds")->check(CLI::Range(1, 1000));
  app.add_option("--from", options.from, "A folder with the files of one trace");
  app.add_option("--repeat", options.repeat, "How often such a trace is repeated");
  app.add_flag("--costs", options.costs, "Print what each step costs");
  app.add_flag("--only-push", options.only_push, "Without the ceilings, for a profiler");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = RunBench(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) { return chakrad::Main(argc, argv); }
