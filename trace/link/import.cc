#include "trace/link/import.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/check/cycles.h"
#include "trace/link/assemble.h"
#include "trace/link/link.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_et/chakra_et.h"
#include "trace/readers/detect.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/manifest/manifest.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

absl::string_view BaseName(absl::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == absl::string_view::npos ? name : name.substr(slash + 1);
}

// A rank file that was read and waits for its partner.
struct ReadFile {
  size_t file = 0;  // Index into the given files.
  std::unique_ptr<PyTorchEt> et;
  std::unique_ptr<KinetoTrace> kineto;
  std::unique_ptr<RankTrace> chakra;
};

// The files of one rank, until they are linked.
struct RankFiles {
  std::optional<ReadFile> et;
  std::optional<ReadFile> kineto;
  std::optional<ReadFile> chakra;
};

class Importer {
 public:
  Importer(const std::vector<ImportFile>& files, const ImportOptions& options)
      : files_(files), options_(options) {
    ledgers_.resize(files.size());
    for (size_t i = 0; i < files.size(); ++i) ledgers_[i].file = files[i].name;
  }

  absl::StatusOr<ImportResult> Run() {
    RETURN_IF_ERROR(DetectKinds());
    for (const size_t file : InRankOrder()) {
      RETURN_IF_ERROR(ReadRankFile(file));
    }
    RETURN_IF_ERROR(PlaceFilesWithoutRank());
    RETURN_IF_ERROR(LinkWhatIsLeft());
    RETURN_IF_ERROR(CheckRanks());
    ImportResult result;
    ASSIGN_OR_RETURN(result.trace, AssembleTrace(std::move(ranks_), world_size_, &notices_));
    result.ledgers = std::move(ledgers_);
    result.notices = std::move(notices_);
    return result;
  }

