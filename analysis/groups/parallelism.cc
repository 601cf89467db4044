#include "analysis/groups/parallelism.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/utf8.h"

namespace chakrad {
namespace {

// Bytes of a name that a reason quotes, and that are searched for words.
constexpr size_t kShownNameBytes = 48;
constexpr size_t kSearchedBytes = 256;
// Of reductions of one type and size: activations of one model have one size, over and over;
// buckets of gradients have many. DDP's last bucket differs, so that 3/4 is seldom reached there.
constexpr double kOneSizeShare = 0.75;
constexpr double kOneSizeReductionsPerRank = 16;

struct Word {
  absl::string_view text;
  Parallelism parallelism;
};
// As PyTorch's device meshes, Megatron and DeepSpeed name their groups.
constexpr Word kWords[] = {
    {"dp", Parallelism::kData},        {"ddp", Parallelism::kData},
    {"fsdp", Parallelism::kData},      {"hsdp", Parallelism::kData},
    {"data", Parallelism::kData},      {"zero", Parallelism::kData},
    {"replicate", Parallelism::kData}, {"shard", Parallelism::kData},
    {"tp", Parallelism::kTensor},      {"tensor", Parallelism::kTensor},
    {"pp", Parallelism::kPipeline},    {"pipeline", Parallelism::kPipeline},
    {"pipe", Parallelism::kPipeline},  {"ep", Parallelism::kExpert},
    {"expert", Parallelism::kExpert},  {"experts", Parallelism::kExpert},
    {"moe", Parallelism::kExpert},
};

// The kinds that words of `text` name: "TENSOR_MODEL_PARALLEL_GROUP", "mesh_tp", "tp0".
std::set<Parallelism> KindsIn(absl::string_view text) {
  std::set<Parallelism> kinds;
  text = text.substr(0, kSearchedBytes);
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && absl::ascii_isalpha(text[end])) ++end;
    const std::string word = absl::AsciiStrToLower(text.substr(begin, end - begin));
    for (const Word& known : kWords) {
      if (word == known.text) kinds.insert(known.parallelism);
    }
    begin = end + 1;
  }
  // Replicas of an expert hold other data.
  if (kinds == std::set{Parallelism::kData, Parallelism::kExpert}) kinds = {Parallelism::kData};
  return kinds;
}

bool GuessByWords(const GroupEvidence& group, ParallelismGuess* guess) {
  for (const bool by_description : {true, false}) {
    const std::string& text = by_description ? group.description : group.name;
    const std::set<Parallelism> kinds = KindsIn(text);
    if (kinds.size() != 1) continue;
    guess->parallelism = *kinds.begin();
    guess->reason = absl::StrCat("its ", by_description ? "description" : "name", " is \"",
                                 ValidUtf8(text, kShownNameBytes), "\"");
    return true;
  }
  return false;
}

std::string Percent(double part, double whole) {
  return absl::StrCat(std::lround(100 * part / whole), " %");
}

bool GuessByOperations(const GroupEvidence& group, ParallelismGuess* guess) {
  if (group.messages_count == 0 && group.all_to_alls_count == 0) return false;
  const double bytes = group.reductions_bytes + group.all_to_alls_bytes + group.messages_bytes;
  if (group.messages_count > 0 && group.messages_bytes >= bytes / 2) {
    *guess = {Parallelism::kPipeline,
              bytes > 0 ? absl::StrCat("sends and receives are ",
                                       Percent(group.messages_bytes, bytes), " of its bytes")
                        : "it sends and receives"};
    return true;
  }
  if (group.all_to_alls_count > 0 && group.all_to_alls_bytes >= bytes / 2) {
    *guess = {Parallelism::kExpert,
              bytes > 0 ? absl::StrCat("all-to-alls are ", Percent(group.all_to_alls_bytes, bytes),
                                       " of its bytes")
                        : "it runs all-to-alls"};
    return true;
  }
  return false;
}

// Groups that reduce, of one stride: the same dimension of the job's mesh.
struct Dimension {
  int64_t stride = 0;
  double reductions_per_rank = 0;  // Of the group that has most.
};

