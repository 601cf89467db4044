// From a point on a dashboard to the trace behind it:
// /trace?cluster=..&job=..&model=..&rank_group=..&time=<unix ms>, and &variant=.. for a
// simulation's.
#ifndef CHAKRAD_SERVER_SERIES_TRACE_PAGE_H_
#define CHAKRAD_SERVER_SERIES_TRACE_PAGE_H_

#include "server/http_server.h"
#include "storage/series_store.h"
#include "storage/trace_store.h"

namespace chakrad {

// A plain page about the newest trace (or job) whose series are no later than `time`, else the
// first: its name, labels, numbers, and the commands that go on from there. Parameters that are
// left out are "", as are those that Grafana left as "${...}": the series has no such label. No
// `time` means the latest. Labels are shown as text, whatever they hold. 400: `time` is no number.
// 404: nothing has these labels. 503: the store cannot be read.
HttpResponse TracePage(const HttpRequest& request, SeriesStore* series, TraceStore* traces);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_SERIES_TRACE_PAGE_H_
