#include "trace/readers/pytorch_et/pytorch_et.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status.h"
#include "trace/model/attributes.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/cold_writer.h"
#include "trace/readers/json/json_reader.h"
#include "trace/readers/limits.h"
#include "trace/readers/process_groups.h"
#include "trace/readers/pytorch_et/et_comm.h"
#include "trace/readers/pytorch_et/et_node.h"

namespace chakrad {
namespace {

constexpr absl::string_view kSupported[] = {"1.0.1", "1.0.2", "1.0.3", "1.0.4", "1.1.0", "1.1.1"};
constexpr absl::string_view kNewestKnown = "1.1.1";

absl::Status Annotated(const absl::Status& status, uint64_t id, absl::string_view name,
                       int64_t record, int64_t byte_offset) {
  return Annotate(status, absl::StrCat("byte offset ", byte_offset, ", record ", record, ", node ",
                                       id, " (", name.substr(0, 100), ")"));
}

// "major.minor.patch", whatever follows a "-".
bool ParseVersion(absl::string_view schema, std::vector<int>* version) {
  version->clear();
  for (absl::string_view part : absl::StrSplit(schema.substr(0, schema.find('-')), '.')) {
    int number;
    if (!absl::SimpleAtoi(part, &number) || number < 0) return false;
    version->push_back(number);
  }
  return version->size() == 3;
}

absl::Status CheckSchema(absl::string_view schema, Ledger* ledger) {
  const absl::string_view number = schema.substr(0, schema.find('-'));
  if (std::find(std::begin(kSupported), std::end(kSupported), number) != std::end(kSupported)) {
    return absl::OkStatus();
  }
  std::vector<int> version, newest;
  ParseVersion(kNewestKnown, &newest);
  if (ParseVersion(schema, &version) && version[0] == newest[0] && version > newest) {
    ledger->notices.push_back(absl::StrCat("schema ", schema, " is newer than ", kNewestKnown,
                                           ", the newest known: read as that"));
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("schema: \"", schema.substr(0, 60), "\" is not supported; supported are ",
                   "1.0.1, 1.0.2, 1.0.3, 1.0.4, 1.1.0, 1.1.1, with any -chakra suffix"));
}

// Chakra's converter writes int64_val; what does not fit is written as uint64_val.
void WriteInt(absl::string_view key, uint64_t value, ColdWriter* cold) {
  if (value <= static_cast<uint64_t>(INT64_MAX)) {
    cold->Int(key, static_cast<int64_t>(value));
  } else {
    cold->Uint(key, value);
  }
}

// The nearest double; "-Infinity" and the like as their values.
double ToDouble(absl::string_view text) {
  double value;
  if (!absl::SimpleAtod(text, &value)) return 0;
  return value;
}

void WriteExtra(const EtNode::Extra& extra, const JsonWindow& window, ColdWriter* cold) {
  int64_t int_value;
  uint64_t uint_value;
  switch (extra.value.kind) {
    case JsonValue::Kind::kNumber:
      if (extra.type != "uint64" && extra.value.GetInt(&int_value)) {
        cold->Int(extra.key, int_value);
      } else if (extra.value.GetInt(&uint_value)) {
        cold->Uint(extra.key, uint_value);
      } else if (extra.value.GetInt(&int_value)) {
        cold->Int(extra.key, int_value);
      } else {
        cold->Double(extra.key, ToDouble(extra.value.text));
      }
      return;
    case JsonValue::Kind::kBool:
      return cold->Bool(extra.key, extra.value.text == "true");
    case JsonValue::Kind::kString:
      return cold->Text(extra.key, extra.value.text);
    default:
      return cold->Text(extra.key, window.AsRecorded(extra.value.text));
  }
}

// A known key with a type that its contract does not allow would be refused
// when the trace comes back from a Chakra file.
absl::Status CheckExtra(const EtNode::Extra& extra) {
  const AttributeInfo* info = FindAttribute(extra.key, AttributeScope::kNode);
  if (info == nullptr) return absl::OkStatus();
  int64_t unused;
  uint64_t unsigned_unused;
  bool fits = false;
  const bool number = extra.value.kind == JsonValue::Kind::kNumber;
  switch (info->type) {
    case AttributeType::kInt:
      fits = number && extra.value.GetInt(&unused);
      break;
    case AttributeType::kUint:
      fits = number && extra.value.GetInt(&unsigned_unused);
      break;
    case AttributeType::kBool:
      fits = extra.value.kind == JsonValue::Kind::kBool;
      break;
    case AttributeType::kString:
      fits = extra.value.is_string();
      break;
    default:
      break;
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(extra.key, ": ", extra.value.text.substr(0, 60),
                                                 " is not ", AttributeTypeName(info->type)));
}

class EtFileReader {
 public:
  EtFileReader(ByteSource* source, const ReadOptions& options, Ledger* ledger)
      : reader_(source),
        options_(options),
        ledger_(ledger),
        interner_(&et_.strings),
        groups_(ledger) {}

