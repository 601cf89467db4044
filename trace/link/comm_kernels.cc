#include "trace/link/comm_kernels.h"

#include <cctype>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace chakrad {
namespace {

// Letters and digits in lower case: "_allgather_base" -> "allgatherbase".
std::string Squeeze(absl::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      result.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
  }
  return result;
}

struct OpPrefix {
  absl::string_view prefix;
  CommKind kind;
};

// The first prefix that fits decides: longer words before those they begin with.
constexpr NodeType kColl = NodeType::kCommColl;
constexpr OpPrefix kOpPrefixes[] = {
    {"allreduce", {kColl, CollectiveType::kAllReduce}},
    {"alltoall", {kColl, CollectiveType::kAllToAll}},
    {"allgather", {kColl, CollectiveType::kAllGather}},
    {"reducescatter", {kColl, CollectiveType::kReduceScatter}},
    {"broadcast", {kColl, CollectiveType::kBroadcast}},
    {"barrier", {kColl, CollectiveType::kBarrier}},
    {"monitoredbarrier", {kColl, CollectiveType::kBarrier}},
    {"gather", {kColl, CollectiveType::kGather}},
    {"scatter", {kColl, CollectiveType::kScatter}},
    {"reduce", {kColl, CollectiveType::kReduce}},
    {"isend", {NodeType::kCommSend, CollectiveType::kAllReduce}},
    {"send", {NodeType::kCommSend, CollectiveType::kAllReduce}},
    {"irecv", {NodeType::kCommRecv, CollectiveType::kAllReduce}},
    {"recv", {NodeType::kCommRecv, CollectiveType::kAllReduce}},
};

// How a library's kernels begin, squeezed; the collective's word follows.
constexpr absl::string_view kLibraryPrefixes[] = {
    "ncclkernel",         // NCCL to 2.17
    "nccldevkernel",      // NCCL 2.18 and later, RCCL
    "ncclsymdevkernel",   // NCCL 2.27
    "ncclsymkdevkernel",  // NCCL 2.28
    "ncclsymk",          "ncclsym", "hcom", "hccl", "oneccl", "mtia",
};

constexpr absl::string_view kCustomAllReduces[] = {"crossdevicereduce", "oneshotallreduce",
                                                   "twoshotallreduce", "multimemallreduce"};

// The part of a C++ signature that names the function.
absl::string_view FunctionName(absl::string_view kernel_name) {
  kernel_name = absl::StripPrefix(kernel_name, "void ");
  return kernel_name.substr(0, kernel_name.find_first_of("<("));
}

}  // namespace

std::optional<CommKind> CommKindOfOp(absl::string_view op) {
  const std::string squeezed = Squeeze(op);
  // "sendrecv" and "recvanysource" begin with words of the table; the first is several things.
  if (absl::StartsWith(squeezed, "sendrecv")) return std::nullopt;
  for (const OpPrefix& entry : kOpPrefixes) {
    if (absl::StartsWith(squeezed, entry.prefix)) return entry.kind;
  }
  return std::nullopt;
}

CommKernel ClassifyKernel(absl::string_view kernel_name) {
  const std::string name = Squeeze(FunctionName(kernel_name));
  for (const absl::string_view custom : kCustomAllReduces) {
    if (absl::StrContains(name, custom)) return {KernelClass::kComm, CommKind()};
  }
  if (absl::StartsWith(name, "rcclgenerickernel")) return {KernelClass::kUndecided, CommKind()};
  for (const absl::string_view prefix : kLibraryPrefixes) {
    if (!absl::StartsWith(name, prefix)) continue;
    const absl::string_view word = absl::string_view(name).substr(prefix.size());
    if (absl::StartsWith(word, "sendrecv") || absl::StartsWith(word, "generic")) {
      return {KernelClass::kUndecided, CommKind()};
    }
    if (const auto kind = CommKindOfOp(word); kind.has_value()) return {KernelClass::kComm, *kind};
  }
  return {};
}

bool IsAsyncHostComm(absl::string_view name) {
  return absl::StartsWith(name, "gloo:") || absl::StartsWith(name, "mpi:");
}
bool IsRecordParamComms(absl::string_view name) { return name == "record_param_comms"; }
bool IsC10d(absl::string_view name) {
  return absl::StartsWith(name, "c10d::") || absl::StartsWith(name, "c10d_functional::") ||
         absl::StartsWith(name, "_c10d_functional::");
}
bool IsDeviceCommMark(absl::string_view name) {
  return absl::StartsWith(name, "nccl:") || absl::StartsWith(name, "rccl:") ||
         absl::StartsWith(name, "hccl:") || absl::StartsWith(name, "xccl:");
}

}  // namespace chakrad
