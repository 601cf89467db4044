// JSON output: nlohmann's documents with keys in the order written, integers of
// 64 bits, and times in nanoseconds.
#ifndef CHAKRAD_CLIENT_JSON_H_
#define CHAKRAD_CLIENT_JSON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace chakrad::client {

using Json = nlohmann::ordered_json;

// One line; with `indent` >= 0 as many blanks a level. Text that is not UTF-8
// comes out with replacement characters instead of failing.
inline std::string JsonText(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

// Picoseconds as nanoseconds: 1500 ps is 1.5, 2000 ps is 2. Whole nanoseconds
// are exact integers; decimals are exact below 10^15 ps (a quarter of an hour of
// simulated time), where 15 digits and so a double hold them, and rounded beyond.
inline Json PsAsNs(int64_t ps) {
  if (ps % 1000 == 0) return Json(ps / 1000);
  return Json(static_cast<double>(ps) / 1000.0);
}

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_JSON_H_
