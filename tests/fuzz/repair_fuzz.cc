#include <memory>
#include <string>

#include "common/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/repair/repair_source.h"

namespace chakrad {
namespace {

absl::StatusOr<std::string> Repair(absl::string_view text, RepairReport* report) {
  const auto source = OpenRepairSource(OpenMemorySource(text), report);
  std::string repaired, piece(4096, '\0');
  while (true) {
    const absl::StatusOr<size_t> count = source->Read(piece.data(), piece.size());
    if (!count.ok()) return count.status();
    if (*count == 0) return repaired;
    repaired.append(piece, 0, *count);
  }
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {
      R"x({"schema":"1.1.1","nodes":[{"id":1,"name":"a","attrs":[{"name":"rf_id","value":1}]},,)x"
      R"x({"id":2,"name":"b","inputs":[1,+Infinity,]} {"id":3,"name":"c","attrs":[{"na)x"
      R"x(,{"id":4,"name":"d"}},{"id":5,"name":"e"},],"finish_ts":7})x",
      R"x({"schemaVersion":1,"traceEvents":[{"ph":"X","name":"{"a": "b"}(1): run","ts":1},)x"
      R"x({"ph":"X","name":"op","ts":2,"args":{"x":{"y":[1]}}}],"traceName":"t"})x",
      R"x([{"ph":"X","name":"op","ts":2}, {"ph":"X","name":"op","ts":NaN})x",
  };
}

// What was repaired needs no repair.
bool FuzzOne(absl::string_view bytes) {
  RepairReport report, again;
  const auto repaired = Repair(bytes, &report);
  if (!repaired.ok()) return false;
  const auto twice = Repair(*repaired, &again);
  CHECK(twice.ok()) << twice.status() << "\n" << *repaired;
  CHECK(*twice == *repaired && again.total() == 0) << *repaired;
  return true;
}

}  // namespace chakrad
