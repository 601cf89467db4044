#include "tests/validation/ground_truth_rows.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "tests/golden/golden_rows.h"

namespace chakrad {
namespace {

using Json = nlohmann::json;

auto CaseOf(const GroundTruthRow& row) {
  return std::tuple(!row.is_collective, row.fabric.hosts_count, row.fabric.rate_mbit,
                    row.fabric.mtu_bytes, row.op, row.model, row.bytes);
}

double Spread(const GroundTruthRow& row) { return (row.p90 - row.p10) / row.median; }

bool QuieterThan(const GroundTruthRow& a, const GroundTruthRow& b) {
  if (a.real_time != b.real_time) return a.real_time;
  return Spread(a) < Spread(b);
}

}  // namespace

absl::StatusOr<GroundTruthRow> ParseGroundTruthRow(const std::string& line) {
  GroundTruthRow row;
  try {
    const Json json = Json::parse(line);
    const std::string kind = json.at("kind");
    row.is_collective = kind == "collective";
    if (!row.is_collective && kind != "iteration") {
      return absl::InvalidArgumentError(absl::StrCat("kind: ", kind, " is not known"));
    }
    row.fabric_kind = json.at("fabric");
    row.fabric.hosts_count = json.at("world");
    if (!json.at("rate_mbit").is_null()) row.fabric.rate_mbit = json["rate_mbit"];
    row.fabric.mtu_bytes = json.at("mtu");
    row.real_time = json.at("sched") == "rr1";
    if (row.is_collective) {
      row.op = json.at("op");
      row.bytes = json.at("bytes");
      row.start_skew_us = json.at("start_skew_us");
      row.p10 = json.at("p10_us");
      row.median = json.at("median_us");
      row.p90 = json.at("p90_us");
    } else {
      row.model = json.at("model");
      const Json& sync = json.at("sync");
      row.p10 = sync.at("span_p10_ms");
      row.median = sync.at("span_ms");
      row.p90 = sync.at("span_p90_ms");
      row.exposed_ms = sync.at("exposed_wait_ms");
    }
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
  if (!(row.median > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("median: ", row.median, " is not above 0"));
  }
  return row;
}

absl::StatusOr<std::vector<GroundTruthRow>> ReadGroundTruth(const std::string& folder) {
  std::string path = folder + "/ground_truth.jsonl.gz";
  if (!std::filesystem::exists(path)) path = folder + "/ground_truth.jsonl";
  ASSIGN_OR_RETURN(const std::vector<std::string> lines, ReadLines(path));
  std::vector<GroundTruthRow> rows;
  for (size_t i = 0; i < lines.size(); ++i) {
    absl::StatusOr<GroundTruthRow> row = ParseGroundTruthRow(lines[i]);
    if (!row.ok()) return Annotate(row.status(), absl::StrCat(path, ", row ", i + 1));
    if (row->fabric_kind != "tbf" || row->fabric.rate_mbit <= 0) continue;
    rows.push_back(*std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const GroundTruthRow& a, const GroundTruthRow& b) {
    if (CaseOf(a) != CaseOf(b)) return CaseOf(a) < CaseOf(b);
    return QuieterThan(a, b);
  });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [](const GroundTruthRow& a, const GroundTruthRow& b) {
                           return CaseOf(a) == CaseOf(b);
                         }),
             rows.end());
  return rows;
}

}  // namespace chakrad
