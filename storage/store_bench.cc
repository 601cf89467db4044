// What the trace store costs by itself:
//   bazel run //storage:store_bench -- cards FOLDER TRACES   stores tiny traces, opens again
//   bazel run //storage:store_bench -- chunks FOLDER MIB     drafts against raw writes
// FOLDER is made and not removed.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/sha256.h"
#include "storage/open.h"
#include "storage/posix_file.h"
#include "storage/rocks_kv.h"
#include "trace/codec/chunk_frame.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

constexpr int kWriters = 32;

class Timer {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Of this process, in MiB.
double RssMib() {
  std::ifstream status("/proc/self/statm");
  int64_t size = 0, resident = 0;
  status >> size >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

TraceInfo TinyInfo(int64_t i) {
  TraceInfo info;
  info.id = absl::StrCat("t-0123456789abcdef0123456789", i);
  info.labels = {{"job", absl::StrCat("pretrain-", i % 500)},
                 {"model", "llama-70b"},
                 {"cluster", absl::StrCat("cluster-", i % 7)},
                 {"step", absl::StrCat(i)},
                 {"tenant", "research"}};
  info.content_hash = Sha256Of(info.id);
  info.breakdown = TraceBreakdown{};
  return info;
}

void Cards(const std::string& folder, int64_t traces_count) {
  const double rss_empty_mib = RssMib();
  {
    auto stores = OpenRocksStores({.data_dir = folder, .reserve_bytes = 0});
    CHECK(stores.ok()) << stores.status();
    const Timer timer;
    const Trace trace = RandomTrace(1, 1, 20);
    std::atomic<int64_t> next{0};
    std::vector<std::thread> writers;
    for (int64_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&] {
        for (int64_t i = next++; i < traces_count; i = next++) {
          const absl::Status put = stores->traces->Put(trace, TinyInfo(i));
          CHECK(put.ok()) << put;
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    std::printf("stored %lld traces of equal content in %.1f s by %d writers; RSS %.0f MiB\n",
                static_cast<long long>(traces_count), timer.Seconds(), kWriters, RssMib());
    std::fflush(stdout);
  }
  const Timer timer;
  auto stores = OpenRocksStores({.data_dir = folder, .reserve_bytes = 0});
  CHECK(stores.ok()) << stores.status();
  const double open_s = timer.Seconds();
  CHECK(stores->traces->SweepOrphans().ok());
  const double swept_s = timer.Seconds();
  const auto cards = stores->traces->Cards();
  CHECK(static_cast<int64_t>(cards->size()) == traces_count) << cards->size();
  std::printf("opened in %.3f s, swept in %.3f s; RSS %.0f MiB (%.0f before anything)\n", open_s,
              swept_s - open_s, RssMib(), rss_empty_mib);
  const absl::Status put = stores->traces->Put(RandomTrace(2, 1, 20), TinyInfo(traces_count));
  CHECK(put.ok()) << put;
  const Timer snapshot;
  CHECK(stores->traces->Cards() != cards);
  std::printf("a new snapshot takes %.2f ms\n", snapshot.Seconds() * 1e3);
}

// Chunks of 256 KiB that do not compress, in frames as they are sent.
std::vector<std::string> MakeChunks(int64_t mib) {
  std::mt19937_64 random(1);
  std::vector<std::string> chunks;
  ChunkFramer framer;
  for (int64_t i = 0; i < mib * 4; ++i) {
    std::string raw(256 << 10, '\0');
    for (size_t at = 0; at < raw.size(); at += 8) {
      const uint64_t word = random();
      raw.replace(at, 8, reinterpret_cast<const char*>(&word), 8);
    }
    auto chunk = framer.Pack(ChunkKind::kColdBytes, raw);
    CHECK(chunk.ok()) << chunk.status();
    chunks.push_back(*std::move(chunk));
  }
  return chunks;
}

void Chunks(const std::string& folder, int64_t mib) {
  const std::vector<std::string> chunks = MakeChunks(mib);
  std::vector<std::string> hashes;
  const Timer hashing;
  for (const std::string& chunk : chunks) hashes.push_back(Sha256Of(chunk));
  const double mibs = static_cast<double>(mib);
  std::printf("SHA-256: %.0f MiB/s\n", mibs / hashing.Seconds());
  for (int round = 0; round < 3; ++round) {
    {
      auto kv = OpenRocksKv(absl::StrCat(folder, "/raw-", round), 0);
      CHECK(kv.ok()) << kv.status();
      const Timer timer;
      for (size_t i = 0; i < chunks.size(); ++i) {
        KvBatch batch;
        batch.Put(Family::kChunks, hashes[i], chunks[i]);
        CHECK((*kv)->Write(batch, i + 1 == chunks.size()).ok());
      }
      std::printf("raw writes, synced at the end: %.0f MiB/s\n", mibs / timer.Seconds());
    }
    auto stores =
        OpenRocksStores({.data_dir = absl::StrCat(folder, "/draft-", round), .reserve_bytes = 0});
    CHECK(stores.ok()) << stores.status();
    const Timer timer;
    const auto draft = stores->traces->NewDraft();
    CHECK(draft->Missing(hashes)->size() == hashes.size());
    for (size_t i = 0; i < chunks.size(); ++i) {
      CHECK(draft->AddChunk(hashes[i], chunks[i]).ok());
    }
    TraceInfo info;
    info.id = "t";
    CHECK(draft->Commit(info).ok());
    std::printf("a draft's chunks, hashed and committed: %.0f MiB/s\n", mibs / timer.Seconds());
  }
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  const std::string what = argc == 4 ? argv[1] : "";
  CHECK(what == "cards" || what == "chunks") << "cards|chunks FOLDER NUMBER";
  CHECK(chakrad::MakeFolders(argv[2]).ok());
  int64_t number = 0;
  CHECK(absl::SimpleAtoi(argv[3], &number)) << argv[3];
  if (what == "cards") chakrad::Cards(argv[2], number);
  if (what == "chunks") chakrad::Chunks(argv[2], number);
}
