#include "trace/readers/astra_text/workload_file.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status.h"
#include "common/utf8.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/json/decimal.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

constexpr std::pair<absl::string_view, WorkloadParallelism> kParallelisms[] = {
    {"MICRO", WorkloadParallelism::kMicro},
    {"DATA", WorkloadParallelism::kData},
    {"MODEL", WorkloadParallelism::kModel},
    {"DISTRIBUTED_INFERENCE", WorkloadParallelism::kDistributedInference},
    {"HYBRID_DATA_MODEL", WorkloadParallelism::kHybridDataModel},
    {"HYBRID_MODEL_DATA", WorkloadParallelism::kHybridModelData},
    {"HYBRID_DLRM", WorkloadParallelism::kHybridDlrm},
    {"HYBRID_DLRM_ENHANCED", WorkloadParallelism::kHybridDlrmEnhanced},
    {"HYBRID_TRANSFORMER", WorkloadParallelism::kHybridTransformer},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", WorkloadParallelism::kHybridTransformerFwdInBckwd},
    {"HYBRID_CUSTOMIZED", WorkloadParallelism::kHybridCustomized},
};
constexpr std::pair<absl::string_view, CollectiveType> kCollectives[] = {
    {"ALLREDUCE", CollectiveType::kAllReduce},
    {"ALLGATHER", CollectiveType::kAllGather},
    {"REDUCESCATTER", CollectiveType::kReduceScatter},
    {"ALLTOALL", CollectiveType::kAllToAll},
};
constexpr size_t kColumns = 12;

using Words = std::vector<absl::string_view>;

std::string Quote(absl::string_view text) { return absl::StrCat("\"", ValidUtf8(text, 80), "\""); }

absl::Status ReadInt(absl::string_view what, absl::string_view text, int64_t max, int64_t* value) {
  __int128 number;
  bool exact;
  if (!ParseDecimal(text, 0, &number, &exact) || !exact || number < 0 || number > max) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": ", Quote(text), " is no whole number in [0, ", max, "]"));
  }
  *value = static_cast<int64_t>(number);
  return absl::OkStatus();
}

class WorkloadReader {
 public:
  WorkloadReader(std::string text, const ReadOptions& options, Ledger* ledger)
      : text_(std::move(text)), rest_(text_), options_(options), ledger_(ledger) {}
  absl::StatusOr<WorkloadFile> Read();

 private:
  bool NextLine(Words* words);
  absl::Status AtLine(const absl::Status& status) const;
  absl::Status ReadHeader(const Words& words);
  absl::Status ReadTransformerHeader(const Words& words);
  absl::Status ReadLayerSet(const Words& words, size_t* next, std::set<int64_t>* layers) const;
  absl::Status ReadLayer(const Words& words);
  absl::Status ReadPhase(const char* name, const Words& words, size_t first, LayerPhase* phase);
  absl::Status ReadOwnParallelism(absl::string_view word, Layer* layer) const;
  absl::Status FlawOrError(absl::string_view rule, absl::string_view what);
  absl::Status CheckLayerNumbers() const;

  std::string text_;
  absl::string_view rest_;
  const ReadOptions& options_;
  Ledger* ledger_;
  int64_t line_ = 0;
  int64_t line_offset_ = 0;
  int64_t records_count_ = 0;
  WorkloadFile file_;
};

// The words of the next line that has any.
bool WorkloadReader::NextLine(Words* words) {
  while (!rest_.empty()) {
    line_offset_ = static_cast<int64_t>(text_.size() - rest_.size());
    ++line_;
    const size_t end = rest_.find('\n');
    const absl::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == absl::string_view::npos ? rest_.size() : end + 1);
    *words = absl::StrSplit(line, absl::ByAnyChar(" \t\r\v\f"), absl::SkipEmpty());
    if (words->empty()) continue;
    ++records_count_;
    return true;
  }
  return false;
}

absl::Status WorkloadReader::AtLine(const absl::Status& status) const {
  return Annotate(status, absl::StrCat("byte offset ", line_offset_, ", line ", line_));
}

absl::Status WorkloadReader::FlawOrError(absl::string_view rule, absl::string_view what) {
  if (!options_.lenient) return absl::InvalidArgumentError(what);
  ledger_->AddFlaw(rule, records_count_ - 1, line_offset_, what);
  return absl::OkStatus();
}

