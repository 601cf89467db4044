#include "server/rpc/verify_traces.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/ids.h"
#include "server/limits.h"
#include "server/log.h"

namespace chakrad {
namespace {

absl::StatusOr<std::vector<std::string>> WantedIds(TraceStore* traces, const std::string& name) {
  std::vector<std::string> ids;
  if (!name.empty()) {
    ASSIGN_OR_RETURN(std::string id, IdFromName(name, "traces", "name"));
    // A damaged manifest is a finding; an unknown name is not.
    if (const auto info = traces->GetInfo(id); absl::IsNotFound(info.status())) {
      return info.status();
    }
    ids.push_back(std::move(id));
    return ids;
  }
  const std::shared_ptr<const TraceCards> cards = traces->Cards();
  for (auto card = cards->rbegin(); card != cards->rend(); ++card) ids.push_back((*card)->id);
  return ids;
}

void FillErrors(const std::vector<std::string>& errors, v1::VerifyTracesResponse* response) {
  for (size_t i = 0; i < errors.size() && i < kMaxVerifyErrors; ++i) {
    response->add_errors(ValidUtf8(errors[i], kMaxVerifyErrorBytes));
  }
  if (errors.size() > kMaxVerifyErrors) {
    response->add_errors(absl::StrCat("and ", errors.size() - kMaxVerifyErrors, " more"));
  }
}

}  // namespace

absl::Status VerifyTraces(TraceStore* traces, const v1::VerifyTracesRequest& request,
                          grpc::ServerContext* context,
                          grpc::ServerWriter<v1::VerifyTracesResponse>* stream) {
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, WantedIds(traces, request.name()));
  v1::VerifyTracesResponse response;
  response.set_traces_count(static_cast<int64_t>(ids.size()));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (context->IsCancelled()) return absl::CancelledError("the caller went away");
    const absl::StatusOr<VerifyResult> result = traces->Verify(ids[i]);
    response.clear_errors();
    response.set_traces_done(static_cast<int64_t>(i) + 1);
    response.set_name("traces/" + ids[i]);
    if (absl::IsNotFound(result.status())) continue;
    RETURN_IF_ERROR(result.status());
    response.set_ok(result->errors.empty());
    response.set_chunks_count(result->chunks_count);
    response.set_bytes(result->bytes);
    FillErrors(result->errors, &response);
    for (const std::string& error : result->errors) {
      Log(LogLevel::kError, "trace_damaged", {{"trace", ids[i]}, {"error", error}});
    }
    if (!stream->Write(response)) return absl::CancelledError("the caller went away");
  }
  return absl::OkStatus();
}

}  // namespace chakrad