 private:
  absl::Status DetectKinds() {
    if (files_.empty()) return absl::InvalidArgumentError("files: none were given");
    for (size_t i = 0; i < files_.size(); ++i) {
      ASSIGN_OR_RETURN(auto source, Open(i));
      const absl::StatusOr<FileKind> kind = DetectFileKind(source.get());
      if (!kind.ok()) return Annotate(kind.status(), files_[i].name);
      kinds_.push_back(*kind);
      if (*kind == FileKind::kManifest) RETURN_IF_ERROR(ReadManifest(i));
    }
    for (const auto& [name, rank] : options_.rank_by_file) {
      const bool known = std::any_of(files_.begin(), files_.end(),
                                     [&](const ImportFile& f) { return f.name == name; });
      if (!known) {
        return absl::InvalidArgumentError(
            absl::StrCat("rank_by_file: no file is named ", name, " (rank ", rank, ")"));
      }
    }
    const auto rank_files = kinds_.size() - static_cast<size_t>(manifest_file_.has_value() ? 1 : 0);
    if (rank_files == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          files_[*manifest_file_].name,
          ": only a manifest; add the execution traces or Kineto files that it describes"));
    }
    has_et_ = std::count(kinds_.begin(), kinds_.end(), FileKind::kPyTorchEt) > 0;
    has_kineto_ = std::count(kinds_.begin(), kinds_.end(), FileKind::kKineto) > 0;
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<ByteSource>> Open(size_t file) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenFileSource(files_[file].path);
    if (!source.ok()) return Annotate(source.status(), files_[file].name);
    return source;
  }

  absl::Status ReadManifest(size_t file) {
    if (manifest_file_.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("two manifests: ", files_[*manifest_file_].name, " and ", files_[file].name,
                       "; one describes the whole trace"));
    }
    manifest_file_ = file;
    ASSIGN_OR_RETURN(auto source, Open(file));
    std::string json;
    char buffer[1 << 16];
    while (true) {
      const absl::StatusOr<size_t> count = source->Read(buffer, sizeof(buffer));
      if (!count.ok()) return Annotate(count.status(), files_[file].name);
      if (*count == 0) break;
      json.append(buffer, *count);
      if (json.size() > kMaxManifestBytes) {
        return absl::InvalidArgumentError(absl::StrCat(files_[file].name, ": manifest larger than ",
                                                       kMaxManifestBytes, " bytes"));
      }
    }
    absl::StatusOr<Manifest> manifest = ParseManifest(json);
    if (!manifest.ok()) return Annotate(manifest.status(), files_[file].name);
    manifest_ = *std::move(manifest);
    ledgers_[file].Merge("manifest");
    return absl::OkStatus();
  }

  // What manifest, name or the user say, without looking inside.
  std::optional<int32_t> RankFromOutside(size_t file) const {
    const std::string base(BaseName(files_[file].name));
    const auto listed = manifest_.rank_by_file.find(base);
    if (listed != manifest_.rank_by_file.end()) return listed->second;
    const std::optional<int32_t> named = RankFromFileName(files_[file].name);
    if (named.has_value()) return named;
    const auto given = options_.rank_by_file.find(files_[file].name);
    if (given != options_.rank_by_file.end()) return given->second;
    return std::nullopt;
  }

  // Partners next to each other, so that few files wait in memory.
  std::vector<size_t> InRankOrder() const {
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t i = 0; i < files_.size(); ++i) {
      if (kinds_[i] == FileKind::kManifest) continue;
      const std::optional<int32_t> rank = RankFromOutside(i);
      order.emplace_back(rank.has_value() ? int64_t{*rank} : INT64_MAX, i);
    }
    std::sort(order.begin(), order.end());
    std::vector<size_t> files;
    for (const auto& [rank, file] : order) files.push_back(file);
    return files;
  }

  absl::Status ReadRankFile(size_t file) {
    ASSIGN_OR_RETURN(auto source, Open(file));
    ReadFile read;
    read.file = file;
    int32_t rank = kNoRank, world_size = 0;
    if (kinds_[file] == FileKind::kPyTorchEt) {
      absl::StatusOr<PyTorchEt> et = ReadPyTorchEt(source.get(), &ledgers_[file]);
      if (!et.ok()) return Annotate(et.status(), files_[file].name);
      rank = et->rank;
      world_size = has_kineto_ ? 0 : et->world_size;  // Kineto's is of the run that was timed.
      read.et = std::make_unique<PyTorchEt>(*std::move(et));
    } else if (kinds_[file] == FileKind::kKineto) {
      absl::StatusOr<KinetoTrace> kineto = ReadKineto(source.get(), &ledgers_[file]);
      if (!kineto.ok()) return Annotate(kineto.status(), files_[file].name);
      rank = kineto->rank;
      world_size = kineto->world_size;
      read.kineto = std::make_unique<KinetoTrace>(*std::move(kineto));
    } else {
      absl::StatusOr<RankTrace> chakra = ReadChakraEt(source.get(), &ledgers_[file]);
      if (!chakra.ok()) return Annotate(chakra.status(), files_[file].name);
      rank = chakra->rank;
      read.chakra = std::make_unique<RankTrace>(*std::move(chakra));
    }
    if (world_size > 0) RETURN_IF_ERROR(StateWorldSize(world_size, files_[file].name));
    ASSIGN_OR_RETURN(rank, DecideRank(file, rank));
    if (rank != kNoRank) return Place(rank, std::move(read));
    without_rank_.push_back(std::move(read));
    return absl::OkStatus();
  }

  absl::StatusOr<int32_t> DecideRank(size_t file, int32_t content_rank) const {
    const auto given = options_.rank_by_file.find(files_[file].name);
    if (content_rank != kNoRank) {
      if (given != options_.rank_by_file.end() && given->second != content_rank) {
        return absl::InvalidArgumentError(
            absl::StrCat(files_[file].name, ": rank_by_file says rank ", given->second,
                         ", the file itself says rank ", content_rank));
      }
      return content_rank;
    }
    const int32_t rank = RankFromOutside(file).value_or(kNoRank);
    if (rank < kNoRank) {
      return absl::InvalidArgumentError(
          absl::StrCat(files_[file].name, ": rank: ", rank, " is below 0"));
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
    RankFiles& slot = waiting_[rank];
    const auto [claim, first] =
        claimed_.emplace(std::make_pair(rank, kinds_[read.file]), read.file);
    const auto other = claimed_.find(
        std::make_pair(rank, read.chakra != nullptr ? FileKind::kPyTorchEt : FileKind::kChakraEt));
    if (!first || other != claimed_.end()) {
      const size_t rival = first ? other->second : claim->second;
      return absl::InvalidArgumentError(
          absl::StrCat("rank ", rank, ": claimed by both ", files_[rival].name, " (",
                       FileKindName(kinds_[rival]), ") and ", files_[read.file].name, " (",
                       FileKindName(kinds_[read.file]),
                       "); leave one out, or give their ranks under \"files\" in a manifest"));
    }
    std::optional<ReadFile>& place = read.et != nullptr       ? slot.et
                                     : read.kineto != nullptr ? slot.kineto
                                                              : slot.chakra;
    place = std::move(read);
    const bool paired =
        (slot.et.has_value() || !has_et_) && (slot.kineto.has_value() || !has_kineto_);
    const bool complete = slot.chakra.has_value() || paired;
    return complete ? Link(rank) : absl::OkStatus();
  }

  // A file without a rank goes with the one rank that lacks its kind; alone, it is rank 0.
  absl::Status PlaceFilesWithoutRank() {
    if (without_rank_.empty()) return absl::OkStatus();
    std::sort(without_rank_.begin(), without_rank_.end(),
              [](const ReadFile& a, const ReadFile& b) { return a.file < b.file; });
    int32_t rank = 0;
    const bool a_pair = without_rank_.size() == 2 && claimed_.empty() &&
                        kinds_[without_rank_[0].file] != kinds_[without_rank_[1].file];
    if (without_rank_.size() == 1 && waiting_.size() == 1 && ranks_.empty()) {
      rank = waiting_.begin()->first;
      notices_.push_back(absl::StrCat(files_[without_rank_[0].file].name,
                                      ": no rank anywhere; it is taken for rank ", rank,
                                      ", the only other file's"));
    } else if (a_pair || (without_rank_.size() == 1 && claimed_.empty())) {
      notices_.push_back(absl::StrCat(files_[without_rank_[0].file].name,
                                      ": no rank anywhere; it is taken for rank 0"));
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          ListFilesWithoutRank(),
          ": the rank is not in the file, nor in a manifest, nor in its name, and ", files_.size(),
          " files were given; name them like rank0.et.json, or list them in "
          "a manifest under \"files\""));
    }
    for (ReadFile& read : without_rank_) RETURN_IF_ERROR(Place(rank, std::move(read)));
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
    absl::StatusOr<RankTrace> linked;
    std::string names;
    if (files.chakra.has_value()) {
      names = files_[files.chakra->file].name;
      linked = std::move(*files.chakra->chakra);
      FillMembers(&*linked);
    } else {
      Ledger* et_ledger = files.et.has_value() ? &ledgers_[files.et->file] : nullptr;
      Ledger* kineto_ledger = files.kineto.has_value() ? &ledgers_[files.kineto->file] : nullptr;
      names = files_[(files.et.has_value() ? files.et : files.kineto)->file].name;
      if (files.et.has_value() && files.kineto.has_value()) {
        absl::StrAppend(&names, " with ", files_[files.kineto->file].name);
      }
      linked = LinkRank(files.et.has_value() ? files.et->et.get() : nullptr, et_ledger,
                        files.kineto.has_value() ? files.kineto->kineto.get() : nullptr,
                        kineto_ledger, rank, manifest_file_.has_value() ? &manifest_ : nullptr);
    }
    if (!linked.ok()) return Annotate(linked.status(), names);
    linked->rank = rank;
    RETURN_IF_ERROR(Annotate(CheckAcyclic(*linked), names));
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
    if (world_size_ == 0) world_size_ = options_.world_size;
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

  // A manifest lists groups and files of one job: far below this.
  static constexpr size_t kMaxManifestBytes = size_t{64} << 20;

  const std::vector<ImportFile>& files_;
  const ImportOptions& options_;
  std::vector<FileKind> kinds_;
  bool has_et_ = false;
  bool has_kineto_ = false;
  Manifest manifest_;
  std::optional<size_t> manifest_file_;
  int32_t world_size_ = 0;
  std::string world_size_stated_by_;
  std::map<std::pair<int32_t, FileKind>, size_t> claimed_;
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
  return Importer(files, options).Run();
}

}  // namespace chakrad
