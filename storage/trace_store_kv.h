// The TraceStore over any engine.
#ifndef CHAKRAD_STORAGE_TRACE_STORE_KV_H_
#define CHAKRAD_STORAGE_TRACE_STORE_KV_H_

#include <memory>

#include "storage/kv.h"
#include "storage/trace_store.h"

namespace chakrad {

std::unique_ptr<TraceStore> NewTraceStore(std::shared_ptr<Kv> kv);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TRACE_STORE_KV_H_
