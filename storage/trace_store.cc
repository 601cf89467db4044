#include "storage/trace_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"

namespace chakrad {

absl::Status TraceStore::Put(const Trace& trace, TraceInfo info) {
  const std::unique_ptr<TraceDraft> draft = NewDraft();
  const std::string name = absl::StrCat("trace ", info.id);
  for (const RankTrace& rank : trace.ranks) {
    RETURN_IF_ERROR(Annotate(draft->AddRank(rank), name));
  }
  info.groups = trace.groups;
  info.world_size = trace.world_size;
  info.labels.insert(trace.labels.begin(), trace.labels.end());
  return draft->Commit(std::move(info)).status();
}

}  // namespace chakrad
