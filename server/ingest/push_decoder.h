// Decodes the ranks of a pushed trace while their chunks arrive.
#ifndef CHAKRAD_SERVER_INGEST_PUSH_DECODER_H_
#define CHAKRAD_SERVER_INGEST_PUSH_DECODER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "trace/codec/rank_codec.h"
#include "trace/codec/rank_index.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

struct PushedRank {
  RankTrace trace;  // Of cold blocks only those of NodesWithCommDetails; nothing else reads any.
  int64_t stored_bytes = 0;  // Of its chunks.
};

// Ranks are decoded in the order in which they are given, chunk by chunk as these
// arrive, by two threads; ranks that list the same chunks are decoded once. What is
// wrong with a rank is INVALID_ARGUMENT naming it. Calls are made by one thread.
class PushDecoder {
 public:
  // Reads a stored chunk, verified; called by the decoding threads.
  using ChunkReader = std::function<absl::StatusOr<std::string>(const std::string& hash)>;

  // `groups_count` bounds CommOp::group.
  PushDecoder(size_t groups_count, ChunkReader read);
  ~PushDecoder();  // Stops in the middle of what is not done.

  // A rank of which the chunks `missing` are still to come, and all others stored.
  absl::Status AddRank(RankIndex index, const std::vector<std::string>& missing);
  // Waits while the decoders have more than kPushCacheBytes before them. False: they need
  // other chunks than those, so the caller makes all stored chunks readable and calls
  // DropCached.
  bool WaitForRoom(int64_t bytes);
  void DropCached();
  // A chunk that was missing is stored; it need not be readable yet.
  absl::Status ChunkStored(const std::string& hash, std::string stored);

  // Waits for all ranks, which must have their chunks; returns them in the order of
  // AddRank. Call once.
  absl::StatusOr<std::vector<PushedRank>> Finish();

 private:
  // A rank to decode, and those that list the same chunks.
  struct Task {
    RankIndex index;
    std::vector<RankHeader> copies;
    int64_t raw_bytes = 0;       // Of its chunks so far, once decoded.
    std::vector<size_t> places;  // Of the rank and its copies, in the order of AddRank.
    PushedRank decoded;
  };

  void Run();
  absl::Status Decode(Task* task);
  // The chunk, once it is there. CANCELLED when the decoder stops.
  absl::StatusOr<std::shared_ptr<const std::string>> Take(const std::string& hash);
  absl::Status CountRawBytes(Task* task, int64_t raw_bytes);
  absl::Status AddRawBytes(int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for something to decode.
  void Starve() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t groups_count_;
  const ChunkReader read_;
  Mutex mutex_;
  CondVar changed_;                                 // Something to decode, or all is done.
  CondVar room_;                                    // For WaitForRoom.
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);  // Entries stay where they are.
  std::map<std::string, Task*> task_by_content_ ABSL_GUARDED_BY(mutex_);
  size_t ranks_count_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t next_task_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t done_count_ ABSL_GUARDED_BY(mutex_) = 0;
  int starving_ ABSL_GUARDED_BY(mutex_) = 0;  // Decoders that wait for a rank or a chunk.
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // The first error.
  std::unordered_set<std::string> awaited_ ABSL_GUARDED_BY(mutex_);
  // Times that tasks will still ask for a chunk.
  std::unordered_map<std::string, int64_t> uses_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::shared_ptr<const std::string>> cache_
      ABSL_GUARDED_BY(mutex_);
  int64_t cache_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t raw_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // Of all ranks, once decoded.
  std::vector<std::thread> threads_;
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_PUSH_DECODER_H_
