// Reads the keys of one YAML map, and reports what is wrong with each under its full name.
#ifndef CHAKRAD_SIM_SYSTEM_FIELD_READER_H_
#define CHAKRAD_SIM_SYSTEM_FIELD_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sim/system/faults.h"
#include "sim/system/quantity.h"
#include "sim/system/yaml_tree.h"

namespace chakrad {

// Not thread-safe. A value that is absent or wrong leaves the output as it was; what was wrong
// is in `faults`: "line 7: network.dimensions[0].npus: 0 is not ...".
class FieldReader {
 public:
  enum class Sign : uint8_t { kPositive = 0, kNotNegative = 1 };

  // `node` (may be null: an empty map) and `faults` must outlive the reader. `path`: name of
  // the map in messages; "" for the whole file.
  FieldReader(const YamlNode* node, std::string path, Faults* faults);

  // Null when absent, which is a fault of its own if `required`.
  const YamlNode* Take(const char* key, bool required = false);
  // True when a value was read.
  bool Quantity(const char* key, QuantityKind kind, Sign sign, bool required, double* value);
  template <typename Int>
  bool Whole(const char* key, int64_t low, int64_t high, bool required, Int* value) {
    int64_t number = 0;
    if (!WholeNumber(key, low, high, required, &number)) return false;
    *value = static_cast<Int>(number);
    return true;
  }
  // A factor above 0: "1.1" or "110 %".
  bool Factor(const char* key, bool required, double* value);
  // The index of the value among `choices`; -1 when there is none.
  int Choice(const char* key, const std::vector<std::string>& choices, bool required);
  // Entries of a list; empty when absent or no list of at most `limit`.
  std::vector<const YamlNode*> List(const char* key, int64_t limit, bool required);

  std::string PathOf(absl::string_view key) const;
  void Fault(const YamlNode* at, absl::string_view path, absl::string_view what);
  // Reports the keys that nobody asked for, and lists those that are known.
  void ReportUnknownKeys();

 private:
  bool WholeNumber(const char* key, int64_t low, int64_t high, bool required, int64_t* value);

  const YamlNode* node_;  // Null, or a map.
  bool broken_ = false;   // No map where one should be: nothing in it is missing.
  const std::string path_;
  Faults* const faults_;
  std::vector<std::string> asked_;
};

// The text of a scalar, cut for a message; "a list" and the like otherwise.
std::string Shown(const YamlNode& node);

// "1.1" or "110 %", above 0 and finite.
bool ParseFactor(const YamlNode& node, double* value);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_FIELD_READER_H_
