#include "server/jobs/result_codec.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "chakrad/v1/job.pb.h"
#include "common/check.h"
#include "common/saturating.h"
#include "common/utf8.h"
#include "server/limits.h"

namespace chakrad {
namespace {

constexpr uint32_t kNoGroup = UINT32_MAX;

class Encoder {
 public:
  Encoder(const SimResult& result, const Trace& trace) : result_(result), trace_(trace) {}

  v1::SimulationResult Encode() {
    AddTotals();
    AddRanks();
    AddCollectives();
    AddLinks();
    AddMemory();
    AddCriticalPath();
    AddClasses();
    for (const std::string& notice : result_.notices) message_.add_notices(ValidUtf8(notice));
    for (std::string& notice : cuts_) message_.add_notices(std::move(notice));
    return std::move(message_);
  }

 private:
  // Everything of a rank that another may equal.
  using RankValues = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                                int64_t, int64_t, int32_t, uint32_t>;

  void AddTotals() {
    message_.set_semantics(result_.semantics);
    message_.set_engine_version(result_.engine_version);
    message_.set_end_ps(result_.end_ps);
    message_.set_nodes_count(result_.nodes_count);
    message_.set_events_count(result_.events_count);
    message_.set_network_bytes(result_.network_bytes);
    message_.set_ranks_count(static_cast<int64_t>(result_.ranks.size()));
    for (const auto& [rank, stand_in] : result_.stand_in_by_rank) {
      if (message_.stand_in_by_rank().size() == kMaxStandInsListed) {
        Cut(absl::StrCat("stand-ins: the first ", kMaxStandInsListed, " of ",
                         result_.stand_in_by_rank.size(), " are listed"));
        break;
      }
      (*message_.mutable_stand_in_by_rank())[rank] = stand_in;
    }
  }

  // The index of a group's name among those of the message.
  uint32_t GroupOf(uint32_t group) {
    const auto [it, is_new] =
        group_index_.emplace(group, static_cast<uint32_t>(group_index_.size()));
    if (is_new) {
      message_.add_groups(group < trace_.groups.size() ? ValidUtf8(trace_.groups[group].name) : "");
    }
    return it->second;
  }

  static RankValues ValuesOf(const RankEnd& end, const RankTime& time) {
    return {end.end_ps,
            end.network_bytes,
            time.compute_ps,
            time.comm_ps,
            time.exposed_comm_ps,
            time.exposed_memory_ps,
            time.idle_ps[static_cast<int>(IdleCause::kHost)],
            time.idle_ps[static_cast<int>(IdleCause::kQueue)],
            time.wait_ps,
            time.waits_most_for_rank,
            time.waits_most_in_group};
  }

  void AddRank(size_t index) {
    const RankEnd& end = result_.ranks[index];
    const RankTime& time = result_.times[index];
    const int64_t host_ps = time.idle_ps[static_cast<int>(IdleCause::kHost)];
    const int64_t queue_ps = time.idle_ps[static_cast<int>(IdleCause::kQueue)];
    v1::RankResult* rank = message_.add_ranks();
    rank->set_rank(end.rank);
    rank->set_end_ps(end.end_ps);
    rank->set_compute_ps(time.compute_ps);
    rank->set_comm_ps(time.comm_ps);
    rank->set_exposed_comm_ps(time.exposed_comm_ps);
    rank->set_exposed_memory_ps(time.exposed_memory_ps);
    rank->set_idle_ps(host_ps + queue_ps);
    rank->set_idle_host_ps(host_ps);
    rank->set_idle_queue_ps(queue_ps);
    rank->set_network_bytes(end.network_bytes);
    rank->set_wait_ps(time.wait_ps);
    if (time.waits_most_for_rank >= 0) rank->set_waits_most_for_rank(time.waits_most_for_rank);
    if (time.waits_most_in_group != kNoGroup) {
      rank->set_waits_most_in_group(GroupOf(time.waits_most_in_group));
    }
  }

