// The feeder over a rank that is longer than memory should be: CPU time, and peak memory of
// the process. The rank is encoded window by window into a file of chunks; nothing
// holds it whole.
//
//   feeder_bench [--nodes N] [--order recorded|backwards|scattered] [--next N] [--working N]
//                [--lookahead N] [--no-read] [--cache_mib N]
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/sha256.h"
#include "common/status.h"
#include "trace/codec/long_rank.h"
#include "trace/codec/rank_reader.h"
#include "trace/feed/feeder.h"

namespace chakrad {
namespace {

struct BenchOptions {
  uint32_t nodes_count = 20'000'000;
  LongRankOrder order = LongRankOrder::kRecorded;
  size_t next = 64;      // Nodes that are asked for at a time.
  size_t working = 256;  // Nodes that are being worked on before the first is done.
  uint32_t lookahead = UINT32_MAX;
  bool no_read = false;  // Only positions, not what the nodes are.
  size_t cache_mib = kDependencyCacheBytes >> 20;
};

// Chunks in one file that has no name any more.
class ChunkFile {
 public:
  ChunkFile() {
    std::string path = (std::filesystem::temp_directory_path() / "feeder_bench.XXXXXX").string();
    fd_ = mkstemp(path.data());
    CHECK(fd_ >= 0) << path;
    unlink(path.c_str());
  }
  ~ChunkFile() { close(fd_); }
  std::string Add(absl::string_view stored) {
    std::string hash = Sha256Of(stored);
    if (!places_.emplace(hash, std::make_pair(end_, stored.size())).second) return hash;
    CHECK(pwrite(fd_, stored.data(), stored.size(), end_) == static_cast<ssize_t>(stored.size()));
    end_ += static_cast<off_t>(stored.size());
    return hash;
  }
  absl::StatusOr<std::string> Read(const std::string& hash) const {
    const auto found = places_.find(hash);
    if (found == places_.end()) return absl::DataLossError("chunk: is missing");
    std::string stored(found->second.second, '\0');
    const ssize_t got = pread(fd_, stored.data(), stored.size(), found->second.first);
    if (got != static_cast<ssize_t>(stored.size())) return absl::DataLossError("chunk: is cut");
    return stored;
  }
  off_t bytes() const { return end_; }

 private:
  int fd_ = -1;
  off_t end_ = 0;
  std::unordered_map<std::string, std::pair<off_t, size_t>> places_;
};

// CPU time: the process has one thread, the machine others.
double Seconds() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double PeakMegabytes() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

absl::StatusOr<RankIndex> Encode(const BenchOptions& options, ChunkFile* file) {
  RankIndex index;
  index.header = LongRankHeader(options.order, options.nodes_count);
  index.has_spans = true;
  RETURN_IF_ERROR(EncodeLongRank(options.order, options.nodes_count,
                                 [&](const ChunkSpan& span, absl::string_view stored) {
                                   index.hot.push_back({file->Add(stored), span});
                                   return absl::OkStatus();
                                 }));
  return index;
}

// Hands everything out; what is asked for first is done first.
absl::Status Feed(const BenchOptions& options, NodeSource* source, uint64_t* order_hash) {
  Feeder feeder(source, {.lookahead_nodes = options.lookahead});
  std::deque<uint32_t> working;
  while (!feeder.done()) {
    ASSIGN_OR_RETURN(const std::vector<uint32_t> nodes, feeder.Next(options.next));
    for (const uint32_t node : nodes) {
      *order_hash = (*order_hash ^ node) * 0x100000001b3;
      working.push_back(node);
      if (options.no_read) continue;
      ASSIGN_OR_RETURN(const FeedNode read, feeder.Read(node));
      *order_hash += read.name.size();
    }
    while (working.size() > options.working || (nodes.empty() && !working.empty())) {
      RETURN_IF_ERROR(feeder.Complete(working.front()));
      working.pop_front();
      if (nodes.empty()) break;
    }
  }
  return absl::OkStatus();
}

absl::Status RunBench(const BenchOptions& options) {
  ChunkFile file;
  double at = Seconds();
  ASSIGN_OR_RETURN(RankIndex index, Encode(options, &file));
  std::printf("encoded: %.1f s of CPU, %u nodes, %u edges, %.1f MB of chunks, peak RSS %.1f MB\n",
              Seconds() - at, index.header.nodes_count, index.header.edges_count,
              static_cast<double>(file.bytes()) / 1e6, PeakMegabytes());
  at = Seconds();
  ASSIGN_OR_RETURN(const auto reader,
                   RankReader::Open(std::move(index),
                                    [&](const std::string& hash) { return file.Read(hash); }, {}));
  const auto source =
      NewReaderSource(reader.get(), {.dependency_cache_bytes = options.cache_mib << 20});
  uint64_t order_hash = 0;
  RETURN_IF_ERROR(Feed(options, source.get(), &order_hash));
  const double seconds = Seconds() - at;
  std::printf("fed: %.1f s of CPU, %.2f M nodes/s, peak RSS %.1f MB, order %016llx\n", seconds,
              options.nodes_count / seconds / 1e6, PeakMegabytes(),
              static_cast<unsigned long long>(order_hash));
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  BenchOptions options;
  CLI::App app("The feeder over a long rank: time and peak memory.");
  const std::map<std::string, LongRankOrder> orders = {{"recorded", LongRankOrder::kRecorded},
                                                       {"backwards", LongRankOrder::kBackwards},
                                                       {"scattered", LongRankOrder::kScattered}};
  app.add_option("--nodes", options.nodes_count, "Nodes of the rank");
  app.add_option("--order", options.order, "How nodes depend on each other")
      ->transform(CLI::CheckedTransformer(orders));
  app.add_option("--next", options.next, "Nodes that are asked for at a time");
  app.add_option("--working", options.working, "Nodes that are being worked on");
  app.add_option("--lookahead", options.lookahead, "FeederOptions::lookahead_nodes");
  app.add_option("--cache_mib", options.cache_mib, "Dependencies that are kept");
  app.add_flag("--no-read", options.no_read, "Don't read what the nodes are");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = RunBench(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) { return chakrad::Main(argc, argv); }