// "COUNT LAYER..." from word *next on.
absl::Status WorkloadReader::ReadLayerSet(const Words& words, size_t* next,
                                          std::set<int64_t>* layers) const {
  const std::string what(words[*next - 1]);
  int64_t count = 0;
  if (*next < words.size()) RETURN_IF_ERROR(ReadInt(what, words[*next], INT32_MAX, &count));
  if (*next >= words.size() || words.size() - *next - 1 < static_cast<uint64_t>(count)) {
    return absl::InvalidArgumentError(absl::StrCat(what, " cut off: a count and as many layers"));
  }
  ++*next;
  for (; count > 0; --count) {
    int64_t layer;
    RETURN_IF_ERROR(ReadInt(what, words[(*next)++], INT32_MAX, &layer));
    layers->insert(layer);
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadTransformerHeader(const Words& words) {
  for (size_t next = 1; next < words.size();) {
    const absl::string_view key = words[next++];
    if (key == "checkpoints:") {
      RETURN_IF_ERROR(ReadLayerSet(words, &next, &file_.checkpoints));
      continue;
    }
    if (key == "checkpoint_initiates:") {
      RETURN_IF_ERROR(ReadLayerSet(words, &next, &file_.checkpoint_initiates));
      continue;
    }
    if (next >= words.size()) {
      return absl::InvalidArgumentError(absl::StrCat(Quote(key), ": no number follows"));
    }
    int64_t value = 0;
    RETURN_IF_ERROR(ReadInt(key, words[next++], INT32_MAX, &value));
    if (key == "model_parallel_NPU_group:" && value > 0) {
      file_.model_group_npus = static_cast<int32_t>(value);
    } else if (key == "all_gpus:") {
      file_.npus_count = static_cast<int32_t>(value);
    } else if ((key == "ep:" || key == "pp:" || key == "ga:") && value != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(key, " ", value,
                       ": SimAI's expert and pipeline parallelism is not read, "
                       "only 1"));
    } else if (key != "ep:" && key != "pp:" && key != "ga:" && key != "vpp:" && key != "pp_comm:" &&
               key != "pp_comm") {
      return absl::InvalidArgumentError(absl::StrCat(Quote(key), " ", value,
                                                     ": not understood behind ",
                                                     WorkloadParallelismName(file_.parallelism)));
    }
  }
  if (file_.model_group_npus > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(WorkloadParallelismName(file_.parallelism),
                   ": the size of a model-parallel group is missing; write "
                   "\"model_parallel_NPU_group: N\" behind it"));
}

absl::Status WorkloadReader::ReadHeader(const Words& words) {
  const std::optional<WorkloadParallelism> found = FindParallelism(words[0]);
  if (!found.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("not an ASTRA-sim text workload: it starts with ", Quote(words[0]),
                     ", not with a parallelism such as DATA, MODEL, MICRO or HYBRID_TRANSFORMER"));
  }
  file_.parallelism = *found;
  switch (*found) {
    case WorkloadParallelism::kHybridTransformer:
    case WorkloadParallelism::kHybridTransformerFwdInBckwd:
      return ReadTransformerHeader(words);
    case WorkloadParallelism::kHybridDlrm:
    case WorkloadParallelism::kHybridDlrmEnhanced:
      if (words.size() == 2) {
        return ReadInt("last bottom layer", words[1], INT32_MAX, &file_.last_bottom_layer);
      }
      return absl::InvalidArgumentError(absl::StrCat(
          words[0], ": the number of the last bottom layer is missing, or there is more"));
    default:
      if (words.size() == 1) return absl::OkStatus();
      return FlawOrError("astra_text_extra_column",
                         absl::StrCat(Quote(words[1]), " behind ", words[0], " has no meaning"));
  }
}

absl::Status WorkloadReader::ReadPhase(const char* name, const Words& words, size_t first,
                                       LayerPhase* phase) {
  RETURN_IF_ERROR(
      ReadInt(absl::StrCat(name, " time"), words[first], kMaxRecordingNs, &phase->compute));
  RETURN_IF_ERROR(ReadInt(absl::StrCat(name, " size"), words[first + 2], INT64_MAX, &phase->bytes));
  const absl::string_view word = words[first + 1];
  if (word == "NONE") return absl::OkStatus();
  for (const auto& [known, collective] : kCollectives) {
    if (word == known) phase->collective = collective;
  }
  if (phase->collective.has_value()) return absl::OkStatus();
  return FlawOrError("astra_text_unknown_collective",
                     absl::StrCat(name, " communication: ", Quote(word),
                                  " is not NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL"));
}

