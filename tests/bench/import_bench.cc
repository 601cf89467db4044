// From recorded files to a stored trace: speed and peak memory of each stage.
//
//   import_bench [--repeat N] [--scale] [--et FILE] [--kineto FILE]
//     Repeats the recording N times (tests/bench/repeat_trace.h) in $TMPDIR, and
//     runs all stages over it in a process of its own. --scale: also over an
//     eighth of it, to show whether time grows faster than the input.
//   import_bench --run [--et FILE] [--kineto FILE]
//     The stages alone, over these very files (gzip, too).
//   import_bench --fingerprint PATH...
//     Hashes of all that an import gives, to compare two versions.
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/check.h"
#include "common/sha256.h"
#include "common/status.h"
#include "storage/open.h"
#include "tests/bench/repeat_trace.h"
#include "trace/check/check_trace.h"
#include "trace/check/cycles.h"
#include "trace/codec/rank_codec.h"
#include "trace/import/import.h"
#include "trace/link/assemble.h"
#include "trace/link/link.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

constexpr double kMega = 1e6;
// What the stages may take at most: ARCHITECTURE.md's bound.
constexpr int64_t kBaseBytes = 300'000'000;
constexpr char kTotalPrefix[] = "total_cpu_s ";

struct BenchOptions {
  std::string et;
  std::string kineto;
  int64_t repeat = 100;
  bool scale = false;
  bool run = false;
  std::vector<std::string> fingerprint;
};

double CpuSeconds() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// "VmHWM" (the peak) or "VmRSS" of this process, bytes.
int64_t MemoryBytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    absl::string_view rest = line;
    int64_t kib = 0;
    if (absl::ConsumePrefix(&rest, field + ":") && absl::ConsumeSuffix(&rest, " kB") &&
        absl::SimpleAtoi(rest, &kib)) {
      return kib * 1024;
    }
  }
  return 0;
}

// Times one stage after the other, and the peak of memory in each.
class Stages {
 public:
  template <typename Function>
  auto Run(const char* name, Function function) {
    std::ofstream("/proc/self/clear_refs") << "5";  // The peak starts again.
    const double cpu_s = CpuSeconds();
    const auto begin = std::chrono::steady_clock::now();
    auto result = function();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    const int64_t peak_bytes = MemoryBytes("VmHWM");
    std::printf("  %-12s %8.2f s cpu %8.2f s wall   peak %7.1f MB, then %7.1f MB\n", name,
                CpuSeconds() - cpu_s, wall.count(), static_cast<double>(peak_bytes) / kMega,
                static_cast<double>(MemoryBytes("VmRSS")) / kMega);
    std::fflush(stdout);
    total_cpu_s_ += CpuSeconds() - cpu_s;
    peak_bytes_ = std::max(peak_bytes_, peak_bytes);
    return result;
  }
  double total_cpu_s() const { return total_cpu_s_; }
  int64_t peak_bytes() const { return peak_bytes_; }

 private:
  double total_cpu_s_ = 0;
  int64_t peak_bytes_ = 0;
};

// A reader's result, or null without a file. Adds the file's plain bytes.
template <typename Parsed>
absl::StatusOr<std::unique_ptr<Parsed>> ReadFile(const std::string& path,
                                                 absl::StatusOr<Parsed> (*read)(ByteSource*,
                                                                                Ledger*),
                                                 Ledger* ledger, int64_t* plain_bytes) {
  if (path.empty()) return std::unique_ptr<Parsed>();
  ASSIGN_OR_RETURN(const auto source, OpenFileSource(path));
  ASSIGN_OR_RETURN(Parsed parsed, read(source.get(), ledger));
  *plain_bytes += source->offset();
  return std::make_unique<Parsed>(std::move(parsed));
}

absl::Status Store(const Trace& trace, const std::string& folder) {
  StoreOptions options;
  options.data_dir = folder;
  ASSIGN_OR_RETURN(Stores stores, OpenRocksStores(options));
  TraceInfo info;
  info.id = "bench";
  return stores.traces->Put(trace, info);
}

