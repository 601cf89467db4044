// The part of CollectiveEngine that runs scripts: see the header for the rules.
#include <algorithm>

#include "common/check.h"
#include "sim/collective/collective_engine.h"
#include "sim/collective/collective_state.h"
#include "sim/collective/steps.h"
#include "sim/engine/event_kind.h"
#include "sim/engine/semantics.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

// The word of a step: how many of its dependencies have ended, and of a receive whether it has
// started and whether its message has come.
constexpr uint32_t kStarted = 1u << 30;
constexpr uint32_t kArrived = 1u << 31;
constexpr uint32_t kDepsMask = kStarted - 1;

}  // namespace

// Where a flow is in its script.
struct CollectiveEngine::ScriptSpot {
  const CollectivePhase* phase;
  const CollectiveScript* script;
  uint32_t first_step;   // Of its place.
  uint32_t steps_count;  // Of its place.
  size_t first_word;     // Of its first step.
};

CollectiveEngine::ScriptSpot CollectiveEngine::SpotOf(size_t index) const {
  const Flow& flow = flows_[index];
  const Collective& collective = *collectives_[flow.slot];
  const CollectivePhase& phase = collective.plan.phases[flow.phase];
  const CollectiveScript& script = *phase.script;
  const int32_t place = ScriptPlaceOf(phase, PlaceOf(phase, flow.member));
  const int32_t lines_count = collective.members_count / phase.places_count;
  const int32_t line =
      flow.member / (phase.stride * phase.places_count) * phase.stride + flow.member % phase.stride;
  ScriptSpot spot;
  spot.phase = &phase;
  spot.script = &script;
  spot.first_step = script.step_begin[place];
  spot.steps_count = script.StepsCount(place);
  spot.first_word = collective.first_word + collective.phase_words[flow.phase] +
                    (size_t{flow.chunk} * lines_count + line) * script.steps.size() +
                    spot.first_step;
  return spot;
}

void CollectiveEngine::StartScript(size_t index) {
  const ScriptSpot spot = SpotOf(index);
  if (!TakesPart(*spot.phase, flows_[index].member) || spot.steps_count == 0) {
    return Push(queue_->now_ps(), FlowTag(EventKind::kPhaseDone, 0, index));
  }
  ready_.clear();
  for (uint32_t step = 0; step < spot.steps_count; ++step) {
    if (spot.script->steps[spot.first_step + step].deps_count == 0) ready_.push_back(step);
  }
  RunReadySteps(index, spot);
}

// Starts the steps in ready_, and those that can start because of them.
void CollectiveEngine::RunReadySteps(size_t index, const ScriptSpot& spot) {
  for (size_t i = 0; i < ready_.size(); ++i) {
    const uint32_t number = ready_[i];
    const ScriptStep& step = spot.script->steps[spot.first_step + number];
    switch (step.kind) {
      case ScriptStep::Kind::kSend: {
        const int64_t delay_ps = step.deps_count == 0 ? spot.phase->endpoint_delay_ps : 0;
        Send(index, PlaceOfScriptPlace(*spot.phase, step.peer),
             ScriptMessageBytes(*spot.phase, step.units), queue_->now_ps() + delay_ps,
             EventKind::kScriptArrived, step.peer_step);
        break;
      }
      case ScriptStep::Kind::kReceive: {
        uint32_t& word = words_[spot.first_word + number];
        word |= kStarted;
        if ((word & kArrived) != 0) DealWithReceipt(index, spot, number);
        break;
      }
      case ScriptStep::Kind::kCompute: {
        const int64_t at_least_ns = system_->semantics == Semantics::kAstra ? 1 : 0;
        Push(queue_->now_ps() + NsToPs(std::max(step.duration_ns, at_least_ns)),
             FlowTag(EventKind::kScriptStepDone, number, index));
        break;
      }
    }
  }
}

// A message has come; with that its send has ended, too.
void CollectiveEngine::ReceiveScript(size_t index, uint32_t number) {
  const ScriptSpot spot = SpotOf(index);
  const ScriptStep& step = spot.script->steps[spot.first_step + number];
  ready_.clear();
  uint32_t& word = words_[spot.first_word + number];
  word |= kArrived;
  if ((word & kStarted) != 0) {
    DealWithReceipt(index, spot, number);
    RunReadySteps(index, spot);
  }
  const int32_t places_away =
      PlaceOfScriptPlace(*spot.phase, step.peer) - PlaceOf(*spot.phase, flows_[index].member);
  EndScriptStep(index + static_cast<int64_t>(places_away) * spot.phase->stride, step.peer_step);
}

// The receive's message is there: it ends after the endpoint delay and the reduction.
void CollectiveEngine::DealWithReceipt(size_t index, const ScriptSpot& spot, uint32_t number) {
  const ScriptStep& step = spot.script->steps[spot.first_step + number];
  const int64_t delay_ps =
      spot.phase->endpoint_delay_ps +
      (step.reduces ? ReductionPs(*system_, ScriptMessageBytes(*spot.phase, step.units)) : 0);
  if (delay_ps == 0) return FinishScriptStep(index, spot, number);
  Push(queue_->now_ps() + delay_ps, FlowTag(EventKind::kScriptStepDone, number, index));
}

void CollectiveEngine::EndScriptStep(size_t index, uint32_t number) {
  const ScriptSpot spot = SpotOf(index);
  ready_.clear();
  FinishScriptStep(index, spot, number);
  RunReadySteps(index, spot);
}

// The step has ended: what can start now joins ready_.
void CollectiveEngine::FinishScriptStep(size_t index, const ScriptSpot& spot, uint32_t number) {
  const CollectiveScript& script = *spot.script;
  const uint32_t at = spot.first_step + number;
  for (uint32_t j = script.dependent_begin[at]; j < script.dependent_begin[at + 1]; ++j) {
    const uint32_t dependent = script.dependent[j];
    const uint32_t ended = ++words_[spot.first_word + dependent] & kDepsMask;
    if (ended == script.steps[spot.first_step + dependent].deps_count) ready_.push_back(dependent);
  }
  if (++flows_[index].received == spot.steps_count) {
    Push(queue_->now_ps(), FlowTag(EventKind::kPhaseDone, 0, index));
  }
}

}  // namespace chakrad
