// Execution traces and Kineto files that are nearly JSON, mended while they are read.
#ifndef CHAKRAD_TRACE_READERS_REPAIR_REPAIR_SOURCE_H_
#define CHAKRAD_TRACE_READERS_REPAIR_REPAIR_SOURCE_H_

#include <memory>

#include "trace/readers/byte_source.h"
#include "trace/readers/repair/repair_report.h"

namespace chakrad {

// The bytes of `inner`, with what its recorder got wrong put right, and each change
// entered in `report`, which must outlive the source:
// - commas between records, or in one, that are doubled, missing or trailing;
// - records that are half written, at the end or in between, or broken in another
//   way: they go, the others stay. A record is an element of "nodes" (it has an id
//   and a name) or of "traceEvents" or of a bare list (it has a ph and a name);
// - brackets missing at the end; compressed data that is cut off or damaged counts
//   as an end;
// - double quotes without a backslash inside a string, where only one way to read
//   the record makes sense: its keys are all keys that recorders write. The
//   earliest end of the string that fits is taken;
// - numbers and words in other spellings than JSON's. NaN, Infinity, inf and the
//   like stay as they are: JsonReader takes them, and readers keep what was recorded.
//
// A document that is right passes byte for byte, and so does a text that is no
// JSON object or list at all. INVALID_ARGUMENT ("byte offset N: ...") where
// nothing helps: a fault outside the lists of records, or damage without end.
//
// Offsets in later errors are those of the original as far as possible: what goes
// is replaced by blanks (line ends stay), a missing comma takes the place of a
// blank. They are off by what was put in where there was none (a backslash a
// quote) and by gaps longer than 64 KiB.
//
// Memory: a window, at most about twice kMaxJsonElementBytes. Time: linear, by a
// budget on looking for the next record.
std::unique_ptr<ByteSource> OpenRepairSource(std::unique_ptr<ByteSource> inner,
                                             RepairReport* report);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_REPAIR_REPAIR_SOURCE_H_
