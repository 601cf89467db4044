#include "client/local_import.h"

#include <vector>

#include "trace/api/trace_to_proto.h"
#include "trace/model/trace_summary.h"

namespace chakrad::client {

absl::StatusOr<ImportResult> ImportHere(const UploadPlan& plan, bool report_only) {
  std::vector<ImportFile> files;
  files.reserve(plan.files.size());
  for (const UploadFile& file : plan.files) files.push_back({file.file, file.path});
  ImportOptions options;
  options.settings = plan.settings;
  options.report_only = report_only;
  return ImportTrace(files, options);
}

v1::Trace Describe(const ImportResult& result, const UploadPlan& plan) {
  v1::Trace trace;
  std::vector<RankSummary> ranks;
  ranks.reserve(result.trace.ranks.size());
  for (const RankTrace& rank : result.trace.ranks) ranks.push_back(SummarizeRank(rank));
  ToProto(ranks, result.trace.groups, result.ledgers, result.notices, result.report, &trace);
  trace.set_world_size(result.trace.world_size);
  trace.mutable_labels()->insert(plan.labels.begin(), plan.labels.end());
  return trace;
}

}  // namespace chakrad::client
