// Durations, sizes and times as people write them, in filters and policies.
#ifndef CHAKRAD_STORAGE_QUANTITY_TEXT_H_
#define CHAKRAD_STORAGE_QUANTITY_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace chakrad {

// Each is none for text of another form and for what 64 bits do not hold.

// "30d", "1d12h", "1.5s", "300ms": numbers, each with one of w, d, h, m, s, ms, us,
// ns, added up; also with a '-' in front. "0" needs no unit. In nanoseconds,
// truncated towards zero.
std::optional<int64_t> ParseDurationNs(absl::string_view text);

// The same length of time as ParseDurationNs reads it, short: "30d", "1d12h", "1s500ms".
std::string DurationText(int64_t duration_ns);

// "500GiB", "1.5 TB", "4096": KiB, MiB, GiB, TiB, PiB are powers of 1024, KB, MB,
// GB, TB, PB of 1000; "B" or nothing is bytes. Not below 0.
std::optional<int64_t> ParseSizeBytes(absl::string_view text);

// "500GiB"; with one decimal where it is not whole: "1.5TiB".
std::string SizeText(int64_t bytes);

// RFC 3339 ("2026-11-01T08:00:00Z", "2026-11-01T08:00:00.5+01:00") or a date,
// which is its midnight in UTC.
std::optional<int64_t> ParseTimeUnixNs(absl::string_view text);
// In UTC, with as many decimals as needed: ParseTimeUnixNs reads it back.
std::string TimeText(int64_t unix_ns);

// A decimal number of at most 15 digits: "300", "-0.25". Such numbers and their order
// are exact in a double. No exponents: "12e4" is as likely a part of a hash.
std::optional<double> ParsePlainNumber(absl::string_view text);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_QUANTITY_TEXT_H_
