#include "client/result_files.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/job_view.h"
#include "client/output_file.h"
#include "client/quantity.h"
#include "client/result_view.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

std::string Ns(int64_t ps) { return FixedDecimal(ps, 3); }

std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// One CSV file: lines of as many fields as the first.
class CsvFile {
 public:
  explicit CsvFile(const std::vector<std::string>& columns) { Add(columns); }

  void Add(const std::vector<std::string>& fields) {
    absl::StrAppend(&text_,
                    absl::StrJoin(fields, ",",
                                  [](std::string* out, const std::string& field) {
                                    out->append(Field(field));
                                  }),
                    "\n");
  }
  absl::Status Write(const std::string& folder, const char* name) const {
    ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                     OutputFile::Open(absl::StrCat(folder, "/", name), nullptr));
    file->stream() << text_;
    return file->Commit();
  }

 private:
  std::string text_;
};

absl::Status WriteRanks(const v1::SimulationResult& result, const std::string& folder) {
  CsvFile csv({"ranks", "ranks_count", "end_ns", "compute_ns", "comm_ns", "exposed_comm_ns",
               "exposed_memory_ns", "idle_ns", "idle_host_ns", "idle_queue_ns", "wait_ns",
               "waits_most_for_rank", "waits_most_in_group", "network_bytes"});
  for (const v1::RankResult& rank : result.ranks()) {
    csv.Add({absl::StrReplaceAll(RanksOf(rank, INT32_MAX), {{",", ";"}}),
             absl::StrCat(std::max(1, rank.ranks_count())), Ns(rank.end_ps()),
             Ns(rank.compute_ps()), Ns(rank.comm_ps()), Ns(rank.exposed_comm_ps()),
             Ns(rank.exposed_memory_ps()), Ns(rank.idle_ps()), Ns(rank.idle_host_ps()),
             Ns(rank.idle_queue_ps()), Ns(rank.wait_ps()),
             rank.has_waits_most_for_rank() ? absl::StrCat(rank.waits_most_for_rank()) : "",
             rank.has_waits_most_in_group() ? GroupName(result, rank.waits_most_in_group()) : "",
             absl::StrCat(rank.network_bytes())});
  }
  return csv.Write(folder, "ranks.csv");
}

absl::Status WriteCollectives(const v1::SimulationResult& result, const std::string& folder) {
  CsvFile csv({"group", "number", "type", "ranks_count", "bytes", "start_ns", "all_joined_ns",
               "end_ns", "last_rank", "flat", "algorithm_gb_per_sec", "bus_gb_per_sec"});
  for (const v1::CollectiveResult& one : result.collectives()) {
    csv.Add({GroupName(result, one.group()), absl::StrCat(one.number()), one.type(),
             absl::StrCat(one.ranks_count()), absl::StrCat(one.bytes()), Ns(one.start_ps()),
             Ns(one.all_joined_ps()), Ns(one.end_ps()), absl::StrCat(one.last_rank()),
             one.flat() ? "1" : "0", absl::StrCat(one.algorithm_bandwidth()),
             absl::StrCat(one.bus_bandwidth())});
  }
  return csv.Write(folder, "collectives.csv");
}

absl::Status WriteNetwork(const v1::SimulationResult& result, const std::string& folder) {
  CsvFile dims({"dimension", "links_count", "messages_count", "bytes", "busy_ns", "max_busy_ns",
                "queue_ns", "utilisation"});
  for (const v1::DimensionResult& dim : result.dimensions()) {
    dims.Add({absl::StrCat(dim.dimension()), absl::StrCat(dim.links_count()),
              absl::StrCat(dim.messages_count()), absl::StrCat(dim.bytes()), Ns(dim.busy_ps()),
              Ns(dim.max_busy_ps()), Ns(dim.queue_ps()), absl::StrCat(dim.utilisation())});
  }
  RETURN_IF_ERROR(dims.Write(folder, "dimensions.csv"));
  CsvFile links({"dimension", "from", "to", "messages_count", "bytes", "busy_ns", "queue_ns"});
  for (const v1::LinkResult& link : result.links()) {
    links.Add({absl::StrCat(link.dimension()), absl::StrCat(link.from()), absl::StrCat(link.to()),
               absl::StrCat(link.messages_count()), absl::StrCat(link.bytes()), Ns(link.busy_ps()),
               Ns(link.queue_ps())});
  }
  return links.Write(folder, "links.csv");
}