  void AddRanks() {
    CHECK(result_.times.size() == result_.ranks.size())
        << result_.times.size() << " times of " << result_.ranks.size() << " ranks";
    if (result_.ranks.size() <= kRanksListedEach) {
      for (size_t i = 0; i < result_.ranks.size(); ++i) AddRank(i);
      return;
    }
    absl::flat_hash_map<RankValues, int> entry_of;
    int64_t not_listed = 0;
    int64_t ranges_left = kMaxRankRanges;
    int64_t ranges_cut = 0;
    for (size_t i = 0; i < result_.ranks.size(); ++i) {
      const int32_t rank = result_.ranks[i].rank;
      const auto [it, is_new] =
          entry_of.emplace(ValuesOf(result_.ranks[i], result_.times[i]), message_.ranks_size());
      if (is_new && it->second >= kMaxRankEntries) {
        entry_of.erase(it);
        ++not_listed;
        continue;
      }
      if (is_new) AddRank(i);
      v1::RankResult* entry = message_.mutable_ranks(it->second);
      entry->set_ranks_count(entry->ranks_count() + 1);
      auto* ranges = entry->mutable_rank_ranges();
      if (ranges->size() > 0 && ranges->Get(ranges->size() - 1) == rank - 1) {
        ranges->Set(ranges->size() - 1, rank);
      } else if (ranges_left-- > 0) {
        ranges->Add(rank);
        ranges->Add(rank);
      } else {
        ++ranges_cut;
      }
    }
    if (not_listed > 0) Cut(absl::StrCat("ranks: ", not_listed, " are not listed"));
    if (ranges_cut > 0) {
      Cut(absl::StrCat("ranks: of equal ones, ", ranges_cut, " ranges are counted, not listed"));
    }
  }

  void AddCollectives() {
    for (const CollectiveResult& from : result_.collectives) {
      v1::CollectiveResult* to = message_.add_collectives();
      to->set_group(GroupOf(from.group));
      to->set_number(from.number);
      const absl::string_view type = CollectiveTypeName(from.type);
      to->set_type(type.data(), type.size());
      to->set_ranks_count(from.ranks_count);
      to->set_bytes(from.bytes);
      to->set_start_ps(from.start_ps);
      to->set_all_joined_ps(from.all_joined_ps);
      to->set_end_ps(from.end_ps);
      to->set_last_rank(from.last_rank);
      to->set_flat(from.flat);
      to->set_algorithm_bandwidth(from.algorithm_bandwidth);
      to->set_bus_bandwidth(from.bus_bandwidth);
    }
    message_.set_collectives_count(static_cast<int64_t>(result_.collectives.size()) +
                                   result_.collectives_dropped);
    if (result_.collectives_dropped > 0) {
      Cut(absl::StrCat("collectives: ", result_.collectives_dropped, " are not listed"));
    }
  }

  // Links, where traffic by link was kept, say more than the sums do.
  void AddDimensions() {
    for (const DimResult& from : result_.dims) {
      v1::DimensionResult* dim = message_.add_dimensions();
      dim->set_dimension(from.dim);
      dim->set_messages_count(from.messages_count);
      dim->set_bytes(from.bytes);
      dim->set_utilisation(from.utilisation);
      for (const LinkResult& link : result_.links) {
        if (link.dim != from.dim) continue;
        dim->set_links_count(dim->links_count() + 1);
        dim->set_busy_ps(SaturatingAdd(dim->busy_ps(), link.busy_ps));
        dim->set_max_busy_ps(std::max(dim->max_busy_ps(), link.busy_ps));
        dim->set_queue_ps(SaturatingAdd(dim->queue_ps(), link.queue_ps));
      }
    }
  }

  void AddMemory() {
    for (const MemoryPeak& from : result_.memory) {
      if (message_.memory_size() == kMaxMemoryPeaksListed) {
        Cut(absl::StrCat("memory: the first ", kMaxMemoryPeaksListed, " of ", result_.memory.size(),
                         " entries are listed"));
        return;
      }
      v1::MemoryPeak* to = message_.add_memory();
      to->set_rank(from.rank);
      to->set_device(ValidUtf8(from.device));
      to->set_resident_bytes(from.resident_bytes);
      to->set_peak_bytes(from.peak_bytes);
      to->set_peak_at_ps(from.peak_at_ps);
    }
  }

