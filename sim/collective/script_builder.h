// Makes CollectiveScripts, step by step.
#ifndef CHAKRAD_SIM_COLLECTIVE_SCRIPT_BUILDER_H_
#define CHAKRAD_SIM_COLLECTIVE_SCRIPT_BUILDER_H_

#include <cstdint>
#include <vector>

#include "sim/system/collective_script.h"

namespace chakrad {

// Steps of a place are numbered in the order in which they are added; those that become ready
// together are taken in that order.
class ScriptBuilder {
 public:
  explicit ScriptBuilder(int32_t places_count);

  // One step; a send or receive has to be joined to its counterpart by Connect.
  uint32_t Add(int32_t place, ScriptStep::Kind kind);
  void Connect(int32_t from, uint32_t send, int32_t to, uint32_t receive, int64_t units);
  void SetDuration(int32_t place, uint32_t step, int64_t duration_ns);
  // Receive: what comes is reduced.
  void SetReduces(int32_t place, uint32_t step);
  // `step` of `place` waits for its step `dependency`.
  void Wait(int32_t place, uint32_t step, uint32_t dependency);

  struct Message {
    uint32_t send = 0;
    uint32_t receive = 0;
  };
  // A send, its receive, and Connect.
  Message AddMessage(int32_t from, int32_t to, int64_t units, bool reduces);

  // `units_total`: see CollectiveScript. Call once. O(steps + waits).
  CollectiveScript Build(int64_t units_total);

 private:
  struct Edge {
    uint32_t step;        // Over all places, in order of Add.
    uint32_t dependency;  // The same.
  };
  uint32_t Index(int32_t place, uint32_t step) const { return of_place_[place][step]; }

  std::vector<ScriptStep> steps_;                // In order of Add.
  std::vector<std::vector<uint32_t>> of_place_;  // Indices into steps_.
  std::vector<uint32_t> number_;                 // Of a step among those of its place.
  std::vector<Edge> edges_;
};

// The first step, in order of places and steps, that can never run, because steps wait for each
// other in a circle (which may go over several places). O(steps + waits).
struct StuckStep {
  int32_t place = -1;  // -1: all can run.
  uint32_t step = 0;
};
StuckStep FindStuckStep(const CollectiveScript& script);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_COLLECTIVE_SCRIPT_BUILDER_H_
