#include "server/remote_write/classify_answer.h"

#include <initializer_list>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/check.h"

namespace chakrad {
namespace {

using Phrases = std::initializer_list<absl::string_view>;

constexpr Phrases kOutside = {"too old",       "too-old",    "out of bounds",
                              "out-of-bounds", "too far in", "too-far-in-future"};
constexpr Phrases kOutOfOrder = {"out of order", "out-of-order"};

bool Says(absl::string_view answer, Phrases phrases) {
  const std::string text = absl::AsciiStrToLower(answer);
  for (const absl::string_view words : phrases) {
    if (absl::StrContains(text, words)) return true;
  }
  return false;
}

bool SpeaksOfTime(absl::string_view answer) {
  return Says(answer, kOutside) || Says(answer, kOutOfOrder);
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

bool IsOnlyOutOfOrder(const HttpAnswer& answer) {
  return !Says(answer.text, kOutside) &&
         (Says(answer.text, kOutOfOrder) || Says(answer.text, {"duplicate sample"}));
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
    case AnswerKind::kWrongClock:
      return "wrong_clock";
  }
  CHECK(false) << static_cast<int>(kind);
  return "";
}

}  // namespace chakrad
