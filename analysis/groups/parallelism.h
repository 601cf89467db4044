// What a process group is for: a guess, and why. See docs/analysis.md#parallelism.
#ifndef CHAKRAD_ANALYSIS_GROUPS_PARALLELISM_H_
#define CHAKRAD_ANALYSIS_GROUPS_PARALLELISM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

enum class Parallelism : uint8_t {
  kUnknown = 0,
  kData = 1,      // Replicas of a model, or shards of one (ZeRO, FSDP), on other data.
  kTensor = 2,    // Shards of operators.
  kPipeline = 3,  // Stages.
  kExpert = 4,    // Experts, or tables of embeddings: tokens go to where they are.
};
inline constexpr int kParallelismsCount = 5;
// "unknown", "data", "tensor", "pipeline", "expert".
absl::string_view ParallelismName(Parallelism parallelism);

// How the ranks of a group lie among those of the job.
struct GroupPattern {
  int64_t ranks_count = 0;  // 0: members not known.
  int64_t stride = 0;  // Between neighbours, in ascending order; 0: irregular, or fewer than 2.
  bool is_world = false;
};
// `ranks`: in any order. O(k log k).
GroupPattern ShapeOfGroup(const std::vector<int32_t>& ranks, int32_t world_size);
// "8 ranks with stride 1", "5 ranks, irregular", "1 rank", "members not known".
std::string ShapeText(const GroupPattern& shape);

// What is known of a group that somebody used.
struct GroupEvidence {
  std::string name;
  std::string description;
  GroupPattern shape;
  // Of all ranks together: operations, and their data (nccl-tests' algorithm bytes; a message's).
  int64_t reductions_count = 0;  // All-reduces, reduce-scatters, all-gathers, reduces.
  int64_t all_to_alls_count = 0;
  int64_t messages_count = 0;  // Sends and receives.
  double reductions_bytes = 0;
  double all_to_alls_bytes = 0;
  double messages_bytes = 0;
  int64_t users_count = 0;  // Ranks that used it.
  // Of its reductions, those that have the most frequent type and size.
  int64_t most_frequent_count = 0;

  double ReductionsPerRank() const {
    return users_count == 0 ? 0 : static_cast<double>(reductions_count) / users_count;
  }
};

struct ParallelismGuess {
  Parallelism parallelism = Parallelism::kUnknown;
  std::string reason;
};

// One guess a group. Words in a description or name decide; else what the group does; of groups
// that reduce, how they lie to each other and how often they are used. O(groups log groups).
std::vector<ParallelismGuess> GuessParallelism(const std::vector<GroupEvidence>& groups);

}  // namespace chakrad

#endif  // CHAKRAD_ANALYSIS_GROUPS_PARALLELISM_H_
