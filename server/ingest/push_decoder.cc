#include "server/ingest/push_decoder.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "server/limits.h"
#include "trace/check/comm_details.h"
#include "trace/codec/chunk_frame.h"
#include "trace/codec/limits.h"

namespace chakrad {
namespace {

// What the chunks of a rank decode to, but for what its header says apart.
std::string ContentOf(const RankIndex& index) {
  const RankHeader& header = index.header;
  std::string content =
      absl::StrCat(header.nodes_count, ",", header.edges_count, ",", header.has_cold, ",",
                   header.file_cold_bytes, ",", index.hot.size(), ",", index.cold.size(), ",");
  for (const ChunkRef& ref : index.hot) content += ref.hash;
  for (const ChunkRef& ref : index.cold) content += ref.hash;
  return content;
}

// `trace` as the rank of `header`, which has the same chunks: peers are kept relative.
absl::StatusOr<RankTrace> CopyFor(const RankTrace& trace, const RankHeader& header) {
  RankTrace copy = trace;
  copy.rank = header.rank;
  copy.base_unix_ns = header.base_unix_ns;
  copy.schema = header.schema;
  const int64_t shift = int64_t{header.rank} - trace.rank;
  for (CommOp& comm : copy.comm) {
    if (comm.peer == kNoRank) continue;
    const int64_t peer = comm.peer + shift;
    if (peer < INT32_MIN || peer > INT32_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat("rank ", header.rank, ": peer ", peer, " is out of range"));
    }
    comm.peer = static_cast<int32_t>(peer);
  }
  return copy;
}

// Chunks that do not decode are what the client sent: nothing of ours is lost.
absl::Status AsInvalid(const absl::Status& status) {
  return absl::IsDataLoss(status) ? absl::InvalidArgumentError(status.message()) : status;
}

absl::Status WrongSpan(const ChunkRef& ref, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the index says of a chunk of kind ",
                                                 static_cast<int>(ref.span.kind), " from ",
                                                 ref.span.first, " on: ", what));
}

}  // namespace

PushDecoder::PushDecoder(size_t groups_count, ChunkReader read)
    : groups_count_(groups_count), read_(std::move(read)) {
  for (int i = 0; i < kPushDecodersCount; ++i) threads_.emplace_back([this] { Run(); });
}

