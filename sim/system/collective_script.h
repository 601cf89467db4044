// A collective algorithm as data: for each place the steps it takes, and what they wait for.
#ifndef CHAKRAD_SIM_SYSTEM_COLLECTIVE_SCRIPT_H_
#define CHAKRAD_SIM_SYSTEM_COLLECTIVE_SCRIPT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace chakrad {

struct ScriptStep {
  enum class Kind : uint8_t {
    kSend = 0,     // Ends when its message has arrived.
    kReceive = 1,  // Ends when its message has come and is dealt with.
    kCompute = 2,
  };
  Kind kind = Kind::kCompute;
  bool reduces = false;     // Receive: what came is added to what the place has.
  int32_t peer = -1;        // Send, receive: the other place.
  uint32_t peer_step = 0;   // Send, receive: the matching step among those of `peer`.
  int64_t units = 0;        // Send, receive: its size; see CollectiveScript::units_total.
  int64_t duration_ns = 0;  // Compute.
  uint32_t deps_count = 0;  // Steps of the same place that it waits for.
  friend bool operator==(const ScriptStep&, const ScriptStep&) = default;
};

// Built by sim/collective/script_builder.h, which checks that every send has its receive and
// that no steps wait for each other in a circle. Places are 0 to places_count - 1.
struct CollectiveScript {
  std::string name;  // For messages.
  int32_t places_count = 0;
  // A message of u units has u / units_total of the collective's bytes (CommOp::bytes). 0: units
  // are bytes, whatever the collective's size.
  int64_t units_total = 0;
  // Steps of place p: [step_begin[p], step_begin[p + 1]).
  std::vector<uint32_t> step_begin;
  std::vector<ScriptStep> steps;
  // Steps that wait for step s, as numbers among those of its place: dependent[j] for j in
  // [dependent_begin[s], dependent_begin[s + 1]).
  std::vector<uint32_t> dependent_begin;
  std::vector<uint32_t> dependent;
  friend bool operator==(const CollectiveScript&, const CollectiveScript&) = default;

  uint32_t StepsCount(int32_t place) const { return step_begin[place + 1] - step_begin[place]; }
};

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_COLLECTIVE_SCRIPT_H_
