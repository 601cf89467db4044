#include "trace/writers/chrome_trace_writer.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status.h"
#include "trace/writers/json_text.h"
#include "trace/writers/lanes.h"
#include "trace/writers/pieces.h"

namespace chakrad {
namespace {

// Ranks whose base times are further apart were not one job: 90 days.
constexpr int64_t kMaxApartNs = int64_t{90} * 24 * 3600 * 1'000'000'000;
// Lanes of a queue get sort keys of their own up to here.
constexpr size_t kSortKeysPerQueue = 1000;

int64_t AddSaturating(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// Nanoseconds as microseconds, exact: "-0.001".
void AppendMicros(int64_t ns, std::string* json) {
  const uint64_t size = ns < 0 ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  absl::StrAppendFormat(json, "%s%u.%03u", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

const char* CategoryOf(const RankTrace& rank, uint32_t node) {
  if ((rank.flags[node] & RankTrace::kAnnotation) != 0) return "annotation";
  if (IsComm(rank.type[node])) return "comm";
  if (IsMemory(rank.type[node])) return "memory";
  if (rank.is_host(node)) return "host";
  return rank.type[node] == NodeType::kComp ? "compute" : "metadata";
}

struct Counts {
  int64_t shown = 0;
  int64_t without_start = 0;
  int64_t without_duration = 0;
};

// The base of a file's times, and how far each rank's own is from it.
class TimeBase {
 public:
  explicit TimeBase(const std::vector<const RankTrace*>& ranks) {
    int64_t last_ns = 0;
    base_ns_ = INT64_MAX;
    for (const RankTrace* rank : ranks) {
      base_ns_ = std::min(base_ns_, rank->base_unix_ns);
      last_ns = std::max(last_ns, rank->base_unix_ns);
    }
    aligned_ = base_ns_ > 0 && last_ns - base_ns_ <= kMaxApartNs;
    if (!aligned_ && ranks.size() != 1) base_ns_ = 0;
  }
  int64_t base_ns() const { return base_ns_; }
  bool aligned() const { return aligned_; }
  int64_t ShiftOf(const RankTrace& rank) const {
    return aligned_ ? rank.base_unix_ns - base_ns_ : 0;
  }

 private:
  int64_t base_ns_ = 0;
  bool aligned_ = false;
};

class ChromeTraceWriter {
 public:
  ChromeTraceWriter(const Trace& trace, bool arrows, Pieces* pieces)
      : trace_(trace), arrows_(arrows), pieces_(*pieces), json_(pieces->text()) {}

  absl::Status Write(const std::vector<const RankTrace*>& ranks) {
    const TimeBase base(ranks);
    json_ += "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    for (const RankTrace* rank : ranks) {
      rank_ = rank;
      shift_ns_ = base.ShiftOf(*rank);
      RETURN_IF_ERROR(WriteRank());
    }
    absl::StrAppend(&json_, "\n],\"otherData\":{\"base_unix_ns\":\"", base.base_ns(),
                    "\",\"ranks\":\"", ranks.size(), "\",\"ranks_aligned\":\"",
                    base.aligned() || ranks.size() == 1 ? "yes" : "no", "\",\"nodes_shown\":\"",
                    counts_.shown, "\",\"nodes_without_start\":\"", counts_.without_start,
                    "\",\"nodes_without_duration\":\"", counts_.without_duration, "\"}}\n");
    return pieces_.Flush();
  }

 private:
  void BeginEvent() {
    if (!first_event_) json_ += ",\n";
    first_event_ = false;
  }

  absl::Status WriteRank() {
    const std::string process = absl::StrCat("rank ", rank_->rank);
    WriteMetadata(0, "process_name", "name", process);
    WriteMetadata(0, "process_sort_index", "sort_index", absl::StrCat(rank_->rank));
    tid_of_node_.assign(rank_->size(), 0);
    tids_ = 0;
    RETURN_IF_ERROR(WriteNodes());
    return arrows_ ? WriteArrows() : absl::OkStatus();
  }

  // Nodes with a start, queue by queue in the order in which lanes want them.
  std::vector<uint32_t> InLaneOrder() {
    std::vector<uint32_t> order;
    for (uint32_t node = 0; node < rank_->size(); ++node) {
      if (rank_->start_ns[node] == kUnknownNs) {
        ++counts_.without_start;
      } else {
        order.push_back(node);
      }
    }
    std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return std::make_tuple(rank_->queue[a], rank_->start_ns[a], -rank_->dur_ns[a], a) <
             std::make_tuple(rank_->queue[b], rank_->start_ns[b], -rank_->dur_ns[b], b);
    });
    return order;
  }

  absl::Status WriteNodes() {
    Lanes lanes;
    std::vector<int32_t> tid_of_lane;
    uint32_t queue = kNone;
    for (const uint32_t node : InLaneOrder()) {
      if (rank_->queue[node] != queue) {
        queue = rank_->queue[node];
        lanes = Lanes();
        tid_of_lane.clear();
      }
      const int64_t start_ns = rank_->start_ns[node];
      const int64_t end_ns = AddSaturating(start_ns, std::max<int64_t>(rank_->dur_ns[node], 0));
      const size_t lane = lanes.Place(start_ns, end_ns);
      if (lane == tid_of_lane.size()) tid_of_lane.push_back(NewTid(queue, lane));
      tid_of_node_[node] = tid_of_lane[lane];
      WriteNode(node);
      RETURN_IF_ERROR(pieces_.Passed());
    }
    return absl::OkStatus();
  }

  int32_t NewTid(uint32_t queue, size_t lane) {
    const int32_t tid = ++tids_;  // From 1: viewers take thread 0 for the idle one.
    const Queue& q = rank_->queues[queue];
    std::string name = q.kind == Queue::Kind::kHostThread
                           ? absl::StrCat("thread ", q.raw_id)
                           : absl::StrCat("device ", q.device, " stream ", q.raw_id);
    if (lane > 0) absl::StrAppend(&name, " (", lane + 1, ")");
    WriteMetadata(tid, "thread_name", "name", name);
    WriteMetadata(tid, "thread_sort_index", "sort_index",
                  absl::StrCat(queue * kSortKeysPerQueue + std::min(lane, kSortKeysPerQueue - 1)));
    return tid;
  }

  void WriteMetadata(int32_t tid, const char* what, const char* key, absl::string_view value) {
    BeginEvent();
    absl::StrAppend(&json_, "{\"ph\":\"M\",\"pid\":", rank_->rank, ",\"tid\":", tid, ",\"name\":\"",
                    what, "\",\"args\":{\"", key, "\":");
    if (absl::string_view(key) == "name") {
      AppendJsonString(value, &json_);
    } else {
      absl::StrAppend(&json_, value);
    }
    json_ += "}}";
  }

  void AppendPlace(uint32_t node) {
    absl::StrAppend(&json_, ",\"pid\":", rank_->rank, ",\"tid\":", tid_of_node_[node], ",\"ts\":");
    AppendMicros(AddSaturating(rank_->start_ns[node], shift_ns_), &json_);
  }

  void WriteNode(uint32_t node) {
    ++counts_.shown;
    BeginEvent();
    const int64_t dur_ns = rank_->dur_ns[node];
    json_ += dur_ns == kUnknownNs ? "{\"ph\":\"i\",\"s\":\"t\"" : "{\"ph\":\"X\"";
    AppendPlace(node);
    if (dur_ns == kUnknownNs) {
      ++counts_.without_duration;
    } else {
      json_ += ",\"dur\":";
      AppendMicros(dur_ns, &json_);
    }
    absl::StrAppend(&json_, ",\"cat\":\"", CategoryOf(*rank_, node), "\",\"name\":");
    AppendJsonString(rank_->NameOf(node), &json_);
    absl::StrAppend(&json_, ",\"args\":{\"node_id\":\"", rank_->id[node], "\",\"type\":\"",
                    NodeTypeName(rank_->type[node]), "\"");
    AppendArgs(node);
    json_ += "}}";
  }

  void AppendArgs(uint32_t node) {
    if (const CommOp* comm = rank_->CommOf(node)) {
      if (rank_->type[node] == NodeType::kCommColl) {
        absl::StrAppend(&json_, ",\"collective\":\"", CollectiveTypeName(comm->collective), "\"");
      }
      absl::StrAppend(&json_, ",\"bytes\":\"", comm->bytes, "\"");
      if (comm->peer != kNoRank) absl::StrAppend(&json_, ",\"peer\":", comm->peer);
      if (comm->root != kNoRank) absl::StrAppend(&json_, ",\"root\":", comm->root);
      if (comm->tag != 0) absl::StrAppend(&json_, ",\"tag\":\"", comm->tag, "\"");
      if (comm->group < trace_.groups.size()) {
        const ProcessGroup& group = trace_.groups[comm->group];
        json_ += ",\"group\":";
        AppendJsonString(group.name, &json_);
        absl::StrAppend(&json_, ",\"group_size\":", group.ranks.size());
      }
    } else if (const WorkSize* size = rank_->WorkSizeOf(node)) {
      if (size->num_ops > 0) absl::StrAppend(&json_, ",\"num_ops\":\"", size->num_ops, "\"");
      if (size->tensor_bytes > 0) {
        absl::StrAppend(&json_, ",\"bytes\":\"", size->tensor_bytes, "\"");
      }
    }
  }

  // From a dependency's start to the node's: inside the events that they bind to.
  absl::Status WriteArrows() {
    for (uint32_t node = 0; node < rank_->size(); ++node) {
      for (uint32_t i = rank_->dep_begin[node]; i < rank_->dep_begin[node + 1]; ++i) {
        const EdgeKind kind = rank_->dep_kind[i];
        const uint32_t dependency = rank_->dep_node[i];
        if ((kind != EdgeKind::kLaunch && kind != EdgeKind::kSync) || tid_of_node_[node] == 0 ||
            tid_of_node_[dependency] == 0) {
          continue;
        }
        ++arrow_;
        for (const auto& [phase, end] :
             {std::pair{"\"s\"", dependency}, std::pair{"\"f\",\"bp\":\"e\"", node}}) {
          BeginEvent();
          absl::StrAppend(&json_, "{\"ph\":", phase, ",\"id\":", arrow_, ",\"cat\":\"",
                          EdgeKindName(kind), "\",\"name\":\"", EdgeKindName(kind), "\"");
          AppendPlace(end);
          json_ += "}";
        }
        RETURN_IF_ERROR(pieces_.Passed());
      }
    }
    return absl::OkStatus();
  }

  const Trace& trace_;
  const bool arrows_;
  Pieces& pieces_;
  std::string& json_;
  bool first_event_ = true;
  Counts counts_;
  int64_t arrow_ = 0;
  // Of the rank at hand.
  const RankTrace* rank_ = nullptr;
  int64_t shift_ns_ = 0;
  int32_t tids_ = 0;
  std::vector<int32_t> tid_of_node_;  // 0: not shown.
};

absl::StatusOr<std::vector<const RankTrace*>> ChooseRanks(const Trace& trace,
                                                          const std::vector<int32_t>& chosen) {
  std::vector<const RankTrace*> ranks;
  for (const int32_t rank : chosen) {
    ranks.push_back(trace.FindRank(rank));
    if (ranks.back() == nullptr) {
      return absl::NotFoundError(absl::StrCat("rank ", rank, ": is not here"));
    }
  }
  if (chosen.empty()) {
    for (const RankTrace& rank : trace.ranks) ranks.push_back(&rank);
  }
  const bool any_start = std::any_of(ranks.begin(), ranks.end(), [](const RankTrace* rank) {
    return std::any_of(rank->start_ns.begin(), rank->start_ns.end(),
                       [](int64_t start_ns) { return start_ns != kUnknownNs; });
  });
  if (!any_start) {
    return absl::FailedPreconditionError(
        "timeline: no node has a start; it was not measured, but can be simulated");
  }
  return ranks;
}

}  // namespace

absl::Status WriteChromeTrace(const Trace& trace, const ChromeTraceOptions& options,
                              const std::function<absl::Status(absl::string_view)>& sink) {
  ASSIGN_OR_RETURN(const std::vector<const RankTrace*> ranks, ChooseRanks(trace, options.ranks));
  Pieces pieces(sink);
  return ChromeTraceWriter(trace, options.arrows, &pieces).Write(ranks);
}

}  // namespace chakrad
