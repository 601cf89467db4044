// What a trace is made of, as one hash: two traces of the same content have the
// same, whoever converted them and wherever they are.
#ifndef CHAKRAD_TRACE_API_TRACE_CONTENT_H_
#define CHAKRAD_TRACE_API_TRACE_CONTENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/codec/rank_index.h"
#include "trace/model/rank_trace.h"

namespace chakrad {

// SHA-256 (32 raw bytes) over labels, world size, process groups and rank indexes, in
// ascending order of ranks whatever their order here. Not over spans, which follow
// from the chunks, nor over ledgers and notices, which tell how it was converted. The
// text is content_hash.h's of kind "ranks".
std::string TraceContentHash(const std::map<std::string, std::string>& labels, int32_t world_size,
                             const std::vector<ProcessGroup>& groups,
                             const std::vector<const RankIndex*>& ranks);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_API_TRACE_CONTENT_H_