  void AddLinks() {
    AddDimensions();
    std::vector<const LinkResult*> links;
    for (const LinkResult& link : result_.links) links.push_back(&link);
    message_.set_links_count(static_cast<int64_t>(links.size()));
    if (links.size() > kMaxLinksListed) {
      // The busiest; of equally busy ones the first. Pointers are in the order of the links.
      const auto kept = links.begin() + static_cast<ptrdiff_t>(kMaxLinksListed);
      std::nth_element(links.begin(), kept, links.end(),
                       [](const LinkResult* a, const LinkResult* b) {
                         return a->busy_ps != b->busy_ps ? a->busy_ps > b->busy_ps : a < b;
                       });
      Cut(absl::StrCat("links: the busiest ", kMaxLinksListed, " of ", links.size(),
                       " are listed"));
      links.erase(kept, links.end());
      std::sort(links.begin(), links.end());
    }
    for (const LinkResult* from : links) {
      v1::LinkResult* to = message_.add_links();
      to->set_dimension(from->dim);
      to->set_from(from->src);
      to->set_to(from->dst);
      to->set_messages_count(from->messages_count);
      to->set_bytes(from->bytes);
      to->set_busy_ps(from->busy_ps);
      to->set_queue_ps(from->queue_ps);
    }
  }

  void AddCriticalPath() {
    const std::vector<CriticalStep>& path = result_.critical_path;
    const size_t cut =
        path.size() > kMaxCriticalStepsListed ? path.size() - kMaxCriticalStepsListed : 0;
    if (cut > 0) {
      Cut(absl::StrCat("critical path: the last ", kMaxCriticalStepsListed, " of ", path.size(),
                       " steps are listed"));
    }
    std::map<std::string, uint32_t> names;
    for (size_t i = cut; i < path.size(); ++i) {
      const RankTrace* rank = trace_.FindRankOrStandIn(path[i].rank);
      CHECK(rank != nullptr && path[i].node < rank->size())
          << "rank " << path[i].rank << " node " << path[i].node;
      const auto [it, is_new] =
          names.emplace(ValidUtf8(rank->NameOf(path[i].node)), static_cast<uint32_t>(names.size()));
      if (is_new) message_.add_names(it->first);
      v1::CriticalStep* step = message_.add_critical_path();
      step->set_rank(path[i].rank);
      step->set_node_id(rank->id[path[i].node]);
      step->set_name(it->second);
      step->set_start_ps(path[i].start_ps);
      step->set_end_ps(path[i].end_ps);
    }
  }

  void AddClasses() {
    for (const RankClass& from : result_.classes) {
      if (message_.classes_size() == kMaxRankEntries) {
        Cut(absl::StrCat("classes: the first ", kMaxRankEntries, " of ", result_.classes.size(),
                         " are listed"));
        break;
      }
      v1::RankClass* to = message_.add_classes();
      to->set_representative(from.representative);
      to->set_ranks_count(from.ranks_count);
    }
  }

  void Cut(std::string notice) { cuts_.push_back(std::move(notice)); }

  const SimResult& result_;
  const Trace& trace_;
  v1::SimulationResult message_;
  std::map<uint32_t, uint32_t> group_index_;  // Index into Trace::groups: into the message's.
  std::vector<std::string> cuts_;
};

}  // namespace

std::string EncodeResult(const SimResult& result, const Trace& trace,
                         const SystemDescription& system) {
  v1::SimulationResult message = Encoder(result, trace).Encode();
  const absl::string_view back_end = NetworkBackEndName(system.back_end);
  message.set_back_end(back_end.data(), back_end.size());
  message.set_topology(DescribeTopology(system));
  return message.SerializeAsString();
}

}  // namespace chakrad
