#include "trace/readers/chakra_json/chakra_json.h"

#include <simdjson.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "chakra/et_def.pb.h"
#include "common/status.h"
#include "trace/readers/chakra_et/chakra_messages.h"
#include "trace/readers/chakra_json/json_front.h"
#include "trace/readers/chakra_json/json_keys.h"
#include "trace/readers/chakra_json/message_from_json.h"
#include "trace/readers/chakra_json/workload_graph.h"
#include "trace/readers/json/json_buffer.h"
#include "trace/readers/json/json_check.h"
#include "trace/readers/json/json_reader.h"
#include "trace/readers/limits.h"
#include "trace/readers/replayed_source.h"

namespace chakrad {
namespace {

using ChakraProtoMsg::GlobalMetadata;
using ChakraProtoMsg::Node;

// Bytes that tell which of the layouts a text has.
constexpr size_t kFrontBytes = 64 << 10;

absl::Status BareNumber(int64_t offset) {
  return absl::InvalidArgumentError(absl::StrCat(
      "byte offset ", offset, ": NaN or Infinity without quotes: protobuf's JSON has strings"));
}

// What both kinds of text do with one object.
class ObjectReader {
 public:
  ObjectReader(const ReadOptions& options, Ledger* ledger) : options_(options), ledger_(ledger) {}

  absl::Status ReadMetadata(simdjson::dom::object object, int64_t offset,
                            GlobalMetadata* metadata) {
    metadata->Clear();
    const absl::Status status = MessageFromJson(object, metadata, unknown_keys());
    if (!status.ok()) {
      return Annotate(status, absl::StrCat("byte offset ", offset, ": GlobalMetadata"));
    }
    NoteUnknownKeys(-1, offset);
    return absl::OkStatus();
  }

  absl::Status ReadNode(simdjson::dom::element value, bool workload_graph, int64_t offset,
                        Node* node) {
    node->Clear();
    const absl::Status status = FillNode(value, workload_graph, node);
    if (!status.ok()) {
      return Annotate(status,
                      absl::StrCat("byte offset ", offset, ", record ", records_,
                                   node->id() == 0 ? "" : absl::StrCat(", node ", node->id())));
    }
    NoteUnknownKeys(records_++, offset);
    return absl::OkStatus();
  }

 private:
  std::vector<std::string>* unknown_keys() { return options_.lenient ? &unknown_keys_ : nullptr; }

  absl::Status FillNode(simdjson::dom::element value, bool workload_graph, Node* node) {
    simdjson::dom::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError("a node must be an object");
    }
    if (workload_graph) return NodeFromWorkloadGraph(object, node, unknown_keys());
    std::string_view whole;
    if (object[kJsonMessageKey].get_string().get(whole) == simdjson::SUCCESS) {
      std::string bytes;
      if (!absl::Base64Unescape({whole.data(), whole.size()}, &bytes) ||
          !node->ParseFromString(bytes)) {
        return absl::InvalidArgumentError(
            absl::StrCat(kJsonMessageKey, ": is not a Node's bytes in base64"));
      }
      return absl::OkStatus();
    }
    if (object.begin() == object.end()) {
      return absl::InvalidArgumentError("an empty object is no node");
    }
    return MessageFromJson(object, node, unknown_keys());
  }

  void NoteUnknownKeys(int64_t record, int64_t offset) {
    for (const std::string& key : unknown_keys_) {
      ledger_->AddFlaw("unknown_json_key", record, offset,
                       absl::StrCat(key, ": is no field of the message; left out"));
    }
    unknown_keys_.clear();
  }

  const ReadOptions options_;
  Ledger* ledger_;
  int64_t records_ = 0;
  std::vector<std::string> unknown_keys_;
};

// One JSON document: our own, or the feeder's.
class DocumentSource final : public ChakraMessageSource {
 public:
  DocumentSource(ByteSource* source, const ReadOptions& options, Ledger* ledger)
      : reader_(source), objects_(options, ledger), ledger_(ledger) {}

  absl::StatusOr<Kind> Next(GlobalMetadata* metadata, Node* node) override {
    if (!opened_) RETURN_IF_ERROR(Open());
    while (true) {
      if (in_list_) {
        ASSIGN_OR_RETURN(const bool more, NextNode(node));
        if (more) return Kind::kNode;
        in_list_ = false;
      }
      std::string key;
      ASSIGN_OR_RETURN(const bool more, reader_.NextKey(&key));
      if (!more) return End();
      const int64_t offset = reader_.value_offset();
      if (key == kJsonMetadataKey) {
        offset_ = offset;
        RETURN_IF_ERROR(ReadMetadata(metadata));
        return Kind::kMetadata;
      }
      if (key == kJsonNodesKey || key == kWorkloadGraphKey) {
        if (std::exchange(lists_started_, true)) return Again(key, offset);
        workload_graph_ = key == kWorkloadGraphKey;
        RETURN_IF_ERROR(reader_.BeginArray());
        in_list_ = true;
        continue;
      }
      ledger_->notices.push_back(absl::StrCat("key that is not kept: ", key.substr(0, 80)));
      RETURN_IF_ERROR(reader_.SkipValue());
    }
  }
  int64_t offset() const override { return offset_; }

 private:
  absl::Status Open() {
    opened_ = true;
    ASSIGN_OR_RETURN(const JsonReader::Top top, reader_.Open());
    if (top == JsonReader::Top::kObject) return absl::OkStatus();
    return absl::InvalidArgumentError("byte offset 0: a list, not a Chakra trace");
  }

  static absl::Status Again(absl::string_view key, int64_t offset) {
    return absl::InvalidArgumentError(
        absl::StrCat("byte offset ", offset, ": ", key, ": a second list of nodes"));
  }

