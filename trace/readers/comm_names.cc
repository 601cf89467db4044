#include "trace/readers/comm_names.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace chakrad {

std::string CommOpName(absl::string_view recorded) {
  while (absl::ConsumePrefix(&recorded, "_")) {
  }
  while (absl::ConsumeSuffix(&recorded, "_")) {
  }
  return absl::StrReplaceAll(absl::AsciiStrToLower(recorded),
                             {{"allreduce", "all_reduce"},
                              {"allgather", "all_gather"},
                              {"alltoall", "all_to_all"},
                              {"reducescatter", "reduce_scatter"}});
}

CommName ParseCommName(absl::string_view name) {
  CommName parsed;
  if (name == "record_param_comms") {
    parsed.kind = CommNameKind::kParamComms;
  } else if (absl::StrContains(name, "process_group:init")) {
    parsed.kind = CommNameKind::kGroupTable;
  } else if (absl::ConsumePrefix(&name, "c10d::")) {
    parsed.kind = CommNameKind::kC10d;
  } else if (absl::ConsumePrefix(&name, "_c10d_functional::") ||
             absl::ConsumePrefix(&name, "c10d_functional::")) {
    parsed.kind = CommNameKind::kFunctional;
  } else {
    for (absl::string_view backend : {"nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:"}) {
      if (!absl::StartsWith(name, backend) || absl::StartsWith(name.substr(backend.size()), ":")) {
        continue;
      }
      parsed.kind = CommNameKind::kBackend;
      name.remove_prefix(backend.size());
      break;
    }
  }
  if (parsed.kind == CommNameKind::kNone || parsed.kind == CommNameKind::kParamComms ||
      parsed.kind == CommNameKind::kGroupTable) {
    return parsed;
  }
  const size_t space = name.find(' ');
  parsed.op = name.substr(0, space);
  if (space != absl::string_view::npos) {
    const absl::string_view ranks = name.substr(space);
    for (absl::string_view arrow : {"->", "<-"}) {
      const size_t at = ranks.find(arrow);
      int32_t peer;
      if (at != absl::string_view::npos && absl::SimpleAtoi(ranks.substr(at + 2), &peer)) {
        parsed.peer = peer;
      }
    }
  }
  return parsed;
}

const C10dLayout* FindC10dLayout(absl::string_view op) {
  static constexpr C10dLayout kLayouts[] = {
      {"all_reduce", 0, 0, -1, -1, -1, -1, -1},
      {"all_reduce_coalesced", 0, 0, -1, -1, -1, -1, -1},
      {"broadcast", 0, 0, 2, -1, -1, -1, -1},
      {"reduce", 0, 0, 3, -1, -1, -1, -1},
      {"all_gather", 1, 0, -1, -1, -1, -1, -1},
      {"all_gather_base", 1, 0, -1, -1, -1, -1, -1},
      {"all_gather_coalesced", 1, 0, -1, -1, -1, -1, -1},
      {"all_gather_into_tensor_coalesced", 1, 0, -1, -1, -1, -1, -1},
      {"reduce_scatter", 1, 0, -1, -1, -1, -1, -1},
      {"reduce_scatter_base", 1, 0, -1, -1, -1, -1, -1},
      {"reduce_scatter_tensor_coalesced", 1, 0, -1, -1, -1, -1, -1},
      {"gather", 1, 0, 3, -1, -1, -1, -1},
      {"scatter", 1, 0, 3, -1, -1, -1, -1},
      {"all_to_all", 1, 0, -1, -1, -1, -1, -1},
      {"all_to_all_base", 1, 0, -1, -1, -1, 4, 3},
      {"send", 0, -1, -1, 2, 3, -1, -1},
      {"recv", -1, 0, -1, 2, 3, -1, -1},
      {"recv_any_source", -1, 0, -1, -1, 2, -1, -1},
  };
  for (const C10dLayout& layout : kLayouts) {
    if (layout.op == op) return &layout;
  }
  return nullptr;
}

bool IsRootedOp(absl::string_view op) {
  for (absl::string_view rooted :
       {"broadcast", "broadcast_oop", "reduce", "reduce_oop", "gather", "scatter"}) {
    if (op == rooted) return true;
  }
  return false;
}
bool IsSendOp(absl::string_view op) { return op == "send" || op == "isend"; }
bool IsReceiveOp(absl::string_view op) { return op == "recv" || op == "irecv"; }

int64_t DtypeBytes(absl::string_view dtype) {
  static constexpr std::pair<absl::string_view, int64_t> kBytes[] = {
      {"float", 4},
      {"double", 8},
      {"half", 2},
      {"bfloat16", 2},
      {"byte", 1},
      {"char", 1},
      {"unsigned char", 1},
      {"signed char", 1},
      {"short", 2},
      {"short int", 2},
      {"int", 4},
      {"long", 8},
      {"long int", 8},
      {"bool", 1},
      {"uint16", 2},
      {"uint32", 4},
      {"uint64", 8},
      {"complexhalf", 4},
      {"complexfloat", 8},
      {"complexdouble", 16},
      {"float8_e5m2", 1},
      {"float8_e4m3fn", 1},
      {"float8_e5m2fnuz", 1},
      {"float8_e4m3fnuz", 1},
      {"qint8", 1},
      {"quint8", 1},
      {"qint32", 4},
  };
  absl::ConsumePrefix(&dtype, "c10::");
  const std::string lower = absl::AsciiStrToLower(dtype);
  for (const auto& [name, bytes] : kBytes) {
    if (lower == name) return bytes;
  }
  return -1;
}

bool ParseIntList(absl::string_view text, std::vector<int64_t>* values) {
  values->clear();
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) return false;
  if (absl::StripAsciiWhitespace(text).empty()) return true;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t value;
    if (!absl::SimpleAtoi(part, &value)) {
      values->clear();
      return false;
    }
    values->push_back(value);
  }
  return true;
}

}  // namespace chakrad
