#include "trace/readers/pytorch_et/et_comm.h"

#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status.h"

namespace chakrad {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

// Lists of tensors are nested at most twice (tensors of each peer).
constexpr int kMaxTensorNesting = 4;

struct Tensors {
  int64_t count = 0;
  int64_t elements = 0;
  int64_t bytes = 0;
  int first_nesting = -1;  // Lists around the first tensor; -1: there is none.
};

// A tensor is [tensor_id, storage_id, offset, elements, element_bytes, device].
bool IsTensor(const array& values) {
  if (values.size() < 6) return false;
  size_t i = 0;
  for (element value : values) {
    if (i < 5 ? !value.is_int64() && !value.is_uint64() : !value.is_string()) return false;
    if (++i == 6) break;
  }
  return true;
}

absl::Status AddTensor(const array& tensor, int nesting, Tensors* sum) {
  int64_t elements, element_bytes, bytes;
  if (tensor.at(3).get(elements) != simdjson::SUCCESS || elements < 0) {
    return absl::InvalidArgumentError("inputs: a tensor's number of elements is not in [0, 2^63)");
  }
  if (tensor.at(4).get(element_bytes) != simdjson::SUCCESS || element_bytes < 0) {
    return absl::InvalidArgumentError("inputs: a tensor's element size is not in [0, 2^63)");
  }
  if (__builtin_mul_overflow(elements, element_bytes, &bytes) ||
      __builtin_add_overflow(sum->bytes, bytes, &sum->bytes) ||
      __builtin_add_overflow(sum->elements, elements, &sum->elements)) {
    return absl::InvalidArgumentError("inputs: the tensors' bytes do not fit 63 bits");
  }
  if (sum->count++ == 0) sum->first_nesting = nesting;
  return absl::OkStatus();
}

absl::Status AddTensors(const element& value, int nesting, Tensors* sum) {
  array values;
  if (value.get(values) != simdjson::SUCCESS) return absl::OkStatus();
  if (IsTensor(values)) return AddTensor(values, nesting, sum);
  if (nesting == kMaxTensorNesting) return absl::OkStatus();
  for (element inner : values) {
    if (inner.is_array()) RETURN_IF_ERROR(AddTensors(inner, nesting + 1, sum));
  }
  return absl::OkStatus();
}

// `Value` is an element, or the result of looking for one.
template <typename Value>
int64_t IntOr(const Value& value, int64_t otherwise) {
  int64_t number;
  return value.get(number) == simdjson::SUCCESS ? number : otherwise;
}

template <typename Value>
std::string TextOf(const Value& value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  int64_t number;
  return value.get(number) == simdjson::SUCCESS ? absl::StrCat(number) : "";
}

void IntsOf(const simdjson::simdjson_result<element>& value, std::vector<int64_t>* ints) {
  array values;
  if (value.get(values) != simdjson::SUCCESS) return;
  for (element one : values) {
    int64_t number;
    if (one.get(number) != simdjson::SUCCESS) {
      ints->clear();
      return;
    }
    ints->push_back(number);
  }
}

// The data type inside "GenericList[Tensor(long int),Tensor(long int)]".
std::string DtypeOf(absl::string_view type) {
  const size_t begin = type.find("Tensor(");
  if (begin == absl::string_view::npos) return "";
  type.remove_prefix(begin + 7);
  return std::string(type.substr(0, type.find(')')));
}

}  // namespace

struct EtCommReader::Parsers {
  simdjson::dom::parser inputs, shapes, types, outputs;
  array input_values, shape_values, type_values, output_values;

  static array Parse(simdjson::dom::parser* parser, absl::string_view json) {
    array values;
    if (json.empty() || parser->parse(json.data(), json.size()).get(values) != simdjson::SUCCESS) {
      if (parser->parse("[]", 2).get(values) != simdjson::SUCCESS) return array();
    }
    return values;
  }

  // Tensors of input `index`: bytes, and type and shape of the first one.
  absl::Status ReadInput(int index, CommArgs* args) {
    Tensors tensors;
    element value;
    if (index < 0 || input_values.at(index).get(value) != simdjson::SUCCESS) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(AddTensors(value, 0, &tensors));
    if (tensors.count == 0) return absl::OkStatus();
    args->in_bytes = tensors.bytes;
    args->in_elements = tensors.elements;
    ReadTypeAndDims(index, tensors.first_nesting, args);
    return absl::OkStatus();
  }

