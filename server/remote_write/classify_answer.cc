#include "server/remote_write/classify_answer.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/check.h"

namespace chakrad {
namespace {

bool SpeaksOfTime(absl::string_view answer) {
  const std::string text = absl::AsciiStrToLower(answer);
  for (const absl::string_view words :
       {"too old", "too-old", "out of bounds", "out-of-bounds", "out of order", "out-of-order",
        "too far in the future", "too-far-in-future"}) {
    if (absl::StrContains(text, words)) return true;
  }
  return false;
}

}  // namespace

AnswerKind ClassifyAnswer(const HttpAnswer& answer) {
  if (answer.status >= 200 && answer.status < 300) return AnswerKind::kTaken;
  if (answer.status == 0 || answer.status == 429) return AnswerKind::kBusy;
  if (answer.status == 413) return AnswerKind::kTooLarge;
  const bool about_content = answer.status == 400 || answer.status == 409 || answer.status == 422;
  if ((about_content || answer.status == 500) && SpeaksOfTime(answer.text)) {
    return AnswerKind::kBadTime;
  }
  if (about_content) return AnswerKind::kBadSample;
  return answer.status >= 500 ? AnswerKind::kBusy : AnswerKind::kShutOut;
}

absl::string_view AnswerKindName(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kTaken:
      return "taken";
    case AnswerKind::kBusy:
      return "busy";
    case AnswerKind::kTooLarge:
      return "too_large";
    case AnswerKind::kBadTime:
      return "bad_time";
    case AnswerKind::kBadSample:
      return "bad_sample";
    case AnswerKind::kShutOut:
      return "shut_out";
  }
  CHECK(false) << static_cast<int>(kind);
  return "";
}

}  // namespace chakrad