absl::Status WorkloadReader::ReadOwnParallelism(absl::string_view word, Layer* layer) const {
  const std::optional<WorkloadParallelism> found = FindParallelism(word);
  if (!found.has_value() || *found == WorkloadParallelism::kHybridTransformer ||
      *found == WorkloadParallelism::kHybridTransformerFwdInBckwd ||
      *found == WorkloadParallelism::kHybridCustomized) {
    return absl::InvalidArgumentError(
        absl::StrCat("parallelism: ", Quote(word),
                     " is not DATA, MODEL, HYBRID_DATA_MODEL or HYBRID_MODEL_DATA"));
  }
  layer->parallelism = *found;
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadLayer(const Words& words) {
  const bool own = file_.parallelism == WorkloadParallelism::kHybridCustomized;
  const size_t columns = kColumns + (own ? 1 : 0);
  Layer layer;
  layer.name = ValidUtf8(words[0]);
  if (layer.name != words[0]) {
    ledger_->AddFlaw("text_not_utf8", records_count_ - 1, line_offset_,
                     absl::StrCat("bytes of a layer's name became '?': ", layer.name));
  }
  if (words.size() < columns) {
    return absl::InvalidArgumentError(
        absl::StrCat("layer ", Quote(layer.name), ": ", words.size(), " columns, not ", columns));
  }
  if (words.size() > columns) {
    RETURN_IF_ERROR(FlawOrError("astra_text_extra_column",
                                absl::StrCat(words.size() - columns, " columns more than ", columns,
                                             ", from ", Quote(words[columns]), " on")));
  }
  RETURN_IF_ERROR(ReadPhase("forward", words, 2, &layer.forward));
  RETURN_IF_ERROR(ReadPhase("input gradient", words, 5, &layer.input_gradient));
  RETURN_IF_ERROR(ReadPhase("weight gradient", words, 8, &layer.weight_gradient));
  RETURN_IF_ERROR(ReadInt("update time", words[11], kMaxRecordingNs, &layer.update));
  layer.parallelism = file_.parallelism;
  if (own) RETURN_IF_ERROR(ReadOwnParallelism(words[kColumns], &layer));
  layer.record = records_count_ - 1;
  layer.byte_offset = line_offset_;
  file_.layers.push_back(std::move(layer));
  ledger_->Keep();
  return absl::OkStatus();
}

// Layer numbers in the first line.
absl::Status WorkloadReader::CheckLayerNumbers() const {
  const auto count = static_cast<int64_t>(file_.layers.size());
  const auto check = [count](absl::string_view what, int64_t layer) {
    if (layer < count) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("line 1: ", what, ": ", layer, " is not in [0, ", count, ")"));
  };
  RETURN_IF_ERROR(check("last bottom layer", file_.last_bottom_layer));
  for (const int64_t layer : file_.checkpoints) RETURN_IF_ERROR(check("checkpoints", layer));
  for (const int64_t layer : file_.checkpoint_initiates) {
    RETURN_IF_ERROR(check("checkpoint_initiates", layer));
    if (file_.checkpoints.empty() || *file_.checkpoints.begin() > layer) {
      return absl::InvalidArgumentError(
          absl::StrCat("line 1: checkpoint_initiates: no checkpoint is at or below layer ", layer));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<WorkloadFile> WorkloadReader::Read() {
  Words words;
  if (!NextLine(&words)) return absl::InvalidArgumentError("the file is empty");
  RETURN_IF_ERROR(AtLine(ReadHeader(words)));
  ledger_->Merge("header");
  if (!NextLine(&words)) {
    return absl::InvalidArgumentError("cut off: the number of layers is missing in line 2");
  }
  int64_t count = 0;
  RETURN_IF_ERROR(AtLine(ReadInt("number of layers", words[0], INT32_MAX, &count)));
  if (words.size() > 1) {
    RETURN_IF_ERROR(AtLine(
        FlawOrError("astra_text_extra_column",
                    absl::StrCat(Quote(words[1]), " behind the number of layers has no meaning"))));
  }
  ledger_->Merge("header");
  if (count == 0) return AtLine(absl::InvalidArgumentError("number of layers: 0: no work"));
  while (NextLine(&words)) {
    if (static_cast<int64_t>(file_.layers.size()) < count) {
      RETURN_IF_ERROR(AtLine(ReadLayer(words)));
      continue;
    }
    const std::string what =
        absl::StrCat("layer ", Quote(words[0]), ": line 2 states only ", count, " layers");
    if (!options_.lenient) return AtLine(absl::InvalidArgumentError(what));
    ledger_->Reject("astra_text_extra_layer", records_count_ - 1, line_offset_, what);
  }
  if (static_cast<int64_t>(file_.layers.size()) < count) {
    return absl::InvalidArgumentError(absl::StrCat("cut off: line 2 states ", count, " layers, ",
                                                   file_.layers.size(), " are there"));
  }
  RETURN_IF_ERROR(CheckLayerNumbers());
  return std::move(file_);
}

}  // namespace

absl::string_view WorkloadParallelismName(WorkloadParallelism parallelism) {
  for (const auto& [name, value] : kParallelisms) {
    if (value == parallelism) return name;
  }
  return "";
}

std::optional<WorkloadParallelism> FindParallelism(absl::string_view name) {
  for (const auto& [known, value] : kParallelisms) {
    if (known == name) return value;
  }
  return std::nullopt;
}

absl::StatusOr<WorkloadFile> ReadWorkloadFile(ByteSource* source, const ReadOptions& options,
                                              Ledger* ledger) {
  std::string text, piece(kReadBytes, '\0');
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, source->Read(piece.data(), piece.size()));
    if (count == 0) break;
    text.append(piece, 0, count);
    if (static_cast<int64_t>(text.size()) > kMaxTextWorkloadBytes) {
      return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxTextWorkloadBytes,
                                                     " bytes: too large for a text workload"));
    }
  }
  return WorkloadReader(std::move(text), options, ledger).Read();
}

}  // namespace chakrad
