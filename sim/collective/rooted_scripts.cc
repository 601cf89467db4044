#include "sim/collective/rooted_scripts.h"

#include <vector>

#include "common/check.h"
#include "sim/collective/script_builder.h"

namespace chakrad {
namespace {

int32_t ParentOf(ScriptShape shape, int32_t place) {
  switch (shape) {
    case ScriptShape::kChain:
      return place - 1;
    case ScriptShape::kStar:
      return 0;
    case ScriptShape::kBinomialTree:
      return place & (place - 1);
    case ScriptShape::kCustom:
      break;
  }
  CHECK(false) << "no shape of a tree: " << static_cast<int>(shape);
  return 0;
}

// Children of a place in the order in which it deals with them. In a binomial tree a child has
// the larger subtree the larger its number is, apart from the last one, whose subtree may be cut.
bool LastChildFirst(ScriptShape shape) { return shape == ScriptShape::kBinomialTree; }

}  // namespace

CollectiveScript MakeRootedScript(PhaseOp op, ScriptShape shape, int32_t places_count) {
  const bool down = op == PhaseOp::kBroadcast || op == PhaseOp::kScatter;
  const bool parts = op == PhaseOp::kGather || op == PhaseOp::kScatter;
  // Parents have lower numbers than their children.
  std::vector<int32_t> subtree(places_count, 1);
  for (int32_t place = places_count - 1; place > 0; --place) {
    subtree[ParentOf(shape, place)] += subtree[place];
  }
  ScriptBuilder builder(places_count);
  // The message over the edge above each place; down: a parent's before its children's.
  std::vector<ScriptBuilder::Message> above(places_count);
  const auto add = [&](int32_t place) {
    const int32_t parent = ParentOf(shape, place);
    const int64_t units = parts ? subtree[place] : 1;
    above[place] = down ? builder.AddMessage(parent, place, units, false)
                        : builder.AddMessage(place, parent, units, op == PhaseOp::kReduce);
  };
  if (LastChildFirst(shape)) {
    for (int32_t place = places_count - 1; place > 0; --place) add(place);
  } else {
    for (int32_t place = 1; place < places_count; ++place) add(place);
  }
  for (int32_t place = 1; place < places_count; ++place) {
    const int32_t parent = ParentOf(shape, place);
    if (parent == 0) continue;
    if (down) {
      builder.Wait(parent, above[place].send, above[parent].receive);
    } else {
      builder.Wait(parent, above[parent].send, above[place].receive);
    }
  }
  return builder.Build(op == PhaseOp::kScatter ? places_count : 1);
}

}  // namespace chakrad