  void ReadTypeAndDims(int index, int nesting, CommArgs* args) {
    if (args->dtype.empty()) args->dtype = DtypeOf(TextOf(type_values.at(index)));
    element shape;
    if (shape_values.at(index).get(shape) != simdjson::SUCCESS) return;
    for (; nesting > 0; --nesting) {
      array inner;
      if (shape.get(inner) != simdjson::SUCCESS || inner.at(0).get(shape) != simdjson::SUCCESS) {
        return;
      }
    }
    array dims;
    if (shape.get(dims) == simdjson::SUCCESS) args->input_dims = static_cast<int32_t>(dims.size());
  }

  static absl::Status ReadOutput(const simdjson::simdjson_result<element>& value, CommArgs* args) {
    Tensors tensors;
    element output;
    if (value.get(output) != simdjson::SUCCESS) return absl::OkStatus();
    RETURN_IF_ERROR(AddTensors(output, 0, &tensors));
    if (tensors.count == 0) return absl::OkStatus();
    args->out_bytes = tensors.bytes;
    args->out_elements = tensors.elements;
    return absl::OkStatus();
  }
};

EtCommReader::EtCommReader() : parsers_(std::make_unique<Parsers>()) {}
EtCommReader::~EtCommReader() = default;

// [tensors, sequence, group, rank, name, in_splits, out_splits, start, stride,
// size]; the tensors may be missing, old versions end sooner. The name is the
// last argument that is text; group is an address, a name or [name, description].
absl::Status EtCommReader::ReadParamComms(CommArgs* args) {
  const array& inputs = parsers_->input_values;
  int name_at = -1, i = 0;
  for (element value : inputs) {
    if (value.is_string()) name_at = i;
    ++i;
  }
  if (name_at < 0) return absl::OkStatus();
  args->op = CommOpName(TextOf(inputs.at(name_at)));
  if (name_at >= 1) rank_argument_ = IntOr(inputs.at(name_at - 1), kNotStated);
  if (IsRootedOp(args->op)) args->root = rank_argument_;
  if (IsSendOp(args->op) || IsReceiveOp(args->op)) args->peer = rank_argument_;
  if (name_at >= 2) {
    const auto group = inputs.at(name_at - 2);
    array name_and_description;
    uint64_t address;
    if (group.get(name_and_description) == simdjson::SUCCESS) {
      args->group_name = TextOf(name_and_description.at(0));
      args->group_description = TextOf(name_and_description.at(1));
    } else if (group.get(address) == simdjson::SUCCESS) {
      args->group_address = address;
    } else {
      args->group_name = TextOf(group);
    }
  }
  if (name_at >= 3) {
    element sequence;
    array pair;  // [sequence, whether it is point to point], in newer versions.
    if (inputs.at(name_at - 3).get(sequence) == simdjson::SUCCESS) {
      args->sequence = sequence.get(pair) == simdjson::SUCCESS ? IntOr(pair.at(0), kNotStated)
                                                               : IntOr(sequence, kNotStated);
    }
  }
  IntsOf(inputs.at(name_at + 1), &args->in_splits);
  IntsOf(inputs.at(name_at + 2), &args->out_splits);
  args->global_rank_start = IntOr(inputs.at(name_at + 3), kNotStated);
  args->global_rank_stride = IntOr(inputs.at(name_at + 4), kNotStated);
  args->group_size = IntOr(inputs.at(name_at + 5), kNotStated);
  RETURN_IF_ERROR(parsers_->ReadInput(name_at - 4, args));
  return Parsers::ReadOutput(parsers_->output_values.at(0), args);
}

