#include "trace/import/import.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/check/check_trace.h"
#include "trace/check/cycles.h"
#include "trace/import/expand.h"
#include "trace/import/read_file.h"
#include "trace/link/assemble.h"
#include "trace/link/link.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/limits.h"
#include "trace/readers/manifest/manifest.h"
#include "trace/readers/repair/repair_source.h"

namespace chakrad {
namespace {

absl::string_view BaseName(absl::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == absl::string_view::npos ? name : name.substr(slash + 1);
}

// A part of one rank that was read, and may wait for its partner.
struct ReadFile {
  size_t file = 0;  // Index into the given files.
  std::unique_ptr<PyTorchEt> et;
  std::unique_ptr<KinetoTrace> kineto;
  std::unique_ptr<RankTrace> whole;  // Needs no partner.
};

// The files of one rank, until they are linked.
struct RankFiles {
  std::optional<ReadFile> et;
  std::optional<ReadFile> kineto;
  std::optional<ReadFile> whole;
};

// The files that PyTorch's recorders write as JSON.
bool CanBeRepaired(FileKind kind) {
  return kind == FileKind::kPyTorchEt || kind == FileKind::kKineto;
}

// What a file gives of a rank.
enum class Part : uint8_t { kEt, kKineto, kWhole };

class Importer {
 public:
  Importer(const std::vector<ImportFile>& files, const ImportOptions& options,
           std::vector<std::string> notices)
      : files_(files), options_(options), notices_(std::move(notices)) {
    ledgers_.resize(files.size());
    for (size_t i = 0; i < files.size(); ++i) ledgers_[i].file = files[i].name;
  }

  absl::StatusOr<ImportResult> Run() {
    RETURN_IF_ERROR(DetectKinds());
    for (const size_t file : InRankOrder()) {
      RETURN_IF_ERROR(EndsImport(file, ReadRankFile(file)));
    }
    RETURN_IF_ERROR(PlaceFilesWithoutRank());
    RETURN_IF_ERROR(LinkWhatIsLeft());
    ImportResult result;
    absl::StatusOr<Trace> trace = Assemble();
    if (trace.ok()) {
      result.trace = *std::move(trace);
    } else {
      // In a report: about no one file, told with the first.
      if (!options_.report_only) return trace.status();
      ledgers_[0].AddFlaw("unreadable_file", -1, -1, trace.status().message());
    }
    result.ledgers = std::move(ledgers_);
    result.notices = std::move(notices_);
    result.report = CheckTrace(result.trace, result.ledgers);
    return result;
  }

 private:
  absl::StatusOr<Trace> Assemble() {
    RETURN_IF_ERROR(CheckRanks());
    if (ranks_.empty() && options_.report_only) return Trace();
    return AssembleTrace(std::move(ranks_), world_size_, &notices_);
  }

  absl::Status DetectKinds() {
    if (files_.empty()) return absl::InvalidArgumentError("files: none were given");
    for (size_t i = 0; i < files_.size(); ++i) {
      absl::StatusOr<FileKind> kind = DetectKind(i);
      if (kind.ok() && *kind == FileKind::kManifest) {
        RETURN_IF_ERROR(EndsImport(i, ReadManifest(i)));
        kinds_.push_back(kind.value());
      } else if (kind.ok()) {
        kinds_.push_back(kind.value());
        ++rank_files_count_;
      } else {
        RETURN_IF_ERROR(EndsImport(i, kind.status()));
        kinds_.push_back(std::nullopt);
      }
    }
    for (const auto& [name, rank] : options_.settings.rank_by_file) {
      const bool known = std::any_of(files_.begin(), files_.end(),
                                     [&](const ImportFile& f) { return f.name == name; });
      if (!known) {
        return absl::InvalidArgumentError(
            absl::StrCat("rank_by_file: no file is named ", name, " (rank ", rank, ")"));
      }
    }
    if (rank_files_count_ == 0 && manifest_file_.has_value()) {
      RETURN_IF_ERROR(EndsImport(
          *manifest_file_,
          absl::InvalidArgumentError(
              "only a manifest; add the execution traces or Kineto files that it describes")));
    }
    has_et_ = std::count(kinds_.begin(), kinds_.end(), FileKind::kPyTorchEt) > 0;
    has_kineto_ = std::count(kinds_.begin(), kinds_.end(), FileKind::kKineto) > 0;
    return absl::OkStatus();
  }

