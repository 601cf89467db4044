#include "server/rpc/list_traces.h"

#include <memory>
#include <string>
#include <utility>

#include "common/status.h"
#include "server/ids.h"
#include "server/rpc/convert.h"
#include "server/rpc/convert_card.h"
#include "server/rpc/page_size.h"
#include "storage/trace_filter.h"
#include "storage/trace_search.h"

namespace chakrad {

absl::Status ListTraces(TraceStore* traces, const v1::ListTracesRequest& request,
                        v1::ListTracesResponse* response) {
  ASSIGN_OR_RETURN(const int page_size, CheckPageSize(request.page_size()));
  ASSIGN_OR_RETURN(const TraceFilter filter, TraceFilter::Parse(request.filter()));
  ASSIGN_OR_RETURN(const TraceOrder order, TraceOrder::Parse(request.order_by()));
  const std::shared_ptr<const TraceCards> cards = traces->Cards();
  ASSIGN_OR_RETURN(const TraceSearchPage page,
                   SearchTraces(*cards, filter, order, page_size, request.page_token()));
  response->set_total_count(page.total_count);
  response->set_next_page_token(page.next_page_token);
  size_t bytes = 0;
  for (size_t i = 0; i < page.traces.size(); ++i) {
    v1::Trace trace;
    ToSummaryProto(*page.traces[i], &trace);
    bytes += trace.ByteSizeLong();
    if (i > 0 && bytes > kMaxAnswerBytes) {
      response->set_next_page_token(TracePageToken(filter, order, *page.traces[i - 1]));
      break;
    }
    *response->add_traces() = std::move(trace);
  }
  return absl::OkStatus();
}

absl::Status PinTrace(TraceStore* traces, const v1::PinTraceRequest& request, v1::Trace* response) {
  ASSIGN_OR_RETURN(const std::string id, IdFromName(request.name(), "traces", "name"));
  RETURN_IF_ERROR(traces->SetPinned(id, request.pinned()));
  ASSIGN_OR_RETURN(const TraceInfo info, traces->GetInfo(id));
  ToProto(info, response);
  FitIntoAnswer(response);
  return absl::OkStatus();
}

}  // namespace chakrad