absl::Status WriteMemory(const v1::SimulationResult& result, const std::string& folder) {
  CsvFile csv({"rank", "device", "resident_bytes", "peak_bytes", "peak_at_ns"});
  for (const v1::MemoryPeak& peak : result.memory()) {
    csv.Add({absl::StrCat(peak.rank()), peak.device(), absl::StrCat(peak.resident_bytes()),
             absl::StrCat(peak.peak_bytes()), Ns(peak.peak_at_ps())});
  }
  return csv.Write(folder, "memory.csv");
}

absl::Status WriteCriticalPath(const v1::SimulationResult& result, const std::string& folder) {
  CsvFile csv({"rank", "node_id", "name", "start_ns", "end_ns"});
  for (const v1::CriticalStep& step : result.critical_path()) {
    const int name = static_cast<int>(step.name());
    csv.Add({absl::StrCat(step.rank()), absl::StrCat(step.node_id()),
             name < result.names_size() ? result.names(name) : "", Ns(step.start_ps()),
             Ns(step.end_ps())});
  }
  return csv.Write(folder, "critical_path.csv");
}

absl::Status WriteClasses(const v1::SimulationResult& result, const std::string& folder) {
  CsvFile csv({"representative", "ranks_count"});
  for (const v1::RankClass& of : result.classes()) {
    csv.Add({absl::StrCat(of.representative()), absl::StrCat(of.ranks_count())});
  }
  return csv.Write(folder, "classes.csv");
}

absl::Status WriteSummary(const v1::SimulationResult& result, const std::string& folder) {
  CsvFile csv({"key", "value"});
  csv.Add({"semantics", result.semantics()});
  csv.Add({"engine_version", result.engine_version()});
  csv.Add({"back_end", result.back_end()});
  csv.Add({"topology", result.topology()});
  csv.Add({"end_ns", Ns(result.end_ps())});
  csv.Add({"ranks_count", absl::StrCat(result.ranks_count())});
  csv.Add({"nodes_count", absl::StrCat(result.nodes_count())});
  csv.Add({"events_count", absl::StrCat(result.events_count())});
  csv.Add({"network_bytes", absl::StrCat(result.network_bytes())});
  csv.Add({"collectives_count", absl::StrCat(result.collectives_count())});
  csv.Add({"links_count", absl::StrCat(result.links_count())});
  for (const std::string& notice : result.notices()) csv.Add({"notice", notice});
  return csv.Write(folder, "summary.csv");
}

}  // namespace

absl::Status WriteResultCsv(const v1::SimulationResult& result, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::InternalError(absl::StrCat(folder, ": cannot be made: ", error.message()));
  }
  RETURN_IF_ERROR(WriteRanks(result, folder));
  RETURN_IF_ERROR(WriteCollectives(result, folder));
  RETURN_IF_ERROR(WriteNetwork(result, folder));
  RETURN_IF_ERROR(WriteCriticalPath(result, folder));
  RETURN_IF_ERROR(WriteMemory(result, folder));
  RETURN_IF_ERROR(WriteClasses(result, folder));
  return WriteSummary(result, folder);
}

absl::Status WriteResultFiles(const v1::Job& job, const ResultOptions& options) {
  if (!job.has_result()) return absl::OkStatus();
  if (!options.csv_folder.empty()) {
    RETURN_IF_ERROR(WriteResultCsv(job.result(), options.csv_folder));
  }
  if (options.json_file.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                   OutputFile::Open(options.json_file, nullptr));
  file->stream() << JsonText(JobJson(job), 2) << "\n";
  return file->Commit();
}

}  // namespace chakrad::client
