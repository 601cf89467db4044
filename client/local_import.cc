#include "client/local_import.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "common/status.h"
#include "trace/api/trace_to_proto.h"
#include "trace/import/read_kernel_names.h"
#include "trace/model/trace_summary.h"

namespace chakrad::client {

absl::StatusOr<ImportResult> ImportHere(const UploadPlan& plan, const std::string& kernel_names,
                                        bool report_only) {
  std::vector<ImportFile> files;
  files.reserve(plan.files.size());
  for (const UploadFile& file : plan.files) files.push_back({file.file, file.path});
  ImportOptions options;
  options.settings = plan.settings;
  options.report_only = report_only;
  if (!kernel_names.empty()) {
    ASSIGN_OR_RETURN(KernelNames names, ReadKernelNames(kernel_names));
    options.kernel_names = std::make_shared<const KernelNames>(std::move(names));
  }
  return ImportTrace(files, options);
}

v1::Trace Describe(const ImportResult& result, const UploadPlan& plan) {
  v1::Trace trace;
  std::vector<RankSummary> ranks;
  ranks.reserve(result.trace.ranks.size());
  int64_t span_ns = 0;
  for (const RankTrace& rank : result.trace.ranks) {
    ranks.push_back(SummarizeRank(rank));
    span_ns = std::max(span_ns, ranks.back().span_ns);
  }
  ToProto(ranks, result.trace.groups, result.ledgers, result.notices, result.report, &trace);
  trace.set_world_size(result.trace.world_size);
  trace.set_span_ns(span_ns);
  trace.mutable_labels()->insert(plan.labels.begin(), plan.labels.end());
  return trace;
}

}  // namespace chakrad::client
