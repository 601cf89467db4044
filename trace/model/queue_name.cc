#include "trace/model/queue_name.h"

#include "absl/strings/str_cat.h"

namespace chakrad {

std::string QueueName(const Queue& queue) {
  if (queue.kind == Queue::Kind::kHostThread) return absl::StrCat("thread ", queue.raw_id);
  if (queue.device < 0) return absl::StrCat("stream ", queue.raw_id);
  return absl::StrCat("device ", queue.device, " stream ", queue.raw_id);
}

}  // namespace chakrad
