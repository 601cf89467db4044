// Shares of time in answers: of a whole timeline, of a step, of both sides of a diff.
#ifndef CHAKRAD_SERVER_ANALYSIS_SHARES_TO_PROTO_H_
#define CHAKRAD_SERVER_ANALYSIS_SHARES_TO_PROTO_H_

#include "analysis/breakdown/time_breakdown.h"

namespace chakrad {

namespace v1 {
class TimeShares;
}  // namespace v1

void ToProto(const TimeShares& shares, v1::TimeShares* proto);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_ANALYSIS_SHARES_TO_PROTO_H_