  // A fault of one file, said with its name. In a report it is a flaw, and the
  // import goes on without the file.
  absl::Status EndsImport(size_t file, const absl::Status& status) {
    if (status.ok()) return status;
    const absl::Status hinted = WithHint(file, status);
    if (!options_.report_only) {
      const bool named = absl::StartsWith(hinted.message(), files_[file].name);
      return named ? hinted : Annotate(hinted, files_[file].name);
    }
    ledgers_[file].AddFlaw("unreadable_file", -1, -1, hinted.message());
    return absl::OkStatus();
  }

  // Broken JSON may be one of the kinds that a repair mends.
  absl::Status WithHint(size_t file, const absl::Status& status) const {
    const bool could_be_repaired =
        file < kinds_.size() && (!kinds_[file].has_value() || CanBeRepaired(*kinds_[file]));
    const bool about_json = absl::StrContains(status.message(), "JSON") ||
                            absl::StrContains(status.message(), "cut off");
    if (options_.settings.repair || !could_be_repaired || !about_json) return status;
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(), " (--repair mends commas, quotes and half records)"));
  }

  absl::StatusOr<std::unique_ptr<ByteSource>> Open(size_t file) {
    return OpenFileSource(files_[file].path);
  }

  absl::StatusOr<FileKind> DetectKind(size_t file) {
    ASSIGN_OR_RETURN(auto source, Open(file));
    absl::StatusOr<FileKind> kind = DetectFileKind(source.get());
    if (kind.ok() || !options_.settings.repair) return kind;
    ASSIGN_OR_RETURN(source, Open(file));
    RepairReport ignored;
    const absl::StatusOr<FileKind> repaired =
        DetectFileKind(OpenRepairSource(std::move(source), &ignored).get());
    return repaired.ok() ? repaired : kind;
  }

