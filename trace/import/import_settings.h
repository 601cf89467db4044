// What whoever uploads files says about how they are to be read. Part of the
// upload: it is stored with it, so that a Seal after a restart reads the same.
#ifndef CHAKRAD_TRACE_IMPORT_IMPORT_SETTINGS_H_
#define CHAKRAD_TRACE_IMPORT_IMPORT_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>

namespace chakrad {

struct ImportSettings {
  std::map<std::string, int32_t> rank_by_file;  // By the file's name: the user's word.
  // Where nothing else tells it; 0: not stated. Of a workload that is written
  // for any number of NPUs (ASTRA-sim's text), how many there are.
  int32_t world_size = 0;
  int32_t passes_count = 1;  // Iterations of such a workload.
  // Faults that can be left out without making something up are left out, and
  // are flaws in the ledger (trace/readers/read_options.h).
  bool lenient = false;
  // Broken JSON of PyTorch's recorders is put right first: commas, half
  // records. Each repair is a flaw in the ledger.
  bool repair = false;
  friend bool operator==(const ImportSettings&, const ImportSettings&) = default;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_IMPORT_IMPORT_SETTINGS_H_
