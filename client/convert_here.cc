#include "client/convert_here.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/encoded_trace.h"
#include "client/local_import.h"
#include "client/progress_line.h"
#include "client/push.h"
#include "client/quantity.h"
#include "client/session.h"
#include "client/trace_view.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

absl::StatusOr<EncodedTrace> ConvertAndEncode(const UploadPlan& plan,
                                              const std::string& kernel_names) {
  ASSIGN_OR_RETURN(ImportResult imported, ImportHere(plan, kernel_names, /*report_only=*/false));
  imported.trace.labels = plan.labels;
  ASSIGN_OR_RETURN(EncodedTrace encoded, EncodeTrace(imported.trace));
  encoded.ledgers = std::move(imported.ledgers);
  encoded.notices = std::move(imported.notices);
  return encoded;
}

// "sent 12 MiB of 340 MiB; the rest was there".
std::string SentText(const PushResult& result, int64_t bytes) {
  if (result.known) return "sent nothing: the trace was there\n";
  return absl::StrCat("sent ", BytesText(result.sent_bytes), " of ", BytesText(bytes),
                      result.sent_bytes < bytes ? "; the rest was there\n" : "\n");
}

}  // namespace

absl::Status IngestConvertedHere(const UploadPlan& plan, const std::string& kernel_names,
                                 Session* session) {
  ASSIGN_OR_RETURN(const EncodedTrace encoded, ConvertAndEncode(plan, kernel_names));
  const std::string request_id =
      plan.request_id.empty() ? absl::StrCat("ranks-", absl::BytesToHexString(encoded.content_hash))
                              : plan.request_id;
  ProgressLine line(&session->err(), session->io().err_is_terminal);
  PushOptions options;
  options.sleep = session->io().sleep;
  options.progress = [&line](const PushProgress& progress) {
    line.Draw(progress.sent_bytes + progress.known_bytes, progress.bytes,
              progress.checking ? "sent, checking"
                                : absl::StrCat(BytesText(progress.sent_bytes), " of ",
                                               BytesText(progress.bytes)));
  };
  ASSIGN_OR_RETURN(const PushResult result,
                   PushTrace(session->channel(), encoded, request_id, options));
  line.Clear();
  if (session->json()) {
    session->PrintJson({{"request_id", request_id},
                        {"files_count", plan.files.size()},
                        {"encoded_bytes", encoded.chunk_bytes},
                        {"sent_bytes", result.sent_bytes},
                        {"trace", TraceJson(result.trace)}});
  } else {
    session->PrintText(SentText(result, encoded.chunk_bytes) + TraceText(result.trace));
  }
  return absl::OkStatus();
}

}  // namespace chakrad::client