  absl::StatusOr<PyTorchEt> Read();

 private:
  absl::Status ReadKeys();
  absl::Status ReadSchema();
  absl::Status ReadNodes();
  absl::Status ReadWindow(const JsonWindow& window);
  absl::Status AddNode(const EtNode& node, const JsonWindow& window, int64_t byte_offset);
  absl::Status AddComm(const EtNode& node, EtOp* op);
  void AddLinkedGroup(const EtNode& node, EtOp* op);
  void AddCold(const EtNode& node, const JsonWindow& window, EtOp* op);
  absl::Status CheckParents();
  absl::Status CheckLinkedDeps();

  JsonReader reader_;
  const ReadOptions options_;
  Ledger* ledger_;
  PyTorchEt et_;
  StringInterner interner_;
  absl::flat_hash_map<uint64_t, uint32_t> index_by_id_;
  EtNode node_;
  static constexpr uint8_t kNotLookedAt = 2;
  std::vector<uint8_t> is_comm_name_;  // By index of the name: 0, 1.
  EtCommReader comm_reader_;
  EtLinkedReader linked_;
  ProcessGroupTables groups_;
  bool has_schema_ = false, has_nodes_ = false;
};

absl::StatusOr<PyTorchEt> EtFileReader::Read() {
  ASSIGN_OR_RETURN(const JsonReader::Top top, reader_.Open());
  if (top != JsonReader::Top::kObject) {
    return absl::InvalidArgumentError(
        "byte offset 0: a list, not the object of a PyTorch execution trace");
  }
  RETURN_IF_ERROR(ReadKeys());
  if (!has_nodes_) {
    return absl::InvalidArgumentError("nodes: missing; not a PyTorch execution trace");
  }
  if (!has_schema_) return absl::InvalidArgumentError("schema: missing");
  if (et_.ops.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("nodes: the file holds none that can be read (",
                                                   ledger_->input_records,
                                                   " records): the observer recorded nothing"));
  }
  RETURN_IF_ERROR(CheckParents());
  RETURN_IF_ERROR(linked_.Finish(&et_));
  RETURN_IF_ERROR(CheckLinkedDeps());
  if (reader_.non_finite_count() > 0) {
    const std::string what =
        absl::StrCat("byte offset ", reader_.non_finite_offset(), ": ", reader_.non_finite_count(),
                     " numbers are NaN or infinite, of which this is the first");
    if (!options_.lenient && !options_.not_numbers) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, "; JSON has no such numbers (--lenient keeps them as recorded)"));
    }
    ledger_->AddFlaw("not_a_number", -1, reader_.non_finite_offset(),
                     absl::StrCat(what, "; kept as recorded"));
  }
  et_.world_size = groups_.world_size();
  et_.groups = groups_.TakeGroups();
  return std::move(et_);
}

absl::Status EtFileReader::ReadKeys() {
  std::string key;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader_.NextKey(&key));
    if (!more) return absl::OkStatus();
    if (key == "schema") {
      RETURN_IF_ERROR(ReadSchema());
    } else if (key == "nodes") {
      if (std::exchange(has_nodes_, true)) {
        return absl::InvalidArgumentError(
            absl::StrCat("byte offset ", reader_.value_offset(), ": nodes: is there twice"));
      }
      RETURN_IF_ERROR(ReadNodes());
    } else {
      RETURN_IF_ERROR(reader_.SkipValue());
    }
  }
}

absl::Status EtFileReader::ReadSchema() {
  has_schema_ = true;
  const int64_t offset = reader_.value_offset();
  ASSIGN_OR_RETURN(const std::string json, reader_.ReadValue());
  simdjson::dom::parser parser;
  std::string_view schema;
  if (parser.parse(json).get(schema) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(
        absl::StrCat("byte offset ", offset, ": schema: ", json.substr(0, 60), " is not a string"));
  }
  et_.schema = std::string(schema);
  return Annotate(CheckSchema(et_.schema, ledger_), absl::StrCat("byte offset ", offset));
}

absl::Status EtFileReader::ReadNodes() {
  RETURN_IF_ERROR(reader_.BeginArray());
  while (true) {
    const absl::StatusOr<const JsonWindow*> window = reader_.NextWindow();
    if (!window.ok()) {
      if (et_.ops.empty()) return window.status();
      return absl::InvalidArgumentError(
          absl::StrCat(window.status().message(), "; the last good node is ", et_.ops.back().id));
    }
    if (*window == nullptr) return absl::OkStatus();
    RETURN_IF_ERROR(ReadWindow(**window));
  }
}

