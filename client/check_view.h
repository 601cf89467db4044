// A conformance report for people and as JSON.
#ifndef CHAKRAD_CLIENT_CHECK_VIEW_H_
#define CHAKRAD_CLIENT_CHECK_VIEW_H_

#include <string>

#include "chakrad/v1/trace.pb.h"
#include "client/json.h"

namespace chakrad::client {

// Every listed finding with its fix, then counts and score.
std::string CheckText(const v1::CheckReport& report);
// One line: "quality 0.93; 2 errors, 1 warning: collective_order 2, ...".
std::string CheckLine(const v1::CheckReport& report);
Json CheckJson(const v1::CheckReport& report);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_CHECK_VIEW_H_
