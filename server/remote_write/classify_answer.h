// What a receiver's answer means for what was sent.
#ifndef CHAKRAD_SERVER_REMOTE_WRITE_CLASSIFY_ANSWER_H_
#define CHAKRAD_SERVER_REMOTE_WRITE_CLASSIFY_ANSWER_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "server/remote_write/http_sender.h"

namespace chakrad {

enum class AnswerKind : uint8_t {
  kTaken,       // 2xx.
  kBusy,        // No answer, 429, 5xx: the same again, later.
  kTooLarge,    // 413: in smaller parts.
  kBadTime,     // Some sample is too old for the receiver, or out of its order: that one never.
  kBadSample,   // Some sample is refused for another reason (400, 409, 422).
  kShutOut,     // Nothing is taken from us here (401, 403, 404, a redirect, ...): a person has to
                // look, and the data waits.
  kWrongClock,  // Nothing was sent: our clock and the receiver's disagree, or ours cannot be right.
};

// Prometheus 2.42 answers a sample behind its out-of-order window with 500 and "too old", one
// out of order with 400; Mimir, Thanos and Cortex say the like with 400, 409 or 422. Any of
// these with such words is kBadTime.
AnswerKind ClassifyAnswer(const HttpAnswer& answer);

// Of a kBadTime or kBadSample: the receiver has a newer sample of the series, or another one of
// the same time; and nothing says that it is too old, or out of bounds.
bool IsOnlyOutOfOrder(const HttpAnswer& answer);

// "taken", "busy", ...
absl::string_view AnswerKindName(AnswerKind kind);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_REMOTE_WRITE_CLASSIFY_ANSWER_H_
