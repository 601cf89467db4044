// Every kind of event, its target and argument, and who handles it.
#ifndef CHAKRAD_SIM_ENGINE_EVENT_KIND_H_
#define CHAKRAD_SIM_ENGINE_EVENT_KIND_H_

#include <cstdint>

namespace chakrad {

enum class EventKind : uint8_t {
  // sim/workload. Target: the cohort; arg: one of its slots.
  kSlotDone = 0,     // What runs on the slot ends.
  kSendArrived = 1,  // The message of the send that runs on the slot arrives.
  // sim/workload. Target: a timer, of which a cohort may have many.
  kTimer = 2,

  // sim/network: [kFirstNetworkKind, kFirstNetworkKind + 8) are a back end's own.

  // sim/collective. Target: a flow, the part of a chunk that one rank has in one phase.
  kPairArrived = 16,     // Ring, halving-doubling; arg: the step (0 for the ring).
  kDirectStarted = 17,   // Direct: the endpoint delay before the first sends is over.
  kDirectArrived = 18,   // Direct; arg: the message's number.
  kDirectReceived = 19,  // Direct: a message that had come before it was waited for.
  kDirectReady = 20,     // Direct: a received message is dealt with.
  kTreeArrived = 21,     // Tree; arg: 0 from a child, 1 from the parent.
  kPhaseDone = 22,
  kScriptArrived = 23,   // Script; arg: the receiver's step.
  kScriptStepDone = 24,  // Script; arg: a step that is dealt with.
  kSendNow = 26,         // Target: a message that the engine has held back until its time.
  kMemberLeft = 25,      // All that the flow's member has sent has left its ports.
};
inline constexpr uint8_t kFirstNetworkKind = 8;
inline constexpr uint8_t kFirstCollectiveKind = 16;

}  // namespace chakrad

#endif  // CHAKRAD_SIM_ENGINE_EVENT_KIND_H_
