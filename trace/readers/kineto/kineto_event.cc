#include "trace/readers/kineto/kineto_event.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status.h"
#include "trace/readers/comm_dims.h"
#include "trace/readers/comm_names.h"

namespace chakrad {
namespace {

struct ArgField {
  absl::string_view key;  // In lower case: recorders differ in capitals.
  JsonValue RawKinetoEvent::*field;
};
constexpr ArgField kArgFields[] = {
    {"stream", &RawKinetoEvent::stream},
    {"device", &RawKinetoEvent::device},
    {"correlation", &RawKinetoEvent::correlation},
    {"external id", &RawKinetoEvent::external_id},
    {"record function id", &RawKinetoEvent::rf_id},
    {"sequence number", &RawKinetoEvent::sequence},
    {"fwd thread id", &RawKinetoEvent::forward_tid},
    {"launch tid", &RawKinetoEvent::launch_tid},
    {"bytes", &RawKinetoEvent::bytes},
    {"size", &RawKinetoEvent::bytes},
    {"wait_on_stream", &RawKinetoEvent::wait_stream},
    {"wait_on_cuda_event_id", &RawKinetoEvent::wait_event},
    {"wait_on_cuda_event_record_corr_id", &RawKinetoEvent::wait_record_correlation},
    {"collective name", &RawKinetoEvent::collective},
    {"in msg nelems", &RawKinetoEvent::in_elements},
    {"out msg nelems", &RawKinetoEvent::out_elements},
    {"dtype", &RawKinetoEvent::dtype},
    {"group size", &RawKinetoEvent::group_size},
    {"process group name", &RawKinetoEvent::group_name},
    {"process group description", &RawKinetoEvent::group_description},
    {"process group ranks", &RawKinetoEvent::group_ranks},
    {"in split size", &RawKinetoEvent::in_splits},
    {"out split size", &RawKinetoEvent::out_splits},
    {"global rank start", &RawKinetoEvent::rank_start},
    {"global rank stride", &RawKinetoEvent::rank_stride},
    {"comms id", &RawKinetoEvent::comms_id},
    {"rank", &RawKinetoEvent::rank},
    {"src rank", &RawKinetoEvent::peer_from},
    {"dst rank", &RawKinetoEvent::peer_to},
    {"input dims", &RawKinetoEvent::input_dims},
    {"input type", &RawKinetoEvent::input_types},
};

constexpr ArgField kFields[] = {
    {"ph", &RawKinetoEvent::ph},   {"cat", &RawKinetoEvent::cat}, {"name", &RawKinetoEvent::name},
    {"pid", &RawKinetoEvent::pid}, {"tid", &RawKinetoEvent::tid}, {"ts", &RawKinetoEvent::ts},
    {"dur", &RawKinetoEvent::dur},
};

// Which of `fields` have keys of each length: few share one.
template <size_t kCount>
struct ByLength {
  static constexpr size_t kMaxLength = 40;
  uint8_t begin[kMaxLength + 2] = {};
  uint8_t order[kCount] = {};

  explicit constexpr ByLength(const ArgField (&fields)[kCount]) {
    uint8_t next = 0;
    for (size_t length = 0; length <= kMaxLength; ++length) {
      begin[length] = next;
      for (size_t i = 0; i < kCount; ++i) {
        if (fields[i].key.size() == length) order[next++] = static_cast<uint8_t>(i);
      }
    }
    begin[kMaxLength + 1] = next;
  }
};
constexpr ByLength kArgsByLength(kArgFields);
constexpr ByLength kFieldsByLength(kFields);

bool EqualsLower(absl::string_view text, absl::string_view lower) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::ascii_tolower(static_cast<unsigned char>(text[i])) != lower[i]) return false;
  }
  return true;
}

void ParseArgs(JsonRef args, RawKinetoEvent* event) {
  for (JsonFields field(args); field.Next();) {
    const absl::string_view key = field.key();
    if (key.size() > kArgsByLength.kMaxLength) continue;
    for (size_t i = kArgsByLength.begin[key.size()]; i < kArgsByLength.begin[key.size() + 1]; ++i) {
      const ArgField& known = kArgFields[kArgsByLength.order[i]];
      if (!EqualsLower(key, known.key)) continue;
      event->Set(known.field, field.value().Take());
      break;
    }
  }
}

