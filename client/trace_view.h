// Traces as JSON and as text. client/README.md documents the JSON.
#ifndef CHAKRAD_CLIENT_TRACE_VIEW_H_
#define CHAKRAD_CLIENT_TRACE_VIEW_H_

#include <string>
#include <vector>

#include "chakrad/v1/trace.pb.h"
#include "client/json.h"

namespace chakrad::client {

Json TraceJson(const v1::Trace& trace);
// Everything about one trace, for people.
std::string TraceText(const v1::Trace& trace);
// A line a trace.
std::string TraceListText(const std::vector<v1::Trace>& traces);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_TRACE_VIEW_H_
