// Reads at start what the trace store keeps in memory.
#ifndef CHAKRAD_STORAGE_LOAD_CATALOG_H_
#define CHAKRAD_STORAGE_LOAD_CATALOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/kv.h"
#include "storage/trace_card.h"
#include "storage/trace_writer.h"

namespace chakrad {

struct LoadedCatalog {
  std::vector<std::shared_ptr<const TraceCard>> cards;
  TraceTotals totals;
  // One line each: what was damaged, and what became of it.
  std::vector<std::string> notices;
};

// Reads all cards: about half a second for 100,000. Damage hides nothing that can still be
// named: cards that are missing are made again from manifests (which reads all of those),
// and what only a key names is listed as damaged. Fails only as reading does.
absl::StatusOr<LoadedCatalog> LoadCatalog(Kv* kv);

// The card of a manifest as stored. DATA_LOSS: it does not parse.
absl::StatusOr<TraceCard> CardFromManifest(const std::string& id, absl::string_view manifest);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_LOAD_CATALOG_H_
