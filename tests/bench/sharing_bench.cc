// What equal content saves: bytes of a trace's chunks, each rank for itself and equal
// chunks once, by what they hold.
//
//   sharing_bench [--ranks N] [--nodes N]
//     N data parallel ranks that recorded the same graph: first with equal times, then
//     with start, duration and work of every node off by up to 1 %.
//   sharing_bench PATH...
//     What an import of each folder (or file) gives.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/check.h"
#include "common/sha256.h"
#include "common/status.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_generator.h"
#include "trace/import/import.h"

namespace chakrad {
namespace {

const char* NameOf(ChunkKind kind) {
  switch (kind) {
    case ChunkKind::kNodes:
      return "nodes";
    case ChunkKind::kEdges:
      return "edges";
    case ChunkKind::kGaps:
      return "gaps";
    case ChunkKind::kComm:
    case ChunkKind::kWorkSize:
      return "side records";
    case ChunkKind::kStrings:
    case ChunkKind::kStringLengths:
    case ChunkKind::kStringBytes:
      return "names";
    case ChunkKind::kColdLengths:
    case ChunkKind::kColdBytes:
    case ChunkKind::kFileCold:
      return "cold blocks";
    default:
      return "queues, groups";
  }
}

class Sharing {
 public:
  void Add(const RankTrace& rank) {
    const absl::Status status =
        EncodeRank(rank, [this](const ChunkSpan& span, absl::string_view stored) {
          const auto bytes = static_cast<int64_t>(stored.size());
          const int64_t new_bytes = seen_.insert(Sha256Of(stored)).second ? bytes : 0;
          for (const char* name : {NameOf(span.kind), "all"}) {
            Bytes& counted = by_name_[name];
            ++counted.chunks;
            counted.new_chunks += new_bytes > 0 ? 1 : 0;
            counted.alone += bytes;
            counted.shared += new_bytes;
          }
          return absl::OkStatus();
        });
    CHECK(status.ok()) << status;
    ++ranks_;
    nodes_ += rank.size();
  }
  void Print(const std::string& title) const {
    std::printf("%s: %lld ranks, %lld nodes\n", title.c_str(), static_cast<long long>(ranks_),
                static_cast<long long>(nodes_));
    std::printf("  %-16s %14s %14s %9s %16s\n", "what", "alone, bytes", "shared, bytes", "of it",
                "chunks");
    for (const auto& [name, bytes] : by_name_) {
      std::printf("  %-16s %14lld %14lld %7.1f %% %7lld of %lld\n", name.c_str(),
                  static_cast<long long>(bytes.alone), static_cast<long long>(bytes.shared),
                  100.0 * static_cast<double>(bytes.shared) / static_cast<double>(bytes.alone),
                  static_cast<long long>(bytes.new_chunks), static_cast<long long>(bytes.chunks));
    }
  }

 private:
  struct Bytes {
    int64_t alone = 0, shared = 0, chunks = 0, new_chunks = 0;
  };
  std::map<std::string, Bytes> by_name_;
  std::set<std::string> seen_;
  int64_t ranks_ = 0, nodes_ = 0;
};

// Off by up to 1 %, never below 0.
void Jitter(std::mt19937_64& random, std::vector<int64_t>* column) {
  for (int64_t& value : *column) {
    if (value > 0) value += value / 100 * static_cast<int64_t>(random() % 2001 - 1000) / 1000;
  }
}

void MeasureGenerated(int64_t ranks_count, uint32_t nodes_count) {
  const RankTrace master = RecordedLikeRank(1, nodes_count, /*cold=*/true);
  for (const bool jitter : {false, true}) {
    Sharing sharing;
    for (int64_t rank = 0; rank < ranks_count; ++rank) {
      RankTrace copy = master;
      copy.rank = static_cast<int32_t>(rank);
      std::mt19937_64 random(static_cast<uint64_t>(rank));
      if (jitter) {
        for (auto* column : {&copy.start_ns, &copy.dur_ns, &copy.work_ns}) Jitter(random, column);
      }
      sharing.Add(copy);
    }
    sharing.Print(jitter ? "generated, jittered times" : "generated, equal times");
  }
}

absl::Status MeasureImport(const std::string& path) {
  std::vector<ImportFile> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      files.push_back({entry.path().filename().string(), entry.path().string()});
    }
    std::sort(files.begin(), files.end(),
              [](const ImportFile& a, const ImportFile& b) { return a.name < b.name; });
  } else {
    files.push_back({std::filesystem::path(path).filename().string(), path});
  }
  ASSIGN_OR_RETURN(const ImportResult result, ImportTrace(files, ImportOptions()));
  Sharing sharing;
  for (const RankTrace& rank : result.trace.ranks) sharing.Add(rank);
  sharing.Print(path);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Bytes of stored traces with equal chunks once, and without.");
  std::vector<std::string> paths;
  int64_t ranks_count = 64;
  uint32_t nodes_count = 100'000;
  app.add_option("PATH", paths, "Folders or files to import");
  app.add_option("--ranks", ranks_count, "Of the generated trace")->check(CLI::Range(1, 100'000));
  app.add_option("--nodes", nodes_count, "Of each of its ranks");
  CLI11_PARSE(app, argc, argv);
  if (paths.empty()) MeasureGenerated(ranks_count, nodes_count);
  for (const std::string& path : paths) {
    const absl::Status status = MeasureImport(path);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", path.c_str(), status.ToString().c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) { return chakrad::Main(argc, argv); }
