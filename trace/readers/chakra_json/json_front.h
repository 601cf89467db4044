// Tells Chakra messages that are merely written one behind the other from a JSON
// document.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_JSON_JSON_FRONT_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_JSON_JSON_FRONT_H_

#include "absl/strings/string_view.h"

namespace chakrad {

// Whether the text that starts with `front` is messages without a list around
// them, as Chakra's jsonizer writes: its first object has keys of GlobalMetadata
// or Node only, and either another object follows or it has attributes.
bool IsConcatenatedMessages(absl::string_view front);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_JSON_JSON_FRONT_H_
