// TraceService's lists and pins, over the cards of a TraceStore.
#ifndef CHAKRAD_SERVER_RPC_LIST_TRACES_H_
#define CHAKRAD_SERVER_RPC_LIST_TRACES_H_

#include "absl/status/status.h"
#include "chakrad/v1/trace.pb.h"
#include "storage/trace_store.h"

namespace chakrad {

// Reads no manifest. INVALID_ARGUMENT starts with filter, order_by, page_size or page_token.
absl::Status ListTraces(TraceStore* traces, const v1::ListTracesRequest& request,
                        v1::ListTracesResponse* response);

absl::Status PinTrace(TraceStore* traces, const v1::PinTraceRequest& request, v1::Trace* response);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_LIST_TRACES_H_
