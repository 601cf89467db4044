// Numbers with their units, as people write them: "400 GB/s", "936.25 ns", "48 KiB".
#ifndef CHAKRAD_SIM_SYSTEM_QUANTITY_H_
#define CHAKRAD_SIM_SYSTEM_QUANTITY_H_

#include <cstdint>
#include <string>

#include "common/status.h"

namespace chakrad {

enum class QuantityKind : uint8_t {
  kTime = 0,         // In ns: ps, ns, us, ms, s.
  kBytes = 1,        // In bytes: B, kB, MB, GB, TB (powers of 1,000), KiB, MiB, GiB, TiB (1,024).
  kBandwidth = 2,    // In bytes a ns: those of kBytes followed by /s, and bit/s, kbit/s, Mbit/s,
                     // Gbit/s, Tbit/s (powers of 1,000).
  kComputeRate = 3,  // In operations a ns: FLOP/s, MFLOP/s, GFLOP/s, TFLOP/s, PFLOP/s.
};

// A decimal number and one of the kind's units, blanks between them or not. Case counts: "Gb/s"
// is no unit, since a slip between bits and bytes is a factor of eight. INVALID_ARGUMENT with
// the text and the kind's units: no unit, another unit, no finite number. The sign is not
// checked. Correctly rounded for decimals of up to 15 digits.
absl::StatusOr<double> ParseQuantity(QuantityKind kind, absl::string_view text);

// "ns, us, ...": for messages.
std::string QuantityUnits(QuantityKind kind);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_QUANTITY_H_
