// The conformance report in a trace's manifest record.
#ifndef CHAKRAD_STORAGE_CHECK_RECORD_H_
#define CHAKRAD_STORAGE_CHECK_RECORD_H_

#include "trace/check/report.h"

namespace chakrad {

namespace storage {
class CheckRecord;  // storage/record.proto
}  // namespace storage

void CheckToProto(const CheckReport& report, storage::CheckRecord* record);
// Cannot fail: a severity that nobody knows is a warning.
CheckReport CheckFromProto(const storage::CheckRecord& record);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_CHECK_RECORD_H_