absl::Status EtFileReader::ReadWindow(const JsonWindow& window) {
  for (size_t i = 0; i < window.byte_offsets.size(); ++i) {
    const int64_t byte_offset = window.byte_offsets[i];
    const int64_t record = window.first_record + static_cast<int64_t>(i);
    const JsonRef object = JsonRef::Element(window, i);
    node_ = EtNode();
    absl::Status added = object.is_object() ? ParseEtNode(object, &node_)
                                            : absl::InvalidArgumentError("a node is not an object");
    if (added.ok()) added = AddNode(node_, window, byte_offset);
    if (added.ok()) continue;
    if (!options_.lenient) {
      return Annotated(absl::InvalidArgumentError(added.message()), node_.id, node_.name, record,
                       byte_offset);
    }
    ledger_->Reject(
        absl::IsAlreadyExists(added) ? "duplicate_node_id" : "bad_node", record, byte_offset,
        absl::StrCat("node ", node_.id, " (", node_.name.substr(0, 100), "): ", added.message()));
  }
  return absl::OkStatus();
}

absl::Status EtFileReader::AddNode(const EtNode& node, const JsonWindow& window,
                                   int64_t byte_offset) {
  const auto taken = index_by_id_.find(node.id);
  if (taken != index_by_id_.end()) {
    const EtOp& first = et_.ops[taken->second];
    return absl::AlreadyExistsError(absl::StrCat("id: ", node.id, " is used twice, first by ",
                                                 et_.strings.Get(first.name).substr(0, 100),
                                                 " at byte offset ", first.byte_offset));
  }
  for (const EtNode::Extra& extra : node.extras) RETURN_IF_ERROR(CheckExtra(extra));
  EtOp op;
  op.id = node.id;
  op.parent = node.parent;
  op.rf_id = node.rf_id;
  op.fw_parent = node.fw_parent;
  op.seq_id = node.seq_id;
  op.tid = node.tid;
  op.fw_tid = node.fw_tid;
  op.byte_offset = byte_offset;
  op.name = interner_.Intern(node.name);
  op.scope = node.scope;
  RETURN_IF_ERROR(AddComm(node, &op));
  if (node.is_linked) {
    RETURN_IF_ERROR(linked_.Add(node.linked, static_cast<uint32_t>(et_.ops.size())));
  }
  AddCold(node, window, &op);
  index_by_id_.emplace(node.id, static_cast<uint32_t>(et_.ops.size()));
  et_.ops.push_back(op);
  ledger_->Keep();
  return absl::OkStatus();
}

absl::Status EtFileReader::AddComm(const EtNode& node, EtOp* op) {
  // Names are looked at once; most are none of communication.
  if (op->name >= is_comm_name_.size()) is_comm_name_.resize(op->name + 1, kNotLookedAt);
  uint8_t& is_comm_name = is_comm_name_[op->name];
  if (is_comm_name == kNotLookedAt) {
    is_comm_name = ParseCommName(node.name).kind != CommNameKind::kNone ? 1 : 0;
  }
  if (is_comm_name == 0) {
    AddLinkedGroup(node, op);
    return absl::OkStatus();
  }
  const CommName name = ParseCommName(node.name);
  CommArgs args;
  RETURN_IF_ERROR(comm_reader_.Read(name, node.arguments, &args));
  if (name.kind == CommNameKind::kParamComms) {
    bool stated = false;
    for (const EtNode::Extra& extra : node.extras) {
      stated |= EtCommReader::ReadAttribute(extra.key, extra.value.text, &args);
    }
    if (stated) RETURN_IF_ERROR(EtCommReader::BytesFromElements(&args));
    const int64_t rank = comm_reader_.rank_argument();
    if (args.group_description == "default_pg" && EtCommReader::RankArgumentIsOwn(args.op) &&
        et_.rank == kNoRank && rank >= 0 && rank <= INT32_MAX) {
      et_.rank = static_cast<int32_t>(rank);
    }
  }
  if (name.kind == CommNameKind::kGroupTable) {
    groups_.Add(comm_reader_.group_table());
  }
  if (args.op.empty()) return absl::OkStatus();  // record_param_comms without a name.
  op->comm = static_cast<uint32_t>(et_.comm_args.size());
  et_.comm_args.push_back(std::move(args));
  return absl::OkStatus();
}

// The linker tells the process group of some communication kernels.
void EtFileReader::AddLinkedGroup(const EtNode& node, EtOp* op) {
  if (!node.is_linked || node.linked.pg_name.text.empty()) return;
  CommArgs args;
  args.group_name = std::string(node.linked.pg_name.text);
  op->comm = static_cast<uint32_t>(et_.comm_args.size());
  et_.comm_args.push_back(std::move(args));
}

