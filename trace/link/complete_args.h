// One call's communication, from several records of it.
#ifndef CHAKRAD_TRACE_LINK_COMPLETE_ARGS_H_
#define CHAKRAD_TRACE_LINK_COMPLETE_ARGS_H_

#include "trace/readers/comm_args.h"

namespace chakrad {

// Fills what `args` does not state from `more`.
void CompleteArgs(const CommArgs& more, CommArgs* args);
// The same of what tells the process group alone.
void CompleteGroup(const CommArgs& more, CommArgs* args);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_COMPLETE_ARGS_H_
