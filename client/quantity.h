// Numbers as a person or a file wants them: exact decimals from integers, and
// short texts with units.
#ifndef CHAKRAD_CLIENT_QUANTITY_H_
#define CHAKRAD_CLIENT_QUANTITY_H_

#include <cstdint>
#include <string>

namespace chakrad::client {

// value / 10^digits with exactly `digits` decimals: FixedDecimal(-1500, 3) is
// "-1.500". Exact for every value; digits in [0, 18].
std::string FixedDecimal(int64_t value, int digits);

// value / 10^digits, shown with `shown_digits` <= digits decimals, half away
// from zero: RoundedDecimal(1999, 3, 2) is "2.00".
std::string RoundedDecimal(int64_t value, int digits, int shown_digits);

// Picoseconds in microseconds, exact: the `ts` of a Chrome trace.
inline std::string PsAsUs(int64_t ps) { return FixedDecimal(ps, 6); }

// Picoseconds in milliseconds with `shown_digits` <= 9 decimals.
inline std::string PsAsMs(int64_t ps, int shown_digits) {
  return RoundedDecimal(ps, 9, shown_digits);
}

// Picoseconds in the unit that reads best, three digits or more: "17 ps", "1.50 us", "12.3 ms",
// "4523 s".
std::string DurationText(int64_t ps);

// 14391 as "14,391".
std::string CountText(int64_t count);

// "17 B", "1.5 KiB", "3.2 GiB".
std::string BytesText(int64_t bytes);

// 100 * part / whole as "12.3"; "-" when whole is 0.
std::string PercentText(int64_t part, int64_t whole);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_QUANTITY_H_
