// TraceDraft over any engine.
#ifndef CHAKRAD_STORAGE_TRACE_DRAFT_KV_H_
#define CHAKRAD_STORAGE_TRACE_DRAFT_KV_H_

#include <memory>

#include "storage/kv.h"
#include "storage/trace_store.h"
#include "storage/trace_writer.h"

namespace chakrad {

std::unique_ptr<TraceDraft> NewTraceDraft(std::shared_ptr<Kv> kv,
                                          std::shared_ptr<TraceWriter> writer);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_DRAFT_KV_H_