// All of them, so that what a group compares itself with takes no pass over them: there may be
// as many as groups.
class Dimensions {
 public:
  void Add(const GroupEvidence& group) {
    double& most = most_of_[group.shape.stride];
    most = std::max(most, group.ReductionsPerRank());
  }

  // Once all are added: two of the least stride, and two with most reductions.
  void Rank() {
    for (const auto& [stride, most] : most_of_) {
      inner_.push_back({stride, most});
      busy_.push_back({stride, most});
    }
    Keep(&inner_, [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
    Keep(&busy_, [](const Dimension& a, const Dimension& b) {
      return a.reductions_per_rank > b.reductions_per_rank;
    });
  }

  bool empty() const { return most_of_.empty(); }
  // Of another stride than this: that of the least stride, and that with most reductions. Null
  // when there is none.
  const Dimension* InnermostBut(int64_t stride) const { return FirstBut(inner_, stride); }
  const Dimension* BusiestBut(int64_t stride) const { return FirstBut(busy_, stride); }

 private:
  template <typename Less>
  static void Keep(std::vector<Dimension>* all, Less less) {
    const size_t kept = std::min<size_t>(all->size(), 2);
    std::partial_sort(all->begin(), all->begin() + static_cast<ptrdiff_t>(kept), all->end(), less);
    all->resize(kept);
  }

  static const Dimension* FirstBut(const std::vector<Dimension>& ranked, int64_t stride) {
    for (const Dimension& one : ranked) {
      if (one.stride != stride) return &one;
    }
    return nullptr;
  }

  absl::flat_hash_map<int64_t, double> most_of_;
  std::vector<Dimension> inner_;
  std::vector<Dimension> busy_;
};

class Guesser {
 public:
  explicit Guesser(const std::vector<GroupEvidence>& groups) : groups_(groups) {}

  std::vector<ParallelismGuess> Run() {
    std::vector<ParallelismGuess> guesses(groups_.size());
    std::vector<bool> guessed(groups_.size(), false);
    for (size_t i = 0; i < groups_.size(); ++i) {
      const GroupEvidence& group = groups_[i];
      if (group.shape.ranks_count == 1) {
        guesses[i].reason = "one rank shares nothing";
        guessed[i] = true;
        continue;
      }
      guessed[i] = GuessByWords(group, &guesses[i]) || GuessByOperations(group, &guesses[i]);
      if (guesses[i].parallelism == Parallelism::kData) data_known_ = true;
      const bool inner = !group.shape.is_world && group.shape.stride > 0;
      if (group.reductions_count == 0 || !inner) continue;
      // A group that is known to be something else is no dimension to compare with.
      if (guessed[i] && guesses[i].parallelism != Parallelism::kData &&
          guesses[i].parallelism != Parallelism::kTensor) {
        continue;
      }
      dimensions_.Add(group);
    }
    dimensions_.Rank();
    // What the world is for depends on what the others are.
    for (const bool world : {false, true}) {
      for (size_t i = 0; i < groups_.size(); ++i) {
        if (guessed[i] || groups_[i].shape.is_world != world) continue;
        guesses[i] = GuessByShape(groups_[i]);
        absl::StrAppend(&guesses[i].reason, Besides(groups_[i]));
        if (guesses[i].parallelism == Parallelism::kData) data_known_ = true;
      }
    }
    return guesses;
  }

 private:
  ParallelismGuess GuessByShape(const GroupEvidence& group) const {
    if (group.reductions_count == 0) return {Parallelism::kUnknown, "it reduces nothing"};
    if (group.shape.ranks_count == 0) return {Parallelism::kUnknown, "its members are not known"};
    if (group.shape.is_world) return OfWorld(group);
    if (group.shape.stride == 0) {
      return {Parallelism::kUnknown, "its ranks are irregular and nothing names it"};
    }
    const Dimension* innermost = dimensions_.InnermostBut(group.shape.stride);
    if (innermost == nullptr) return BySizes(group);
    const double most_elsewhere = dimensions_.BusiestBut(group.shape.stride)->reductions_per_rank;
    if (innermost->stride < group.shape.stride) {
      return {Parallelism::kData,
              absl::StrCat("it reduces across groups of stride ", innermost->stride, ", ",
                           Often(group.ReductionsPerRank()))};
    }
    if (group.ReductionsPerRank() >= most_elsewhere) {
      return {Parallelism::kTensor, absl::StrCat("its ranks are next to each other and reduce ",
                                                 Often(group.ReductionsPerRank()),
                                                 "; groups across them ", Often(most_elsewhere))};
    }
    return {Parallelism::kUnknown,
            absl::StrCat("its ranks are next to each other, but reduce only ",
                         Often(group.ReductionsPerRank()), "; groups across them ",
                         Often(most_elsewhere))};
  }

  ParallelismGuess OfWorld(const GroupEvidence& group) const {
    if (data_known_) {
      return {Parallelism::kUnknown,
              "all ranks of the job, of which other groups hold replicas: losses, norms, setup"};
    }
    if (dimensions_.empty()) return BySizes(group);
    return {Parallelism::kData, "all ranks of the job reduce; no other group holds replicas"};
  }

  static ParallelismGuess BySizes(const GroupEvidence& group) {
    const double share = static_cast<double>(group.most_frequent_count) /
                         static_cast<double>(group.reductions_count);
    if (share >= kOneSizeShare && group.ReductionsPerRank() >= kOneSizeReductionsPerRank) {
      return {Parallelism::kTensor,
              absl::StrCat("no other groups reduce, and ",
                           Percent(static_cast<double>(group.most_frequent_count),
                                   static_cast<double>(group.reductions_count)),
                           " of its reductions (", Often(group.ReductionsPerRank()),
                           ") have one size, as activations have")};
    }
    return {Parallelism::kData, absl::StrCat("no other groups reduce, and its reductions (",
                                             Often(group.ReductionsPerRank()),
                                             ") have several sizes or are few, as gradients'")};
  }

  // What a guess by reductions leaves aside.
  static std::string Besides(const GroupEvidence& group) {
    const double other = group.all_to_alls_bytes + group.messages_bytes;
    if (other <= 0) return "";
    const char* what = group.messages_count == 0      ? "all-to-alls"
                       : group.all_to_alls_count == 0 ? "messages"
                                                      : "all-to-alls and messages";
    return absl::StrCat("; besides, ", what, " are ",
                        Percent(other, other + group.reductions_bytes), " of its bytes");
  }

  static std::string Often(double per_rank) {
    return absl::StrCat(std::lround(per_rank), " times a rank");
  }

  const std::vector<GroupEvidence>& groups_;
  Dimensions dimensions_;
  bool data_known_ = false;
};

}  // namespace

absl::string_view ParallelismName(Parallelism parallelism) {
  switch (parallelism) {
    case Parallelism::kUnknown:
      break;
    case Parallelism::kData:
      return "data";
    case Parallelism::kTensor:
      return "tensor";
    case Parallelism::kPipeline:
      return "pipeline";
    case Parallelism::kExpert:
      return "expert";
  }
  return "unknown";
}

GroupPattern ShapeOfGroup(const std::vector<int32_t>& ranks, int32_t world_size) {
  std::vector<int32_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  GroupPattern shape;
  shape.ranks_count = static_cast<int64_t>(sorted.size());
  shape.is_world = shape.ranks_count > 0 && shape.ranks_count == world_size;
  if (sorted.size() < 2) return shape;
  shape.stride = int64_t{sorted[1]} - sorted[0];
  for (size_t i = 2; i < sorted.size(); ++i) {
    if (int64_t{sorted[i]} - sorted[i - 1] != shape.stride) shape.stride = 0;
  }
  return shape;
}

std::string ShapeText(const GroupPattern& shape) {
  if (shape.ranks_count == 0) return "members not known";
  if (shape.ranks_count == 1) return "1 rank";
  if (shape.stride == 0) return absl::StrCat(shape.ranks_count, " ranks, irregular");
  return absl::StrCat(shape.ranks_count, " ranks with stride ", shape.stride);
}

std::vector<ParallelismGuess> GuessParallelism(const std::vector<GroupEvidence>& groups) {
  return Guesser(groups).Run();
}

}  // namespace chakrad