  absl::Status ReadManifest(size_t file) {
    if (manifest_file_.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("a second manifest, beside ",
                                                     files_[*manifest_file_].name,
                                                     "; one describes the whole trace"));
    }
    manifest_file_ = file;
    ASSIGN_OR_RETURN(auto source, Open(file));
    ASSIGN_OR_RETURN(const std::string json, ReadSmallFile(source.get(), kMaxManifestBytes));
    ASSIGN_OR_RETURN(manifest_, ParseManifest(json));
    ledgers_[file].Merge("manifest");
    return absl::OkStatus();
  }

  // What manifest, name or the user say, without looking inside.
  std::optional<int32_t> RankFromOutside(size_t file) const {
    const std::string base(BaseName(files_[file].name));
    const auto listed = manifest_.rank_by_file.find(base);
    if (listed != manifest_.rank_by_file.end()) return listed->second;
    const std::optional<int32_t> named = RankFromFileName(files_[file].name);
    return named;
  }

  // Partners next to each other, so that few files wait in memory.
  std::vector<size_t> InRankOrder() const {
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t i = 0; i < files_.size(); ++i) {
      if (!kinds_[i].has_value() || kinds_[i] == FileKind::kManifest) continue;
      const auto given = options_.settings.rank_by_file.find(files_[i].name);
      const std::optional<int32_t> rank = given != options_.settings.rank_by_file.end()
                                              ? std::optional<int32_t>(given->second)
                                              : RankFromOutside(i);
      order.emplace_back(rank.has_value() ? int64_t{*rank} : INT64_MAX, i);
    }
    std::sort(order.begin(), order.end());
    std::vector<size_t> files;
    for (const auto& [rank, file] : order) files.push_back(file);
    return files;
  }

  absl::Status ReadRankFile(size_t file) {
    ImportSettings settings = options_.settings;
    if (settings.world_size == 0) settings.world_size = manifest_.world_size;
    ASSIGN_OR_RETURN(auto source, Open(file));
    RepairReport repairs;
    if (settings.repair && CanBeRepaired(*kinds_[file])) {
      source = OpenRepairSource(std::move(source), &repairs);
    }
    ASSIGN_OR_RETURN(ParsedFile parsed,
                     ReadTraceFile(*kinds_[file], settings, source.get(), &ledgers_[file]));
    repairs.AddTo(&ledgers_[file]);
    // Where both halves are there, Kineto's is of the run that was timed.
    if (parsed.world_size > 0 && (parsed.et == nullptr || !has_kineto_)) {
      RETURN_IF_ERROR(StateWorldSize(parsed.world_size, files_[file].name));
    }
    if (parsed.ranks.size() > 1) return PlaceAll(file, std::move(parsed.ranks));
    ReadFile read;
    read.file = file;
    read.et = std::move(parsed.et);
    read.kineto = std::move(parsed.kineto);
    if (!parsed.ranks.empty()) {
      read.whole = std::make_unique<RankTrace>(std::move(parsed.ranks[0]));
    }
    ASSIGN_OR_RETURN(const int32_t rank, DecideRank(file, parsed.rank));
    if (read.et != nullptr && parsed.rank != kNoRank) read.et->rank = rank;
    if (read.kineto != nullptr && parsed.rank != kNoRank) read.kineto->rank = rank;
    if (rank != kNoRank) return Place(rank, std::move(read));
    without_rank_.push_back(std::move(read));
    return absl::OkStatus();
  }

  // A file of many ranks tells each one's number.
  absl::Status PlaceAll(size_t file, std::vector<RankTrace> ranks) {
    if (options_.settings.rank_by_file.count(files_[file].name) > 0) {
      return absl::InvalidArgumentError(absl::StrCat("rank_by_file: the file holds ", ranks.size(),
                                                     " ranks and tells their numbers itself"));
    }
    for (RankTrace& rank : ranks) {
      ReadFile read;
      read.file = file;
      const int32_t number = rank.rank;
      read.whole = std::make_unique<RankTrace>(std::move(rank));
      RETURN_IF_ERROR(Place(number, std::move(read)));
    }
    return absl::OkStatus();
  }

  // The user's word, else the content's, else the manifest's or the name's.
  absl::StatusOr<int32_t> DecideRank(size_t file, int32_t content_rank) {
    const std::optional<int32_t> outside = RankFromOutside(file);
    const auto given = options_.settings.rank_by_file.find(files_[file].name);
    int32_t rank = content_rank != kNoRank ? content_rank : outside.value_or(kNoRank);
    if (given != options_.settings.rank_by_file.end()) {
      if (rank != kNoRank && rank != given->second) {
        notices_.push_back(absl::StrCat(
            files_[file].name, ": taken for rank ", given->second, ", as given; ",
            content_rank != kNoRank ? "the file itself" : "its name", " says rank ", rank));
      }
      rank = given->second;
    } else if (content_rank != kNoRank && outside.has_value() && *outside != content_rank) {
      notices_.push_back(absl::StrCat(files_[file].name, ": rank ", content_rank,
                                      ", as the file itself says; its name or the manifest says ",
                                      *outside));
    }
    if (rank < kNoRank) {
      return absl::InvalidArgumentError(absl::StrCat("rank: ", rank, " is below 0"));
    }
    return rank;
  }

  absl::Status StateWorldSize(int32_t world_size, absl::string_view by) {
    if (world_size_ != 0 && world_size_ != world_size) {
      return absl::InvalidArgumentError(absl::StrCat("world size: ", world_size_stated_by_,
                                                     " says ", world_size_, ", ", by, " says ",
                                                     world_size));
    }
    world_size_ = world_size;
    if (world_size_stated_by_.empty()) world_size_stated_by_ = std::string(by);
    return absl::OkStatus();
  }

  absl::Status Place(int32_t rank, ReadFile read) {
    const Part part = read.et != nullptr       ? Part::kEt
                      : read.kineto != nullptr ? Part::kKineto
                                               : Part::kWhole;
    std::map<Part, size_t>& claims = claimed_[rank];
    const auto rival = std::find_if(claims.begin(), claims.end(), [part](const auto& claim) {
      return claim.first == part || claim.first == Part::kWhole || part == Part::kWhole;
    });
    if (rival != claims.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank ", rank, ": claimed by both ", files_[rival->second].name, " (",
                       FileKindName(*kinds_[rival->second]), ") and ", files_[read.file].name, " (",
                       FileKindName(*kinds_[read.file]),
                       "); leave one out, or give their ranks under \"files\" in a manifest"));
    }
    claims.emplace(part, read.file);
    RankFiles& slot = waiting_[rank];
    (part == Part::kEt       ? slot.et
     : part == Part::kKineto ? slot.kineto
                             : slot.whole) = std::move(read);
    const bool paired =
        (slot.et.has_value() || !has_et_) && (slot.kineto.has_value() || !has_kineto_);
    return part == Part::kWhole || paired ? Link(rank) : absl::OkStatus();
  }

  // A file without a rank goes with the one rank that lacks its kind; alone, it is rank 0.
  absl::Status PlaceFilesWithoutRank() {
    if (without_rank_.empty()) return absl::OkStatus();
    std::sort(without_rank_.begin(), without_rank_.end(),
              [](const ReadFile& a, const ReadFile& b) { return a.file < b.file; });
    int32_t rank = 0;
    const bool a_pair = without_rank_.size() == 2 && claimed_.empty() &&
                        (without_rank_[0].et == nullptr) != (without_rank_[1].et == nullptr);
    if (without_rank_.size() == 1 && waiting_.size() == 1 && ranks_.empty()) {
      rank = waiting_.begin()->first;
      notices_.push_back(absl::StrCat(files_[without_rank_[0].file].name,
                                      ": no rank anywhere; it is taken for rank ", rank,
                                      ", the only other file's"));
    } else if (a_pair || (without_rank_.size() == 1 && claimed_.empty())) {
      notices_.push_back(absl::StrCat(files_[without_rank_[0].file].name,
                                      ": no rank anywhere; it is taken for rank 0"));
    } else {
      const absl::Status status = absl::InvalidArgumentError(absl::StrCat(
          "the rank is not in the file, nor in a manifest, nor in its name, and ", files_.size(),
          " files were given; name them like rank0.et.json, or list them in "
          "a manifest under \"files\""));
      if (!options_.report_only) return Annotate(status, ListFilesWithoutRank());
      for (const ReadFile& read : without_rank_) RETURN_IF_ERROR(EndsImport(read.file, status));
      return absl::OkStatus();
    }
    for (ReadFile& read : without_rank_) {
      const size_t file = read.file;
      RETURN_IF_ERROR(EndsImport(file, Place(rank, std::move(read))));
    }
    return absl::OkStatus();
  }

  // "a.json, b.json and 3 more".
  std::string ListFilesWithoutRank() const {
    constexpr size_t kShown = 10;
    std::string names;
    for (size_t i = 0; i < without_rank_.size() && i < kShown; ++i) {
      absl::StrAppend(&names, i == 0 ? "" : ", ", files_[without_rank_[i].file].name);
    }
    if (without_rank_.size() > kShown) {
      absl::StrAppend(&names, " and ", without_rank_.size() - kShown, " more");
    }
    return names;
  }

  absl::Status LinkWhatIsLeft() {
    while (!waiting_.empty()) RETURN_IF_ERROR(Link(waiting_.begin()->first));
    return absl::OkStatus();
  }

  absl::Status Link(int32_t rank) {
    const auto slot = waiting_.extract(rank);
    RankFiles& files = slot.mapped();
    const auto ledger_of = [this](const std::optional<ReadFile>& half) {
      return half.has_value() ? &ledgers_[half->file] : nullptr;
    };
    const size_t file = (files.whole.has_value() ? files.whole
                         : files.et.has_value()  ? files.et
                                                 : files.kineto)
                            ->file;
    std::string names = files_[file].name;
    absl::StatusOr<RankTrace> linked;
    if (files.whole.has_value()) {
      linked = std::move(*files.whole->whole);
      FillMembers(&*linked);
    } else {
      if (files.et.has_value() && files.kineto.has_value()) {
        absl::StrAppend(&names, " with ", files_[files.kineto->file].name);
      }
      linked = LinkRank(
          files.et.has_value() ? files.et->et.get() : nullptr, ledger_of(files.et),
          files.kineto.has_value() ? files.kineto->kineto.get() : nullptr, ledger_of(files.kineto),
          rank, manifest_file_.has_value() ? &manifest_ : nullptr, options_.kernel_names.get());
    }
    absl::Status status = linked.status();
    if (status.ok() && !options_.report_only) status = CheckAcyclic(*linked);
    if (!status.ok()) {
      if (!options_.report_only) return Annotate(status, names);
      return EndsImport(file, status);
    }
    linked->rank = rank;
    names_of_rank_[rank] = names;
    ranks_.push_back(*std::move(linked));
    return absl::OkStatus();
  }

  // Chakra files name groups without members; the manifest may have them.
  void FillMembers(RankTrace* rank) const {
    for (ProcessGroup& group : rank->groups) {
      for (const ProcessGroup& known : manifest_.groups) {
        if (group.ranks.empty() && known.name == group.name) group.ranks = known.ranks;
      }
    }
  }

  absl::Status CheckRanks() {
    if (manifest_.world_size > 0) {
      RETURN_IF_ERROR(StateWorldSize(manifest_.world_size, files_[*manifest_file_].name));
    }
    const int32_t given = options_.settings.world_size;
    if (world_size_ == 0) world_size_ = given;
    if (given != 0 && given != world_size_) {
      notices_.push_back(absl::StrCat("world size: ", world_size_stated_by_, " says ", world_size_,
                                      "; the given ", given, " is not used"));
    }
    if (world_size_ == 0) return absl::OkStatus();
    for (const auto& [rank, names] : names_of_rank_) {
      if (rank < world_size_) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          names, ": rank: ", rank, " is not in [0, ", world_size_, "), the world size that ",
          world_size_stated_by_.empty() ? std::string("the caller") : world_size_stated_by_,
          " states"));
    }
    return absl::OkStatus();
  }

  const std::vector<ImportFile>& files_;
  const ImportOptions& options_;
  std::vector<std::optional<FileKind>> kinds_;  // Of each file; nullopt: unreadable.
  int64_t rank_files_count_ = 0;
  bool has_et_ = false;
  bool has_kineto_ = false;
  Manifest manifest_;
  std::optional<size_t> manifest_file_;
  int32_t world_size_ = 0;
  std::string world_size_stated_by_;
  std::map<int32_t, std::map<Part, size_t>> claimed_;  // Which file gave which part of a rank.
  std::map<int32_t, RankFiles> waiting_;
  std::vector<ReadFile> without_rank_;
  std::vector<RankTrace> ranks_;
  std::map<int32_t, std::string> names_of_rank_;
  std::vector<Ledger> ledgers_;
  std::vector<std::string> notices_;
};

}  // namespace

absl::StatusOr<ImportResult> ImportTrace(const std::vector<ImportFile>& files,
                                         const ImportOptions& options) {
  ScratchFolder scratch;
  std::vector<std::string> notices;
  ASSIGN_OR_RETURN(const std::vector<ImportFile> expanded,
                   ExpandArchives(files, options.scratch_folder, &scratch, &notices));
  return Importer(expanded, options, std::move(notices)).Run();
}

}  // namespace chakrad
