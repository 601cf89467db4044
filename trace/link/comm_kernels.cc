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
    {"receive", {NodeType::kCommRecv, CollectiveType::kAllReduce}},
};

// How a library's kernels begin, squeezed; the collective's word follows.
constexpr absl::string_view kLibraryPrefixes[] = {
    "ncclkernel",         // NCCL to 2.17
    "nccldevkernel",      // NCCL 2.18 and later, RCCL
    "ncclsymdevkernel",   // NCCL 2.27
    "ncclsymkdevkernel",  // NCCL 2.28
    "ncclsymk",           // The same without the part that says where it runs.
    "ncclsym",
    "mscclkernel",  // RCCL's and Microsoft's own schedules
    "rcclkernel",   // RCCL
    "hcom",
    "hccl",    // HCCL (Ascend)
    "oneccl",  // oneCCL (XPU)
    "xccl",
    "mccl",  // Other vendors' ports of the interface
    "mtia",  // MTIA
};
// What follows such a prefix in a kernel that runs any operation.
constexpr absl::string_view kUndecidedWords[] = {"sendrecv", "generic", "batchsendrecv"};
// Whole beginnings that do not follow that pattern.
constexpr absl::string_view kUndecidedPrefixes[] = {"rcclgeneric", "mscclkernel"};

// All-reduces of serving stacks and of PyTorch's symmetric memory, anywhere in
// the function's name: vLLM, SGLang, TensorRT-LLM, torch.
constexpr absl::string_view kCustomAllReduces[] = {"crossdevicereduce",        "oneshotallreduce",
                                                   "twoshotallreduce",         "multimemallreduce",
                                                   "multimemoneshotallreduce", "lamportallreduce"};

// What makes a name that the table does not know look like communication: a
// library's name, or an operation that nothing else is called after.
constexpr absl::string_view kSuspicions[] = {
    "nccl",      "rccl",     "hccl",      "xccl",          "mccl",     "oneccl", "mtia",
    "allreduce", "alltoall", "allgather", "reducescatter", "sendrecv", "nvshmem"};

// The part of a C++ signature that names the function, without the namespaces
// in front of an unnamed one.
absl::string_view FunctionName(absl::string_view kernel_name) {
  kernel_name = absl::StripPrefix(kernel_name, "void ");
  while (true) {
    const size_t cut = kernel_name.find_first_of("<(");
    if (cut == absl::string_view::npos) return kernel_name;
    absl::string_view rest = kernel_name.substr(cut);
    if (!absl::ConsumePrefix(&rest, "(anonymous namespace)::") &&
        !absl::ConsumePrefix(&rest, "<unnamed>::")) {
      return kernel_name.substr(0, cut);
    }
    kernel_name = rest;
  }
}

template <typename List>
bool StartsWithAny(absl::string_view text, const List& prefixes) {
  for (const absl::string_view prefix : prefixes) {
    if (absl::StartsWith(text, prefix)) return true;
  }
  return false;
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
  for (const absl::string_view prefix : kLibraryPrefixes) {
    if (!absl::StartsWith(name, prefix)) continue;
    const absl::string_view word = absl::string_view(name).substr(prefix.size());
    if (StartsWithAny(word, kUndecidedWords)) return {KernelClass::kUndecided, CommKind()};
    if (const auto kind = CommKindOfOp(word); kind.has_value()) return {KernelClass::kComm, *kind};
  }
  if (StartsWithAny(name, kUndecidedPrefixes)) return {KernelClass::kUndecided, CommKind()};
  for (const absl::string_view part : kSuspicions) {
    if (absl::StrContains(name, part)) return {KernelClass::kSuspect, CommKind()};
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