KinetoFate Keep(KinetoKind kind) { return {KinetoFate::Fate::kKeep, kind, ""}; }
KinetoFate Merge(const char* rule) { return {KinetoFate::Fate::kMerge, KinetoKind::kHostOp, rule}; }
KinetoFate Reject(const char* rule) {
  return {KinetoFate::Fate::kReject, KinetoKind::kHostOp, rule};
}

bool LooksLikeAnnotation(absl::string_view name) {
  return absl::StartsWith(name, "ProfilerStep") || absl::StartsWith(name, "Optimizer.") ||
         ParseCommName(name).kind == CommNameKind::kBackend;
}

void SetInt(const JsonValue& value, int64_t* field) {
  int64_t number;
  if (value.GetInt(&number)) *field = number;
}

void SetText(const JsonValue& value, std::string* field) {
  if (value.kind != JsonValue::Kind::kMissing) *field = std::string(value.text);
}

void SetSplits(const JsonValue& value, std::vector<int64_t>* splits, bool* cut) {
  if (value.kind == JsonValue::Kind::kMissing) return;
  *cut |= !ParseIntList(value.text, splits);
}

absl::Status SetBytes(int64_t elements, int64_t element_bytes, int64_t* bytes) {
  if (elements < 0 || element_bytes < 0) return absl::OkStatus();
  if (!__builtin_mul_overflow(elements, element_bytes, bytes)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("msg nelems: ", elements, " elements of ",
                                                 element_bytes, " bytes do not fit 63 bits"));
}

void SetRanks(const JsonValue& value, CommArgs* args) {
  std::vector<int64_t> ranks;
  if (!ParseIntList(value.text, &ranks)) return;  // Cut lists are no lists.
  for (int64_t rank : ranks) {
    if (rank < 0 || rank > INT32_MAX) return args->group_ranks.clear();
    args->group_ranks.push_back(static_cast<int32_t>(rank));
  }
}

// PyTorch writes the peer's (or root's) rank in the group as Rank, and looks the
// peer's rank in the job up for Src Rank and Dst Rank, where it lists members.
void ReadRanks(const CommName& name, const RawKinetoEvent& event, CommArgs* comm) {
  const bool send = IsSendOp(comm->op), receive = IsReceiveOp(comm->op);
  if (IsRootedOp(comm->op)) SetInt(event.rank, &comm->root);
  if (send || receive) SetInt(event.rank, &comm->peer);
  if (name.peer >= 0) comm->peer = name.peer;
  int64_t global = kNotStated;
  if (send) SetInt(event.peer_to, &global);
  if (receive) SetInt(event.peer_from, &global);
  if (global < 0) return;
  comm->peer = global;
  comm->peer_is_global = true;
}

}  // namespace

bool ParseKinetoEvent(JsonRef value, RawKinetoEvent* event) {
  event->Clear();
  if (!value.is_object()) return false;
  for (JsonFields field(value); field.Next();) {
    const absl::string_view key = field.key();
    if (key == "args") {
      if (field.value().is_object()) ParseArgs(field.value(), event);
      continue;
    }
    if (key.size() > kFieldsByLength.kMaxLength) continue;
    for (size_t i = kFieldsByLength.begin[key.size()]; i < kFieldsByLength.begin[key.size() + 1];
         ++i) {
      const ArgField& known = kFields[kFieldsByLength.order[i]];
      if (key != known.key) continue;
      event->Set(known.field, field.value().Take());
      break;
    }
  }
  return true;
}