absl::Status EtCommReader::ReadC10d(absl::string_view op, CommArgs* args) {
  const array& inputs = parsers_->input_values;
  const C10dLayout* layout = FindC10dLayout(op);
  if (layout == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(parsers_->ReadInput(layout->in, args));
  if (layout->out >= 0) {
    RETURN_IF_ERROR(Parsers::ReadOutput(inputs.at(layout->out), args));
    if (layout->in < 0) parsers_->ReadTypeAndDims(layout->out, 1, args);
  }
  if (layout->root >= 0) args->root = IntOr(inputs.at(layout->root), kNotStated);
  if (layout->peer >= 0) args->peer = IntOr(inputs.at(layout->peer), kNotStated);
  if (layout->tag >= 0) args->tag = IntOr(inputs.at(layout->tag), kNotStated);
  if (layout->in_splits >= 0) IntsOf(inputs.at(layout->in_splits), &args->in_splits);
  if (layout->out_splits >= 0) IntsOf(inputs.at(layout->out_splits), &args->out_splits);
  return absl::OkStatus();
}

// gloo:*, nccl:* and functional collectives: the inputs are tensors, and of the
// functional ones the last text names the group.
absl::Status EtCommReader::ReadTensorsOnly(CommArgs* args) {
  Tensors tensors;
  int i = 0, first = -1;
  for (element value : parsers_->input_values) {
    RETURN_IF_ERROR(AddTensors(value, 0, &tensors));
    if (tensors.count > 0 && first < 0) first = i;
    ++i;
  }
  if (tensors.count == 0) return absl::OkStatus();
  args->in_bytes = tensors.bytes;
  args->in_elements = tensors.elements;
  parsers_->ReadTypeAndDims(first, tensors.first_nesting, args);
  return absl::OkStatus();
}

absl::Status EtCommReader::Read(const CommName& name, const EtArguments& arguments,
                                CommArgs* args) {
  rank_argument_ = kNotStated;
  group_table_.clear();
  Parsers& parsers = *parsers_;
  parsers.input_values = Parsers::Parse(&parsers.inputs, arguments.inputs);
  parsers.shape_values = Parsers::Parse(&parsers.shapes, arguments.input_shapes);
  parsers.type_values = Parsers::Parse(&parsers.types, arguments.input_types);
  parsers.output_values = Parsers::Parse(&parsers.outputs, arguments.outputs);
  args->op = CommOpName(name.op);
  args->peer = name.peer >= 0 ? name.peer : kNotStated;
  switch (name.kind) {
    case CommNameKind::kParamComms:
      return ReadParamComms(args);
    case CommNameKind::kC10d:
      return ReadC10d(args->op, args);
    case CommNameKind::kGroupTable:
      args->op = "init";
      group_table_ = TextOf(parsers.input_values.at(0));
      return absl::OkStatus();
    case CommNameKind::kFunctional: {
      for (element value : parsers.input_values) {
        if (value.is_string()) args->group_name = TextOf(value);
      }
      RETURN_IF_ERROR(ReadTensorsOnly(args));
      return Parsers::ReadOutput(parsers.output_values.at(0), args);
    }
    default:
      return ReadTensorsOnly(args);
  }
}

bool EtCommReader::ReadAttribute(absl::string_view key, absl::string_view value, CommArgs* args) {
  auto to_int = [value](int64_t* field) {
    int64_t number;
    if (absl::SimpleAtoi(value, &number)) *field = number;
    return true;
  };
  auto to_list = [value, args](std::vector<int64_t>* field) {
    args->splits_cut |= !ParseIntList(value, field);
    return true;
  };
  auto to_text = [value](std::string* field) {
    *field = std::string(value);
    return true;
  };
  if (key == "collective_name") {
    args->op = CommOpName(value);
    return true;
  }
  if (key == "dtype") return to_text(&args->dtype);
  if (key == "in_msg_nelems") return to_int(&args->in_elements);
  if (key == "out_msg_nelems") return to_int(&args->out_elements);
  if (key == "in_split_size") return to_list(&args->in_splits);
  if (key == "out_split_size") return to_list(&args->out_splits);
  if (key == "global_rank_start") return to_int(&args->global_rank_start);
  if (key == "global_rank_stride") return to_int(&args->global_rank_stride);
  if (key == "pg_name") return to_text(&args->group_name);
  if (key == "pg_desc") return to_text(&args->group_description);
  if (key == "pg_size") return to_int(&args->group_size);
  return false;
}

absl::Status EtCommReader::BytesFromElements(CommArgs* args) {
  const int64_t element_bytes = DtypeBytes(args->dtype);
  if (element_bytes < 0) return absl::OkStatus();
  for (auto [elements, bytes] : {std::pair{args->in_elements, &args->in_bytes},
                                 std::pair{args->out_elements, &args->out_bytes}}) {
    if (elements < 0) continue;
    if (__builtin_mul_overflow(elements, element_bytes, bytes)) {
      return absl::InvalidArgumentError(absl::StrCat("msg_nelems: ", elements, " elements of ",
                                                     element_bytes, " bytes do not fit 63 bits"));
    }
  }
  return absl::OkStatus();
}

bool EtCommReader::RankArgumentIsOwn(absl::string_view op) {
  return !IsRootedOp(op) && !IsSendOp(op) && !IsReceiveOp(op) && op != "recv_any_source";
}

}  // namespace chakrad
