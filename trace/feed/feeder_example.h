// The example of docs/feeder.md, compiled and run by its test.
#ifndef CHAKRAD_TRACE_FEED_FEEDER_EXAMPLE_H_
#define CHAKRAD_TRACE_FEED_FEEDER_EXAMPLE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "trace/feed/node_source.h"

absl::StatusOr<int64_t> ReplayNs(chakrad::NodeSource* source);

#endif  // CHAKRAD_TRACE_FEED_FEEDER_EXAMPLE_H_