void EtFileReader::AddCold(const EtNode& node, const JsonWindow& window, EtOp* op) {
  // Non-finite numbers stand patched in the window's text.
  std::string patched[6];
  size_t next = 0;
  const auto recorded = [&](absl::string_view text) -> absl::string_view {
    return window.patches.empty() ? text : patched[next++] = window.AsRecorded(text);
  };
  const EtArguments& arguments = node.arguments;
  op->cold_begin = et_.cold.size();
  ColdWriter cold(&et_.cold);
  cold.Inputs(recorded(arguments.inputs), recorded(arguments.input_shapes),
              recorded(arguments.input_types));
  cold.Outputs(recorded(arguments.outputs), recorded(node.output_shapes),
               recorded(node.output_types));
  WriteInt(attr::kRfId, node.rf_id, &cold);
  WriteInt(attr::kFwParent, node.fw_parent, &cold);
  cold.Int(attr::kSeqId, node.seq_id);
  WriteInt(attr::kScope, node.scope, &cold);
  WriteInt(attr::kTid, node.tid, &cold);
  WriteInt(attr::kFwTid, node.fw_tid, &cold);
  cold.Text(attr::kOpSchema, node.op_schema);
  if (!node.input_strides.empty()) cold.Text(attr::kInputStrides, node.input_strides);
  if (!node.output_strides.empty()) cold.Text(attr::kOutputStrides, node.output_strides);
  for (const EtNode::Extra& extra : node.extras) WriteExtra(extra, window, &cold);
  op->cold_end = et_.cold.size();
}

// An observer that is stopped while an operation runs never writes that one,
// though it wrote what ran inside: on to the root of the thread.
class StandInParents {
 public:
  explicit StandInParents(const PyTorchEt& et) {
    for (const EtOp& op : et.ops) {
      if (op.parent == op.id) {
        if (!process_.has_value()) process_ = op.id;
      } else if (absl::StartsWith(et.strings.Get(op.name), "[pytorch|profiler|")) {
        root_of_tid_.emplace(op.tid, op.id);
      }
    }
  }
  uint64_t Of(const EtOp& op) const {
    const auto root = root_of_tid_.find(op.tid);
    if (root != root_of_tid_.end() && root->second != op.id) return root->second;
    return process_.value_or(op.id);
  }

 private:
  std::optional<uint64_t> process_;
  absl::flat_hash_map<uint64_t, uint64_t> root_of_tid_;
};

absl::Status EtFileReader::CheckParents() {
  int64_t missing = 0;
  std::string listed;
  std::optional<StandInParents> stand_ins;
  for (EtOp& op : et_.ops) {
    if (index_by_id_.contains(op.parent)) continue;
    const std::string what = absl::StrCat(
        "node ", op.id, " (", et_.strings.Get(op.name).substr(0, 100), ") at byte offset ",
        op.byte_offset, ": parent ", op.parent, " is not in the file");
    if (options_.lenient) {
      if (!stand_ins.has_value()) stand_ins.emplace(et_);
      op.parent = stand_ins->Of(op);
      ledger_->AddFlaw("missing_parent", -1, op.byte_offset,
                       absl::StrCat(what, "; it goes under node ", op.parent));
    } else if (missing++ < kListedMissing) {
      absl::StrAppend(&listed, missing == 1 ? "" : "; ", what);
    }
  }
  if (missing == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      listed, missing > kListedMissing ? absl::StrCat("; ", missing, " such nodes in all") : "",
      ". The observer was stopped while an operation ran? --lenient puts these nodes under the "
      "root of their thread"));
}

absl::Status EtFileReader::CheckLinkedDeps() {
  for (const EtLinkedDep& dep : et_.linked_deps) {
    if (index_by_id_.contains(dep.dependency)) continue;
    const EtOp& op = et_.ops[dep.op];
    const std::string what = absl::StrCat(
        "node ", op.id, " (", et_.strings.Get(op.name).substr(0, 100), ") at byte offset ",
        op.byte_offset, ": ", dep.inter_thread ? "inter_thread_dep" : "sync_dep", ": node ",
        dep.dependency, " is not in the file");
    if (!options_.lenient) return absl::InvalidArgumentError(what);
    ledger_->AddFlaw("missing_dependency", -1, op.byte_offset, absl::StrCat(what, "; dropped"));
  }
  std::erase_if(et_.linked_deps,
                [this](const EtLinkedDep& dep) { return !index_by_id_.contains(dep.dependency); });
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PyTorchEt> ReadPyTorchEt(ByteSource* source, const ReadOptions& options,
                                        Ledger* ledger) {
  return EtFileReader(source, options, ledger).Read();
}

}  // namespace chakrad