  absl::StatusOr<Kind> End() {
    if (lists_started_) return Kind::kEnd;
    return absl::InvalidArgumentError(absl::StrCat("byte offset 0: neither ", kJsonNodesKey,
                                                   " nor ", kWorkloadGraphKey, " is there"));
  }

  absl::Status ReadMetadata(GlobalMetadata* metadata) {
    if (std::exchange(metadata_read_, true) || lists_started_) {
      return absl::InvalidArgumentError(absl::StrCat(
          "byte offset ", offset_, ": ", kJsonMetadataKey, ": must stand once, before the nodes"));
    }
    ASSIGN_OR_RETURN(const std::string text, reader_.ReadValue());
    if (reader_.non_finite_count() > 0) return BareNumber(reader_.non_finite_offset());
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parser.parse(text).get(object) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError(
          absl::StrCat("byte offset ", offset_, ": ", kJsonMetadataKey, ": must be an object"));
    }
    return objects_.ReadMetadata(object, offset_, metadata);
  }

  absl::StatusOr<bool> NextNode(Node* node) {
    if (window_ == nullptr || index_in_window_ == window_->byte_offsets.size()) {
      ASSIGN_OR_RETURN(window_, reader_.NextWindow());
      if (window_ == nullptr) return false;
      if (!window_->patches.empty()) return BareNumber(reader_.non_finite_offset());
      simdjson::dom::array nodes;
      if (parser_.parse(window_->text, window_->size, false).get(nodes) != simdjson::SUCCESS) {
        return absl::InvalidArgumentError(
            absl::StrCat("byte offset ", window_->byte_offsets[0], ": not JSON"));
      }
      next_ = nodes.begin();
      index_in_window_ = 0;
    }
    offset_ = window_->byte_offsets[index_in_window_++];
    RETURN_IF_ERROR(objects_.ReadNode(**next_, workload_graph_, offset_, node));
    ++*next_;
    return true;
  }

  JsonReader reader_;
  ObjectReader objects_;
  Ledger* ledger_;
  simdjson::dom::parser parser_;
  const JsonWindow* window_ = nullptr;
  std::optional<simdjson::dom::array::iterator> next_;  // In the window.
  size_t index_in_window_ = 0;
  int64_t offset_ = 0;
  bool opened_ = false, metadata_read_ = false, lists_started_ = false;
  bool in_list_ = false, workload_graph_ = false;
};

// Objects one behind the other.
class ConcatenatedSource final : public ChakraMessageSource {
 public:
  ConcatenatedSource(ByteSource* source, const ReadOptions& options, Ledger* ledger)
      : buffer_(source), objects_(options, ledger) {}

  absl::StatusOr<Kind> Next(GlobalMetadata* metadata, Node* node) override {
    ASSIGN_OR_RETURN(int c, buffer_.PeekAfterSpace());
    while (first_ && (c == 0xef || c == 0xbb || c == 0xbf)) {  // A byte order mark.
      buffer_.Advance();
      ASSIGN_OR_RETURN(c, buffer_.PeekAfterSpace());
    }
    if (c == -1) return Kind::kEnd;
    offset_ = buffer_.position();
    if (c != '{') return buffer_.Error(offset_, "expected a message, '{...}'");
    ASSIGN_OR_RETURN(const simdjson::dom::element value, ParseObject());
    simdjson::dom::object object;
    if (std::exchange(first_, false) && value.get_object().get(object) == simdjson::SUCCESS &&
        IsMetadata(object)) {
      RETURN_IF_ERROR(objects_.ReadMetadata(object, offset_, metadata));
      return Kind::kMetadata;
    }
    RETURN_IF_ERROR(objects_.ReadNode(value, /*workload_graph=*/false, offset_, node));
    return Kind::kNode;
  }
  int64_t offset() const override { return offset_; }

 private:
  static bool IsMetadata(simdjson::dom::object object) {
    for (const auto& [key, value] : object) {
      if (GlobalMetadata::descriptor()->FindFieldByName(std::string(key)) == nullptr) return false;
    }
    return true;
  }

  absl::StatusOr<simdjson::dom::element> ParseObject() {
    buffer_.Keep(offset_);
    RETURN_IF_ERROR(buffer_.PassValue());
    const absl::string_view text = buffer_.Bytes(offset_, buffer_.position());
    simdjson::dom::element value;
    // The buffer has kJsonPadding bytes behind its end.
    const simdjson::error_code error = parser_.parse(text.data(), text.size(), false).get(value);
    buffer_.Keep(-1);
    if (error == simdjson::SUCCESS) return value;
    std::vector<NonFinite> numbers;
    const JsonFault fault = CheckJson(text, &numbers);
    if (fault.found) {
      return buffer_.Error(offset_ + static_cast<int64_t>(fault.at), fault.reason);
    }
    if (numbers.empty()) return buffer_.Error(offset_, simdjson::error_message(error));
    return BareNumber(offset_ + static_cast<int64_t>(numbers[0].begin));
  }

  JsonBuffer buffer_;
  ObjectReader objects_;
  simdjson::dom::parser parser_;
  int64_t offset_ = 0;
  bool first_ = true;
};

}  // namespace

absl::StatusOr<RankTrace> ReadChakraJson(ByteSource* source, const ReadOptions& options,
                                         Ledger* ledger) {
  ASSIGN_OR_RETURN(std::string front, ReadFront(source, kFrontBytes));
  const bool concatenated = IsConcatenatedMessages(front);
  ReplayedSource replayed(std::move(front), source);
  if (concatenated) {
    ConcatenatedSource messages(&replayed, options, ledger);
    return ReadChakraMessages(&messages, options, ledger);
  }
  DocumentSource messages(&replayed, options, ledger);
  return ReadChakraMessages(&messages, options, ledger);
}

}  // namespace chakrad
