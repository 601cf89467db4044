// TraceCard to its record and back, and from what a manifest says.
#ifndef CHAKRAD_STORAGE_CARD_RECORD_H_
#define CHAKRAD_STORAGE_CARD_RECORD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "storage/trace_card.h"
#include "storage/trace_store.h"

namespace chakrad {

namespace storage {
class BreakdownRecord;
}  // namespace storage

TraceCard CardOf(const TraceInfo& info);

std::string PackCard(const TraceCard& card);
// Sets all but `id` and `pinned`, which are not in the record. DATA_LOSS: it does not parse.
absl::Status UnpackCard(absl::string_view value, TraceCard* card);

void BreakdownToProto(const TraceBreakdown& breakdown, storage::BreakdownRecord* record);
TraceBreakdown BreakdownFromProto(const storage::BreakdownRecord& record);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_CARD_RECORD_H_