absl::Status RunStages(const BenchOptions& options) {
  Stages stages;
  Ledger et_ledger, kineto_ledger;
  int64_t plain_bytes = 0;
  ASSIGN_OR_RETURN(auto et, stages.Run("read ET", [&] {
    return ReadFile<PyTorchEt>(
        options.et,
        [](ByteSource* source, Ledger* ledger) {
          return ReadPyTorchEt(source, ReadOptions(), ledger);
        },
        &et_ledger, &plain_bytes);
  }));
  ASSIGN_OR_RETURN(auto kineto, stages.Run("read Kineto", [&] {
    return ReadFile<KinetoTrace>(options.kineto, &ReadKineto, &kineto_ledger, &plain_bytes);
  }));
  ASSIGN_OR_RETURN(RankTrace rank, stages.Run("link", [&] {
    auto linked = LinkRank(et.get(), et == nullptr ? nullptr : &et_ledger, kineto.get(),
                           kineto == nullptr ? nullptr : &kineto_ledger, 0, nullptr, nullptr);
    et.reset();
    kineto.reset();
    return linked;
  }));
  rank.rank = std::max(rank.rank, 0);
  RETURN_IF_ERROR(stages.Run("check", [&] { return CheckAcyclic(rank); }));
  const int64_t nodes = rank.size(), edges = static_cast<int64_t>(rank.dep_node.size());
  const int64_t cold_bytes = static_cast<int64_t>(rank.cold.size());
  ASSIGN_OR_RETURN(Trace trace, stages.Run("assemble", [&] {
    std::vector<std::string> notices;
    std::vector<RankTrace> ranks;
    ranks.push_back(std::move(rank));
    return AssembleTrace(std::move(ranks), 0, &notices);
  }));
  RETURN_IF_ERROR(stages.Run("conformance", [&] {
    CheckTrace(trace, {et_ledger, kineto_ledger});
    return absl::OkStatus();
  }));
  std::string folder = (std::filesystem::temp_directory_path() / "import_bench.XXXXXX").string();
  CHECK(mkdtemp(folder.data()) != nullptr);
  const absl::Status stored = stages.Run("store", [&] { return Store(trace, folder); });
  std::filesystem::remove_all(folder);
  RETURN_IF_ERROR(stored);

  const double mb = static_cast<double>(plain_bytes) / kMega;
  std::printf("  %.1f MB of JSON, %lld nodes, %lld edges, %lld bytes of cold blocks\n", mb,
              static_cast<long long>(nodes), static_cast<long long>(edges),
              static_cast<long long>(cold_bytes));
  std::printf("  %.2f s cpu in all: %.1f MB/s; peak %.1f MB: 300 MB and %.1f bytes a node\n",
              stages.total_cpu_s(), mb / stages.total_cpu_s(),
              static_cast<double>(stages.peak_bytes()) / kMega,
              static_cast<double>(stages.peak_bytes() - kBaseBytes) / static_cast<double>(nodes));
  std::printf("%s%.3f\n", kTotalPrefix, stages.total_cpu_s());
  return absl::OkStatus();
}

absl::Status WriteRepeated(const std::string& from, absl::string_view key, int64_t count,
                           uint64_t distance, const std::string& to) {
  if (from.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string json, ReadWholeFile(from));
  std::ofstream file(to, std::ios::binary);
  RETURN_IF_ERROR(RepeatTrace(json, key, count, distance, [&](absl::string_view text) {
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    return file.good() ? absl::OkStatus() : absl::UnavailableError(absl::StrCat("write ", to));
  }));
  file.close();
  return file.good() ? absl::OkStatus() : absl::UnavailableError(absl::StrCat("close ", to));
}

// Runs this program with `arguments`, and prints what it prints; returns the
// seconds of CPU that it took.
absl::StatusOr<double> RunChild(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2];
  CHECK(pipe(ends) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  FILE* output = fdopen(ends[0], "r");
  CHECK(error == 0 && output != nullptr) << "cannot start a run";
  double total_cpu_s = -1;
  char line[1024];
  while (std::fgets(line, sizeof(line), output) != nullptr) {
    absl::string_view text = line;
    if (!absl::ConsumePrefix(&text, kTotalPrefix)) {
      std::fputs(line, stdout);
    } else if (!absl::SimpleAtod(absl::StripAsciiWhitespace(text), &total_cpu_s)) {
      total_cpu_s = -1;
    }
  }
  std::fclose(output);
  int state = 0;
  if (waitpid(pid, &state, 0) != pid || state != 0 || total_cpu_s < 0) {
    return absl::UnknownError("a run failed");
  }
  return total_cpu_s;
}

