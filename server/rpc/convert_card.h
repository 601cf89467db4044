// Cards and breakdowns to wire types. None of these can fail.
#ifndef CHAKRAD_SERVER_RPC_CONVERT_CARD_H_
#define CHAKRAD_SERVER_RPC_CONVERT_CARD_H_

#include "chakrad/v1/trace.pb.h"
#include "storage/trace_card.h"
#include "storage/trace_store.h"

namespace chakrad {

// What a list shows, from the card alone: no manifest is read.
void ToSummaryProto(const TraceCard& card, v1::Trace* trace);
// Recorded time, span, pin, breakdown and raw files of a manifest.
void AddDetails(const TraceInfo& info, v1::Trace* trace);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_RPC_CONVERT_CARD_H_