KinetoFate FateOfInterval(const RawKinetoEvent& event) {
  const std::string cat = absl::AsciiStrToLower(event.cat.text);
  if (cat == "cpu_op" || cat == "operator") return Keep(KinetoKind::kHostOp);
  if (cat == "user_annotation") return Keep(KinetoKind::kAnnotation);
  if (absl::EndsWith(cat, "runtime") || absl::EndsWith(cat, "driver")) {
    return Keep(KinetoKind::kRuntime);
  }
  if (cat == "kernel" || cat == "concurrent_kernel") return Keep(KinetoKind::kKernel);
  if (cat == "gpu_memcpy" || cat == "memcpy") return Keep(KinetoKind::kMemcpy);
  if (cat == "gpu_memset" || cat == "memset") return Keep(KinetoKind::kMemset);
  if (cat == "cuda_sync") return Keep(KinetoKind::kSync);
  // The same intervals once more, as seen from the device or from Python.
  if (cat == "gpu_user_annotation") return Merge("gpu_user_annotation");
  if (cat == "python_function") return Merge("python_function");
  if (cat == "overhead") return Merge("overhead");
  if (cat == "trace") return Merge("span");
  if (absl::EndsWith(cat, "instant_event")) return Merge("instant");
  if (cat.empty()) {  // torch 1.13's own profiler: only pid tells.
    if (event.pid.text == "CUDA functions") return Keep(KinetoKind::kKernel);
    return Keep(LooksLikeAnnotation(event.name.text) ? KinetoKind::kAnnotation
                                                     : KinetoKind::kHostOp);
  }
  return Reject("kineto_unknown_category");
}

KinetoFate FateOf(const RawKinetoEvent& event) {
  const absl::string_view ph = event.ph.text;
  if (ph.size() != 1) return Reject(ph.empty() ? "kineto_no_phase" : "kineto_unknown_phase");
  switch (ph[0]) {
    case 'X':
      return FateOfInterval(event);
    case 'B':
      return {KinetoFate::Fate::kBegin, KinetoKind::kHostOp, ""};
    case 'E':
      return {KinetoFate::Fate::kEnd, KinetoKind::kHostOp, ""};
    case 's':
    case 't':
    case 'f':
      return Merge("flow_event");
    case 'M':
      return Merge("metadata");
    case 'C':
      return Merge("counter");
    case 'i':
    case 'I':
    case 'R':
    case 'P':
      return Merge("instant");
    case 'b':
    case 'n':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
      return Merge("async_event");
    case 'N':
    case 'O':
    case 'D':
      return Merge("object_event");
    default:
      return Reject("kineto_unknown_phase");
  }
}

bool NameTellsComm(absl::string_view name) {
  return ParseCommName(name).kind != CommNameKind::kNone;
}

absl::Status ReadKinetoComm(const RawKinetoEvent& event, std::optional<CommArgs>* args) {
  args->reset();
  const CommName name = ParseCommName(event.name.text);
  const bool stated = event.collective.kind != JsonValue::Kind::kMissing;
  uint64_t comms_id = 0;
  const bool numbered = event.comms_id.GetInt(&comms_id);
  if (!stated && !numbered && name.kind == CommNameKind::kNone) return absl::OkStatus();
  CommArgs& comm = args->emplace();
  comm.comms_id = comms_id;
  comm.op = CommOpName(stated ? event.collective.text : name.op);
  if (name.kind == CommNameKind::kGroupTable) comm.op = "init";
  if (comm.op.empty() && !numbered) {  // record_param_comms of recorders that tell no more.
    args->reset();
    return absl::OkStatus();
  }
  ReadRanks(name, event, &comm);
  SizesFromShapes(name, event.input_dims.text, event.input_types.text, &comm);
  SetInt(event.in_elements, &comm.in_elements);
  SetInt(event.out_elements, &comm.out_elements);
  SetText(event.dtype, &comm.dtype);
  SetInt(event.group_size, &comm.group_size);
  SetText(event.group_name, &comm.group_name);
  SetText(event.group_description, &comm.group_description);
  SetInt(event.rank_start, &comm.global_rank_start);
  SetInt(event.rank_stride, &comm.global_rank_stride);
  SetRanks(event.group_ranks, &comm);
  SetSplits(event.in_splits, &comm.in_splits, &comm.splits_cut);
  SetSplits(event.out_splits, &comm.out_splits, &comm.splits_cut);
  // Element counts stand over shapes.
  if (event.in_elements.kind == JsonValue::Kind::kMissing) return absl::OkStatus();
  const int64_t element_bytes = DtypeBytes(comm.dtype);
  RETURN_IF_ERROR(SetBytes(comm.in_elements, element_bytes, &comm.in_bytes));
  return SetBytes(comm.out_elements, element_bytes, &comm.out_bytes);
}

}  // namespace chakrad
