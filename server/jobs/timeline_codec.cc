#include "server/jobs/timeline_codec.h"

#include "chakrad/v1/job.pb.h"
#include "common/check.h"
#include "common/utf8.h"
#include "trace/model/queue_name.h"

namespace chakrad {
namespace {

// The index of `text` in `known`; a new one is also appended to `added`.
template <typename Repeated>
uint32_t IndexOf(const std::string& text, std::map<std::string, uint32_t>* known, Repeated* added) {
  const auto [it, is_new] = known->emplace(text, static_cast<uint32_t>(known->size()));
  if (is_new) *added->Add() = text;
  return it->second;
}

}  // namespace

std::string TimelineEncoder::Encode(const std::vector<TimelineInterval>& intervals) {
  v1::TimelineChunk chunk;
  for (const TimelineInterval& interval : intervals) {
    const RankTrace* rank = trace_->FindRankOrStandIn(interval.rank);
    CHECK(rank != nullptr && interval.node < rank->size())
        << "rank " << interval.rank << " node " << interval.node;
    chunk.add_rank(interval.rank);
    chunk.add_node_id(rank->id[interval.node]);
    chunk.add_start_ps(interval.start_ps);
    chunk.add_dur_ps(interval.end_ps - interval.start_ps);
    chunk.add_name(IndexOf(ValidUtf8(rank->NameOf(interval.node)), &names_, chunk.mutable_names()));
    chunk.add_queue(
        IndexOf(QueueName(rank->queues[interval.queue]), &queues_, chunk.mutable_queues()));
    chunk.add_kind(static_cast<v1::TimelineChunk::Kind>(interval.kind));
  }
  return chunk.SerializeAsString();
}

}  // namespace chakrad