// Runs all stages over `count` repetitions in a new process; returns seconds of CPU.
absl::StatusOr<double> RunRepeated(const BenchOptions& options, int64_t count, uint64_t distance,
                                   const std::string& folder) {
  const std::string et = options.et.empty() ? "" : folder + "/et.json";
  const std::string kineto = options.kineto.empty() ? "" : folder + "/kineto.json";
  RETURN_IF_ERROR(WriteRepeated(options.et, "nodes", count, distance, et));
  RETURN_IF_ERROR(WriteRepeated(options.kineto, "traceEvents", count, distance, kineto));
  std::printf("%lld repetitions\n", static_cast<long long>(count));
  std::fflush(stdout);
  std::vector<std::string> arguments = {"import_bench", "--run"};
  if (!et.empty()) arguments.insert(arguments.end(), {"--et", et});
  if (!kineto.empty()) arguments.insert(arguments.end(), {"--kineto", kineto});
  return RunChild(arguments);
}

absl::Status RunBench(const BenchOptions& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "import_bench.XXXXXX").string();
  CHECK(mkdtemp(folder.data()) != nullptr);
  const auto bench = [&]() -> absl::Status {
    uint64_t distance = 1;
    for (const std::string& path : {options.et, options.kineto}) {
      if (path.empty()) continue;
      ASSIGN_OR_RETURN(const std::string json, ReadWholeFile(path));
      distance = std::max(distance, IdDistance(json));
    }
    double small_s = 0;
    if (options.scale) {
      const int64_t eighth = std::max<int64_t>(1, options.repeat / 8);
      ASSIGN_OR_RETURN(small_s, RunRepeated(options, eighth, distance, folder));
    }
    ASSIGN_OR_RETURN(const double large_s, RunRepeated(options, options.repeat, distance, folder));
    if (options.scale) std::printf("x8 the input takes x%.2f\n", large_s / small_s);
    return absl::OkStatus();
  };
  const absl::Status status = bench();
  std::filesystem::remove_all(folder);
  return status;
}

absl::Status PrintFingerprint(const std::string& path) {
  std::vector<ImportFile> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.is_regular_file()) {
        files.push_back({entry.path().filename().string(), entry.path().string()});
      }
    }
    std::sort(files.begin(), files.end(),
              [](const ImportFile& a, const ImportFile& b) { return a.name < b.name; });
  } else {
    files.push_back({std::filesystem::path(path).filename().string(), path});
  }
  ASSIGN_OR_RETURN(const ImportResult result, ImportTrace(files, ImportOptions()));
  for (const RankTrace& rank : result.trace.ranks) {
    Sha256 hash;
    hash.Update(absl::StrCat(rank.rank, " ", rank.base_unix_ns, " ", rank.schema));
    RETURN_IF_ERROR(EncodeRank(rank, [&](const ChunkSpan&, absl::string_view stored) {
      hash.Update(stored);
      return absl::OkStatus();
    }));
    std::printf("%s rank %d: %u nodes, %zu edges, %s\n", path.c_str(), rank.rank, rank.size(),
                rank.dep_node.size(), absl::BytesToHexString(hash.Digest()).substr(0, 32).c_str());
  }
  for (const Ledger& ledger : result.ledgers) {
    std::string text = absl::StrCat(ledger.input_records, " ", ledger.kept);
    for (const auto& [rule, count] : ledger.merged_by_rule) absl::StrAppend(&text, rule, count);
    for (const auto& [rule, count] : ledger.rejected_by_rule) absl::StrAppend(&text, rule, count);
    for (const std::string& notice : ledger.notices) absl::StrAppend(&text, notice);
    std::printf("%s %s: %lld records, %s\n", path.c_str(), ledger.file.c_str(),
                static_cast<long long>(ledger.input_records),
                absl::BytesToHexString(Sha256Of(text)).substr(0, 32).c_str());
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  BenchOptions options;
  CLI::App app("Speed and memory of conversion, from recorded files to a stored trace.");
  app.add_option("--et", options.et, "A PyTorch execution trace");
  app.add_option("--kineto", options.kineto, "A Kineto file");
  app.add_option("--repeat", options.repeat, "How many times the recording is repeated")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--scale", options.scale, "Also run an eighth of it");
  app.add_flag("--run", options.run, "Run the stages over the files as they are");
  app.add_option("--fingerprint", options.fingerprint, "Print hashes of what imports give");
  CLI11_PARSE(app, argc, argv);
  absl::Status status;
  if (!options.fingerprint.empty()) {
    for (const std::string& path : options.fingerprint) {
      status.Update(Annotate(PrintFingerprint(path), path));
    }
  } else if (options.et.empty() && options.kineto.empty()) {
    status = absl::InvalidArgumentError("--et or --kineto: one is needed");
  } else {
    status = options.run ? RunStages(options) : RunBench(options);
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) { return chakrad::Main(argc, argv); }
