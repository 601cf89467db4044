#include "client/chrome_trace_writer.h"

#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/json.h"
#include "client/quantity.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

const char* CategoryOf(int kind) {
  switch (kind) {
    case v1::TimelineChunk::COMPUTE:
      return "compute";
    case v1::TimelineChunk::COMM:
      return "comm";
    case v1::TimelineChunk::MEMORY:
      return "memory";
    case v1::TimelineChunk::HOST:
      return "host";
    default:
      return "other";  // A newer server's kind.
  }
}

absl::Status BadChunk(absl::string_view what) {
  return absl::InternalError(absl::StrCat("the server's timeline is broken: ", what));
}

}  // namespace

ChromeTraceWriter::ChromeTraceWriter(std::ostream* out) : out_(*out) {
  out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
}

absl::Status ChromeTraceWriter::CheckChunk(const v1::TimelineChunk& chunk) const {
  const int count = chunk.rank_size();
  for (const int size : {chunk.node_id_size(), chunk.start_ps_size(), chunk.dur_ps_size(),
                         chunk.name_size(), chunk.kind_size(), chunk.queue_size()}) {
    if (size != count) return BadChunk(absl::StrCat(size, " entries in a column, not ", count));
  }
  const size_t names_count = names_.size() + chunk.names_size();
  const size_t queues_count = queues_.size() + chunk.queues_size();
  for (int i = 0; i < count; ++i) {
    if (chunk.name(i) >= names_count) {
      return BadChunk(absl::StrCat("name: ", chunk.name(i), " is not in [0, ", names_count, ")"));
    }
    if (chunk.queue(i) >= queues_count) {
      return BadChunk(
          absl::StrCat("queue: ", chunk.queue(i), " is not in [0, ", queues_count, ")"));
    }
    const int64_t dur_ps = chunk.dur_ps(i);
    if (dur_ps < 0) return BadChunk(absl::StrCat("dur_ps: ", dur_ps, " is negative"));
    if (chunk.start_ps(i) > std::numeric_limits<int64_t>::max() - dur_ps) {
      return BadChunk(absl::StrCat("start_ps: ", chunk.start_ps(i), " and dur_ps: ", dur_ps,
                                   " end after 2^63"));
    }
  }
  return absl::OkStatus();
}

absl::Status ChromeTraceWriter::Add(const v1::TimelineChunk& chunk) {
  RETURN_IF_ERROR(CheckChunk(chunk));
  for (const std::string& name : chunk.names()) names_.push_back(JsonText(Json(name)));
  queues_.insert(queues_.end(), chunk.queues().begin(), chunk.queues().end());
  for (int i = 0; i < chunk.rank_size(); ++i) {
    const int64_t start_ps = chunk.start_ps(i);
    const int32_t tid = TidOf(chunk.rank(i), chunk.queue(i), start_ps, start_ps + chunk.dur_ps(i));
    BeginEvent();
    absl::StrAppend(&buffer_, "{\"ph\":\"X\",\"pid\":", chunk.rank(i), ",\"tid\":", tid,
                    ",\"ts\":", PsAsUs(start_ps), ",\"dur\":", PsAsUs(chunk.dur_ps(i)),
                    ",\"cat\":\"", CategoryOf(chunk.kind(i)),
                    "\",\"name\":", names_[chunk.name(i)]);
    absl::StrAppend(&buffer_, ",\"args\":{\"node_id\":\"", chunk.node_id(i), "\"}}");
    ++intervals_count_;
  }
  out_ << buffer_;
  buffer_.clear();
  if (!out_) return absl::InternalError("the timeline could not be written");
  return absl::OkStatus();
}

absl::Status ChromeTraceWriter::Finish() {
  out_ << "\n]}\n";
  out_.flush();
  if (!out_) return absl::InternalError("the timeline could not be written");
  return absl::OkStatus();
}

void ChromeTraceWriter::BeginEvent() {
  if (!first_event_) buffer_ += ",\n";
  first_event_ = false;
}

void ChromeTraceWriter::WriteMetadata(int32_t rank, int32_t tid, const char* what,
                                      const std::string& args) {
  BeginEvent();
  absl::StrAppend(&buffer_, "{\"ph\":\"M\",\"pid\":", rank, ",\"tid\":", tid, ",\"name\":\"", what,
                  "\",\"args\":", args, "}");
}

// Takes the lane whose last interval ended latest but not after `start_ps`; so
// as few lanes come up as the largest number of intervals that overlap, when
// they arrive in order of their ends.
int32_t ChromeTraceWriter::TidOf(int32_t rank_number, uint32_t queue, int64_t start_ps,
                                 int64_t end_ps) {
  const auto [entry, is_new] = ranks_.try_emplace(rank_number);
  Rank& rank = entry->second;
  if (is_new) {
    WriteMetadata(rank_number, 0, "process_name",
                  absl::StrCat("{\"name\":\"rank ", rank_number, "\"}"));
    WriteMetadata(rank_number, 0, "process_sort_index",
                  absl::StrCat("{\"sort_index\":", rank_number, "}"));
  }
  Lanes& lanes = rank.lanes_by_queue[queue];
  const auto after = lanes.upper_bound(start_ps);
  if (after == lanes.begin()) {
    const int32_t tid = NewTid(rank_number, queue, lanes.size(), &rank);
    lanes.emplace(end_ps, tid);
    return tid;
  }
  auto lane = lanes.extract(std::prev(after));
  lane.key() = end_ps;
  return lanes.insert(std::move(lane))->second;
}

int32_t ChromeTraceWriter::NewTid(int32_t rank_number, uint32_t queue, size_t lane, Rank* rank) {
  const int32_t tid = ++rank->tids_count;  // From 1: viewers take thread 0 for the idle one.
  std::string name = queues_[queue];
  if (lane > 0) absl::StrAppend(&name, " (", lane + 1, ")");
  WriteMetadata(rank_number, tid, "thread_name",
                absl::StrCat("{\"name\":", JsonText(Json(name)), "}"));
  // Queues in the stream's order, a queue's lanes under it.
  WriteMetadata(rank_number, tid, "thread_sort_index",
                absl::StrCat("{\"sort_index\":", uint64_t{queue} * 1000 + lane, "}"));
  return tid;
}

}  // namespace chakrad::client
