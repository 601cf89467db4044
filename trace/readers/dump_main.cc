// Prints what a reader makes of a file, as one JSON object: kind, counts, ledger.
//   dump FILE...
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/status.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/chakra_et/chakra_et.h"
#include "trace/readers/chakra_json/chakra_json.h"
#include "trace/readers/detect.h"
#include "trace/readers/kineto/kineto.h"
#include "trace/readers/manifest/manifest.h"
#include "trace/readers/pytorch_et/pytorch_et.h"

namespace chakrad {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Ledger& ledger) {
  Json json = {{"input_records", ledger.input_records},
               {"kept", ledger.kept},
               {"merged", ledger.merged},
               {"rejected", ledger.rejected},
               {"balanced", ledger.Balanced()},
               {"merged_by_rule", ledger.merged_by_rule},
               {"rejected_by_rule", ledger.rejected_by_rule}};
  if (!ledger.notices.empty()) json["notices"] = ledger.notices;
  if (!ledger.rejections.empty()) {
    json["first_rejection"] = {{"record", ledger.rejections[0].record},
                               {"byte_offset", ledger.rejections[0].byte_offset},
                               {"reason", ledger.rejections[0].reason}};
  }
  return json;
}

Json CountComm(const std::vector<CommArgs>& comm_args) {
  std::map<std::string, std::pair<int64_t, int64_t>> by_op;
  for (const CommArgs& args : comm_args) {
    auto& [count, bytes] = by_op[args.op];
    ++count;
    if (args.in_bytes > 0) bytes += args.in_bytes;
  }
  Json json = Json::object();
  for (const auto& [op, sums] : by_op) {
    json[op] = {{"count", sums.first}, {"in_bytes", sums.second}};
  }
  return json;
}

absl::Status DumpPyTorchEt(ByteSource* source, Ledger* ledger, Json* json) {
  ASSIGN_OR_RETURN(const PyTorchEt et, ReadPyTorchEt(source, ledger));
  (*json)["schema"] = et.schema;
  (*json)["rank"] = et.rank;
  (*json)["world_size"] = et.world_size;
  (*json)["nodes"] = et.ops.size();
  (*json)["groups"] = et.groups.size();
  (*json)["comm"] = CountComm(et.comm_args);
  return absl::OkStatus();
}

absl::Status DumpKineto(ByteSource* source, Ledger* ledger, Json* json) {
  ASSIGN_OR_RETURN(const KinetoTrace trace, ReadKineto(source, ledger));
  static constexpr const char* kKinds[] = {"host_op", "annotation", "runtime", "kernel",
                                           "memcpy",  "memset",     "sync"};
  std::map<std::string, std::pair<int64_t, int64_t>> by_kind;
  for (const KinetoEvent& event : trace.events) {
    auto& [count, dur_ns] = by_kind[kKinds[static_cast<int>(event.kind)]];
    ++count;
    dur_ns += event.dur_ns;
  }
  (*json)["rank"] = trace.rank;
  (*json)["world_size"] = trace.world_size;
  (*json)["base_unix_ns"] = trace.base_unix_ns;
  (*json)["queues"] = trace.queues.size();
  (*json)["groups"] = trace.groups.size();
  for (const auto& [kind, sums] : by_kind) {
    (*json)["events"][kind] = {{"count", sums.first}, {"dur_ns", sums.second}};
  }
  (*json)["comm"] = CountComm(trace.comm_args);
  return absl::OkStatus();
}

absl::Status DumpChakra(absl::StatusOr<RankTrace> read, Json* json) {
  ASSIGN_OR_RETURN(const RankTrace trace, std::move(read));
  (*json)["schema"] = trace.schema;
  (*json)["rank"] = trace.rank;
  (*json)["nodes"] = trace.size();
  (*json)["edges"] = trace.dep_node.size();
  (*json)["queues"] = trace.queues.size();
  (*json)["groups"] = trace.groups.size();
  std::map<std::string, int64_t> by_type;
  int64_t work_ns = 0, comm_bytes = 0;
  for (uint32_t node = 0; node < trace.size(); ++node) {
    ++by_type[std::string(NodeTypeName(trace.type[node]))];
    if (trace.work_ns[node] > 0) work_ns += trace.work_ns[node];
    if (trace.CommOf(node) != nullptr) comm_bytes += trace.CommOf(node)->bytes;
  }
  (*json)["types"] = by_type;
  (*json)["work_ns"] = work_ns;
  (*json)["comm_bytes"] = comm_bytes;
  return absl::OkStatus();
}

absl::Status DumpManifest(ByteSource* source, Json* json) {
  std::string text;
  char buffer[4096];
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, source->Read(buffer, sizeof(buffer)));
    if (count == 0) break;
    text.append(buffer, count);
  }
  ASSIGN_OR_RETURN(const Manifest manifest, ParseManifest(text));
  (*json)["world_size"] = manifest.world_size;
  (*json)["files"] = manifest.rank_by_file.size();
  (*json)["groups"] = manifest.groups.size();
  (*json)["collective_rules"] = manifest.collective_rules.size();
  return absl::OkStatus();
}

absl::Status Dump(const std::string& path, Json* json) {
  ASSIGN_OR_RETURN(const auto front, OpenFileSource(path));
  ASSIGN_OR_RETURN(const FileKind kind, DetectFileKind(front.get()));
  (*json)["kind"] = std::string(FileKindName(kind));
  ASSIGN_OR_RETURN(const auto source, OpenFileSource(path));
  Ledger ledger;
  const auto begin = std::chrono::steady_clock::now();
  absl::Status read;
  switch (kind) {
    case FileKind::kPyTorchEt:
      read = DumpPyTorchEt(source.get(), &ledger, json);
      break;
    case FileKind::kKineto:
      read = DumpKineto(source.get(), &ledger, json);
      break;
    case FileKind::kChakraEt:
      read = DumpChakra(ReadChakraEt(source.get(), &ledger), json);
      break;
    case FileKind::kChakraJson:
      read = DumpChakra(ReadChakraJson(source.get(), {}, &ledger), json);
      break;
    case FileKind::kManifest:
      read = DumpManifest(source.get(), json);
      break;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  (*json)["bytes"] = source->offset();
  (*json)["seconds"] = seconds.count();
  (*json)["bytes_per_second"] = static_cast<double>(source->offset()) / seconds.count();
  (*json)["ledger"] = ToJson(ledger);
  return read;
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    nlohmann::ordered_json json = {{"file", argv[i]}};
    const absl::Status dumped = chakrad::Dump(argv[i], &json);
    if (!dumped.ok()) {
      json["error"] = dumped.ToString();
      ++failed;
    }
    std::puts(json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  }
  return failed == 0 ? 0 : 1;
}