PushDecoder::~PushDecoder() {
  {
    MutexLock lock(&mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

absl::Status PushDecoder::AddRank(RankIndex index, const std::vector<std::string>& missing) {
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(status_);
  awaited_.insert(missing.begin(), missing.end());
  const size_t place = ranks_count_++;
  const auto [known, added] = task_by_content_.emplace(ContentOf(index), nullptr);
  if (!added) {
    known->second->copies.push_back(std::move(index.header));
    known->second->places.push_back(place);
    return AddRawBytes(known->second->raw_bytes);  // What is decoded later counts the copy too.
  }
  for (const ChunkRef& ref : index.hot) ++uses_[ref.hash];
  for (const ChunkRef& ref : index.cold) ++uses_[ref.hash];
  Task& task = tasks_.emplace_back();
  task.index = std::move(index);
  task.places.push_back(place);
  known->second = &task;
  changed_.NotifyAll();
  return absl::OkStatus();
}

bool PushDecoder::WaitForRoom(int64_t bytes) {
  MutexLock lock(&mutex_);
  while (cache_bytes_ > 0 && cache_bytes_ + bytes > kPushCacheBytes && status_.ok()) {
    if (starving_ == kPushDecodersCount) return false;
    room_.Wait(&mutex_);
  }
  return true;
}

void PushDecoder::DropCached() {
  MutexLock lock(&mutex_);
  cache_.clear();
  cache_bytes_ = 0;
}

absl::Status PushDecoder::ChunkStored(const std::string& hash, std::string stored) {
  MutexLock lock(&mutex_);
  RETURN_IF_ERROR(status_);
  awaited_.erase(hash);
  cache_bytes_ += static_cast<int64_t>(stored.size());
  cache_[hash] = std::make_shared<const std::string>(std::move(stored));
  changed_.NotifyAll();
  return absl::OkStatus();
}

// The other decoder must not be woken by this: they would wake each other for ever.
void PushDecoder::Starve() {
  if (++starving_ == kPushDecodersCount) room_.NotifyAll();
  changed_.Wait(&mutex_);
  --starving_;
}

absl::StatusOr<std::shared_ptr<const std::string>> PushDecoder::Take(const std::string& hash) {
  {
    MutexLock lock(&mutex_);
    while (awaited_.count(hash) > 0 && !stop_ && status_.ok()) Starve();
    if (stop_ || !status_.ok()) return absl::CancelledError("stopped");
    const auto use = uses_.find(hash);
    const bool last = use == uses_.end() || --use->second == 0;
    if (last && use != uses_.end()) uses_.erase(use);
    if (const auto cached = cache_.find(hash); cached != cache_.end()) {
      std::shared_ptr<const std::string> stored = cached->second;
      if (last) {
        cache_bytes_ -= static_cast<int64_t>(stored->size());
        cache_.erase(cached);
        room_.NotifyAll();
      }
      return stored;
    }
  }
  ASSIGN_OR_RETURN(std::string stored, read_(hash));
  return std::make_shared<const std::string>(std::move(stored));
}

absl::Status PushDecoder::AddRawBytes(int64_t bytes) {
  raw_bytes_ += bytes;
  if (raw_bytes_ <= kMaxPushRawBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("trace: its ranks take more than ", kMaxPushRawBytes, " bytes once decoded"));
}

absl::Status PushDecoder::CountRawBytes(Task* task, int64_t raw_bytes) {
  MutexLock lock(&mutex_);
  task->raw_bytes += raw_bytes;
  return AddRawBytes(raw_bytes * static_cast<int64_t>(1 + task->copies.size()));
}

absl::Status PushDecoder::Decode(Task* task) {
  const RankIndex& index = task->index;
  RankDecoder decoder(index.header);
  decoder.KeepCold(NodesWithCommDetails);  // CheckTrace reads no others.
  for (const std::vector<ChunkRef>* refs : {&index.hot, &index.cold}) {
    for (const ChunkRef& ref : *refs) {
      ASSIGN_OR_RETURN(const auto stored, Take(ref.hash));
      task->decoded.stored_bytes += static_cast<int64_t>(stored->size());
      const absl::StatusOr<size_t> raw_bytes = ClaimedRawBytes(*stored);
      if (!raw_bytes.ok()) return AsInvalid(raw_bytes.status());
      RETURN_IF_ERROR(CountRawBytes(task, static_cast<int64_t>(*raw_bytes)));
      if (KindOfChunk(*stored) != ref.span.kind || IsCold(ref.span.kind) != (refs == &index.cold)) {
        return WrongSpan(ref, absl::StrCat("it is of kind ", static_cast<int>((*stored)[1])));
      }
      RETURN_IF_ERROR(AsInvalid(decoder.Add(*stored, ref.span)));
    }
  }
  absl::StatusOr<RankTrace> trace = decoder.Finish(/*with_cold=*/true, groups_count_);
  if (!trace.ok()) return AsInvalid(trace.status());
  task->decoded.trace = *std::move(trace);
  return absl::OkStatus();
}

void PushDecoder::Run() {
  for (;;) {
    Task* task;
    {
      MutexLock lock(&mutex_);
      while (next_task_ == tasks_.size() && !stop_) Starve();
      if (stop_) return;
      task = &tasks_[next_task_++];
    }
    absl::Status status;
    try {
      status = Decode(task);
    } catch (const std::exception& error) {  // Out of memory: of this trace, not of the daemon.
      status = absl::ResourceExhaustedError(error.what());
    }
    status = Annotate(status, absl::StrCat("rank ", task->index.header.rank));
    MutexLock lock(&mutex_);
    if (status_.ok()) status_ = status;
    ++done_count_;
    changed_.NotifyAll();
    room_.NotifyAll();
    if (!status_.ok()) return;
  }
}

absl::StatusOr<std::vector<PushedRank>> PushDecoder::Finish() {
  std::deque<Task> tasks;
  size_t ranks_count;
  {
    MutexLock lock(&mutex_);
    while (done_count_ < tasks_.size() && status_.ok()) changed_.Wait(&mutex_);
    RETURN_IF_ERROR(status_);
    stop_ = true;
    changed_.NotifyAll();
    tasks = std::move(tasks_);
    tasks_.clear();
    next_task_ = 0;
    ranks_count = ranks_count_;
  }
  std::vector<PushedRank> ranks(ranks_count);
  for (Task& task : tasks) {
    for (size_t i = 0; i < task.copies.size(); ++i) {
      PushedRank& copy = ranks[task.places[i + 1]];
      ASSIGN_OR_RETURN(copy.trace, CopyFor(task.decoded.trace, task.copies[i]));
      copy.stored_bytes = task.decoded.stored_bytes;
    }
    ranks[task.places[0]] = std::move(task.decoded);
  }
  return ranks;
}

}  // namespace chakrad
