// How answers name a queue of a rank.
#ifndef CHAKRAD_TRACE_MODEL_QUEUE_NAME_H_
#define CHAKRAD_TRACE_MODEL_QUEUE_NAME_H_

#include <string>

#include "trace/model/rank_trace.h"

namespace chakrad {

// "thread 17", "device 0 stream 7"; "stream 7" where the device is not known.
std::string QueueName(const Queue& queue);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_MODEL_QUEUE_NAME_H_
