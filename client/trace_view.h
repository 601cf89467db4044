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
// What was assumed, left out or odd, of the trace and of its files.
std::vector<std::string> AllNotices(const v1::Trace& trace);
// The same, a line each, of long lists the first.
std::string NoticesText(const v1::Trace& trace);
// A line a trace.
std::string TraceListText(const std::vector<v1::Trace>& traces);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_TRACE_VIEW_H_
