#include "trace/readers/json/json_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/json/json_buffer.h"
#include "trace/readers/json/json_check.h"
#include "trace/readers/json/json_tokens.h"
#include "trace/readers/limits.h"

namespace chakrad {

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

std::string JsonWindow::AsRecorded(absl::string_view part) const {
  std::string recorded(part);
  if (patches.empty() || part.data() < text || part.data() > text + size) return recorded;
  const size_t begin = part.data() - text;
  for (const Patch& patch : patches) {
    if (patch.at < begin || patch.at + patch.original.size() > begin + part.size()) continue;
    recorded.replace(patch.at - begin, patch.original.size(), patch.original);
  }
  return recorded;
}

absl::string_view JsonWindow::Unescape(absl::string_view text) const {
  unescaped.emplace_back();
  tokens->Unescape(text.data(), text.size(), &unescaped.back());
  return unescaped.back();
}

namespace {

// How much of `text` may be split into tokens: behind a closing brace, most likely no
// string is cut, else behind any byte that is a character of its own. 0: there is none.
size_t CutAt(absl::string_view text) {
  const size_t brace = text.rfind('}');
  if (brace != absl::string_view::npos && brace >= text.size() / 2) return brace + 1;
  size_t size = text.size();
  while (size > 0 && (static_cast<uint8_t>(text[size - 1]) >= 0x80 || text[size - 1] == '\\')) {
    --size;
  }
  return size;
}

}  // namespace

class JsonReader::Impl {
 public:
  explicit Impl(ByteSource* source) : buffer_(source) {}

  absl::StatusOr<Top> Open();
  absl::StatusOr<bool> NextKey(std::string* key);
  absl::StatusOr<std::string> ReadValue();
  absl::Status SkipValue();
  absl::Status BeginArray();
  absl::StatusOr<const JsonWindow*> NextWindow();

  int64_t non_finite_count_ = 0;
  int64_t non_finite_offset_ = -1;
  int64_t value_offset_ = 0;

 private:
  struct Span {
    int64_t begin;
    int64_t end;
  };
  // Makes window_ of the next elements when nothing is wrong with them; false
  // when the careful way, by the three below, must look.
  absl::StatusOr<bool> TakeCleanWindow();
  // The same for what lies in the next `want` bytes.
  enum class Taken : uint8_t { kYes, kTooShort, kFaulty };
  absl::StatusOr<Taken> TryWindow(size_t want);
  // Walks elements into spans_ until the window is full or the array ends.
  absl::Status Collect();
  // Turns spans_ into window_, or fewer of them and pending_ where one is bad.
  absl::Status Parse();
  bool ParsesAsIs();
  // Looks for the first bad element; patches non-finite numbers in the good ones.
  absl::Status ExplainOrPatch();
  void SetWindow();
  void Borrow(int64_t position, char byte);
  void SetTokens();
  void RestoreBorrowed();
  void PatchNumber(int64_t position, size_t size);
  // Checks the text [begin, end) of one value.
  absl::Status CheckValue(int64_t begin, int64_t end);
  absl::Status ExpectEnd();

  JsonBuffer buffer_;
  simdjson::dom::parser parser_;
  JsonTokens tokens_;
  bool first_key_ = true;
  bool top_is_array_ = false;
  // Of the array being walked.
  bool in_array_ = false, after_comma_ = false, array_ended_ = false;
  std::vector<Span> spans_;
  std::vector<std::pair<int64_t, char>> borrowed_;  // Overwritten by SetWindow.
  JsonWindow window_;
  int64_t records_ = 0;
  absl::Status pending_;  // Comes after the good elements of the window.
};

absl::StatusOr<JsonReader::Top> JsonReader::Impl::Open() {
  ASSIGN_OR_RETURN(int c, buffer_.Peek());
  if (c == -1) return buffer_.Error(0, "the file is empty");
  if (c == 0xef) {  // A byte order mark is tolerated.
    for (int expected : {0xef, 0xbb, 0xbf}) {
      ASSIGN_OR_RETURN(c, buffer_.Peek());
      if (c != expected) return buffer_.Error(buffer_.position(), "not JSON");
      buffer_.Advance();
    }
  }
  ASSIGN_OR_RETURN(c, buffer_.PeekAfterSpace());
  const int64_t at = buffer_.position();
  if (c == -1) return buffer_.Error(at, "the file holds only white space");
  if (c == '<') return buffer_.Error(at, "HTML or XML, not JSON");
  if (c != '{' && c != '[') return buffer_.Error(at, "not JSON: neither an object nor a list");
  buffer_.Advance();
  top_is_array_ = c == '[';
  in_array_ = top_is_array_;
  return top_is_array_ ? Top::kArray : Top::kObject;
}

absl::Status JsonReader::Impl::ExpectEnd() {
  ASSIGN_OR_RETURN(const int c, buffer_.PeekAfterSpace());
  if (c == -1) return absl::OkStatus();
  return buffer_.Error(buffer_.position(), "text after the document's end");
}

absl::StatusOr<bool> JsonReader::Impl::NextKey(std::string* key) {
  ASSIGN_OR_RETURN(int c, buffer_.PeekAfterSpace());
  if (c == '}') {
    buffer_.Advance();
    RETURN_IF_ERROR(ExpectEnd());
    return false;
  }
  if (!first_key_) {
    if (c == -1) return buffer_.Error(buffer_.position(), "cut off: the document has no end");
    if (c != ',') return buffer_.Error(buffer_.position(), "expected ',' or '}'");
    buffer_.Advance();
    ASSIGN_OR_RETURN(c, buffer_.PeekAfterSpace());
    if (c == '}' || c == ',') return buffer_.Error(buffer_.position(), "extra comma");
  }
  first_key_ = false;
  const int64_t begin = buffer_.position();
  if (c == -1) return buffer_.Error(begin, "cut off: the document has no end");
  if (c != '"') return buffer_.Error(begin, "expected a key in double quotes");
  ASSIGN_OR_RETURN(const std::string quoted, ReadValue());
  simdjson::dom::parser parser;
  std::string_view text;
  if (parser.parse(quoted).get(text) != simdjson::SUCCESS) return buffer_.Error(begin, "bad key");
  key->assign(text.data(), text.size());
  ASSIGN_OR_RETURN(c, buffer_.PeekAfterSpace());
  if (c != ':') {
    return buffer_.Error(buffer_.position(), c == -1 ? "cut off" : "expected ':' after a key");
  }
  buffer_.Advance();
  RETURN_IF_ERROR(buffer_.PeekAfterSpace().status());
  value_offset_ = buffer_.position();
  return true;
}

absl::Status JsonReader::Impl::CheckValue(int64_t begin, int64_t end) {
  std::vector<NonFinite> numbers;
  const JsonFault fault = CheckJson(buffer_.Bytes(begin, end), &numbers);
  if (fault.found) return buffer_.Error(begin + static_cast<int64_t>(fault.at), fault.reason);
  for (const NonFinite& number : numbers) {
    PatchNumber(begin + static_cast<int64_t>(number.begin), number.size);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> JsonReader::Impl::ReadValue() {
  spans_.clear();
  const int64_t begin = buffer_.position();
  buffer_.Keep(begin);
  RETURN_IF_ERROR(buffer_.PassValue());
  // The careful check, since such values are small and few.
  RETURN_IF_ERROR(CheckValue(begin, buffer_.position()));
  std::string text(buffer_.Bytes(begin, buffer_.position()));
  buffer_.Keep(-1);
  return text;
}

absl::Status JsonReader::Impl::SkipValue() {
  ASSIGN_OR_RETURN(const int c, buffer_.Peek());
  if (c != '[') return ReadValue().status();
  RETURN_IF_ERROR(BeginArray());
  while (true) {
    ASSIGN_OR_RETURN(const JsonWindow* window, NextWindow());
    if (window == nullptr) return absl::OkStatus();
  }
}

absl::Status JsonReader::Impl::BeginArray() {
  ASSIGN_OR_RETURN(const int c, buffer_.Peek());
  if (c != '[') return buffer_.Error(buffer_.position(), "expected a list");
  buffer_.Advance();
  in_array_ = true;
  after_comma_ = array_ended_ = false;
  records_ = 0;
  return absl::OkStatus();
}

absl::Status JsonReader::Impl::Collect() {
  while (true) {
    ASSIGN_OR_RETURN(int c, buffer_.PeekAfterSpace());
    const int64_t begin = buffer_.position();
    if (c == ']' && !after_comma_) {
      buffer_.Advance();
      array_ended_ = true;
      return absl::OkStatus();
    }
    if (c == ',' || c == ']') return buffer_.Error(begin, "extra comma");
    if (c == -1) return buffer_.Error(begin, "cut off: the list has no end");
    if (spans_.empty()) buffer_.Keep(begin);
    RETURN_IF_ERROR(buffer_.PassValue());
    const int64_t end = buffer_.position();
    ASSIGN_OR_RETURN(c, buffer_.PeekAfterSpace());
    spans_.push_back({begin, end});
    after_comma_ = c == ',';
    if (c != ',' && c != ']') {
      return buffer_.Error(buffer_.position(),
                           c == -1 ? "cut off: the list has no end" : "expected ',' or ']'");
    }
    buffer_.Advance();
    array_ended_ = c == ']';
    if (array_ended_ || end - spans_.front().begin >= kJsonWindowBytes) return absl::OkStatus();
  }
}

void JsonReader::Impl::Borrow(int64_t position, char byte) {
  borrowed_.push_back({position, *buffer_.At(position)});
  *buffer_.At(position) = byte;
}

void JsonReader::Impl::RestoreBorrowed() {
  while (!borrowed_.empty()) {  // A byte may have been lent twice.
    *buffer_.At(borrowed_.back().first) = borrowed_.back().second;
    borrowed_.pop_back();
  }
}

void JsonReader::Impl::SetWindow() {
  const int64_t begin = spans_.front().begin, end = spans_.back().end;
  // What stands before the first element and behind the last has been passed;
  // it is put back later, since it may be a line end, which errors count.
  RestoreBorrowed();
  Borrow(begin - 1, '[');
  Borrow(end, ']');
  window_.text = buffer_.At(begin - 1);
  window_.size = static_cast<size_t>(end - begin) + 2;
  window_.capacity = buffer_.ReadableFrom(begin - 1);
  window_.first_record = records_;
  window_.byte_offsets.clear();
  for (const Span& span : spans_) window_.byte_offsets.push_back(span.begin);
}

bool JsonReader::Impl::ParsesAsIs() {
  simdjson::dom::element unused;
  if (parser_.parse(window_.text, window_.size, false).get(unused) != simdjson::SUCCESS ||
      !tokens_.Split(buffer_.At(spans_.front().begin - 1), window_.size, /*cut=*/false)) {
    return false;
  }
  const JsonTokens::Walked walked = tokens_.FindElements(/*first_required=*/true);
  SetTokens();
  return walked.clean && walked.ended && tokens_.elements().size() == spans_.size();
}

void JsonReader::Impl::PatchNumber(int64_t position, size_t size) {
  if (non_finite_count_++ == 0) non_finite_offset_ = position;
  char* number = buffer_.At(position);
  if (!spans_.empty()) {
    const int64_t text_begin = spans_.front().begin - 1;
    window_.patches.push_back(
        {static_cast<size_t>(position - text_begin), std::string(number, size)});
  }
  number[0] = number[size - 1] = '"';
}

absl::Status JsonReader::Impl::ExplainOrPatch() {
  for (size_t i = 0; i < spans_.size(); ++i) {
    absl::Status checked = CheckValue(spans_[i].begin, spans_[i].end);
    if (checked.ok()) continue;
    spans_.resize(i);
    return Annotate(checked, absl::StrCat("record ", records_ + static_cast<int64_t>(i)));
  }
  return absl::OkStatus();
}

absl::Status JsonReader::Impl::Parse() {
  SetWindow();
  if (ParsesAsIs()) return absl::OkStatus();
  const absl::Status explained = ExplainOrPatch();
  if (!explained.ok()) pending_ = explained;
  if (spans_.empty()) return absl::OkStatus();
  SetWindow();
  if (ParsesAsIs()) return absl::OkStatus();
  return buffer_.Error(spans_.front().begin,
                       absl::StrCat("record ", records_, " or one close behind is not JSON"));
}

void JsonReader::Impl::SetTokens() {
  window_.tokens = &tokens_;
  window_.token_at = tokens_.at();
  window_.token_after = tokens_.after().data();
  window_.element_tokens = tokens_.elements().data();
  window_.has_escapes = tokens_.has_escapes();
}

absl::StatusOr<JsonReader::Impl::Taken> JsonReader::Impl::TryWindow(size_t want) {
  const int64_t begin = buffer_.position();
  const absl::StatusOr<size_t> filled = buffer_.Fill(want);
  if (!filled.ok()) return Taken::kFaulty;  // Good elements may come before that.
  const size_t size = CutAt(buffer_.Bytes(begin, begin + std::min(*filled, want)));
  Borrow(begin - 1, '[');
  Borrow(begin + size, *buffer_.At(begin + size));  // Split() may write there.
  JsonTokens::Walked walked;
  walked.clean = size > 0 && tokens_.Split(buffer_.At(begin - 1), size + 1, /*cut=*/true);
  if (walked.clean) walked = tokens_.FindElements(/*first_required=*/after_comma_);
  const bool found = !tokens_.elements().empty() && walked.end > 0;
  RestoreBorrowed();
  if (!found && !walked.ended) {
    return walked.clean && *filled >= want ? Taken::kTooShort : Taken::kFaulty;
  }
  const int64_t end = begin - 1 + static_cast<int64_t>(walked.end);
  array_ended_ = walked.ended;
  after_comma_ = !walked.ended;
  window_.byte_offsets.clear();
  if (found) {
    Borrow(begin - 1, '[');
    Borrow(end - 1, ']');
    window_.text = buffer_.At(begin - 1);
    window_.size = walked.end;
    window_.capacity = buffer_.ReadableFrom(begin - 1);
    window_.first_record = records_;
    for (const uint32_t token : tokens_.elements()) {
      window_.byte_offsets.push_back(begin - 1 + tokens_.at()[token]);
    }
    SetTokens();
  }
  buffer_.MoveTo(end);
  return Taken::kYes;
}

absl::StatusOr<bool> JsonReader::Impl::TakeCleanWindow() {
  ASSIGN_OR_RETURN(const int c, buffer_.PeekAfterSpace());
  if (c == -1) return false;
  buffer_.Keep(buffer_.position());
  for (int64_t want = kJsonWindowBytes; want <= 2 * kMaxJsonElementBytes; want *= 4) {
    ASSIGN_OR_RETURN(const Taken taken, TryWindow(static_cast<size_t>(want)));
    if (taken != Taken::kTooShort) return taken == Taken::kYes;
  }
  return false;
}

absl::StatusOr<const JsonWindow*> JsonReader::Impl::NextWindow() {
  RestoreBorrowed();
  RETURN_IF_ERROR(pending_);
  spans_.clear();
  window_.patches.clear();
  window_.unescaped.clear();
  window_.byte_offsets.clear();
  if (in_array_ && !array_ended_) {
    ASSIGN_OR_RETURN(const bool clean, TakeCleanWindow());
    if (!clean) {
      pending_ = Collect();
      if (!spans_.empty()) {
        const absl::Status fault_behind = std::exchange(pending_, absl::OkStatus());
        RETURN_IF_ERROR(Parse());
        if (pending_.ok()) pending_ = fault_behind;
      }
      if (spans_.empty()) RETURN_IF_ERROR(pending_);
    }
  }
  if (!window_.byte_offsets.empty()) {
    records_ += static_cast<int64_t>(window_.byte_offsets.size());
    if (records_ > kMaxRecords) {
      return buffer_.Error(window_.byte_offsets.front(),
                           absl::StrCat("the list has more than ", kMaxRecords, " records"));
    }
    return &window_;
  }
  in_array_ = false;
  buffer_.Keep(-1);
  if (top_is_array_) RETURN_IF_ERROR(ExpectEnd());
  return nullptr;
}

JsonReader::JsonReader(ByteSource* source) : impl_(std::make_unique<Impl>(source)) {}
JsonReader::~JsonReader() = default;
absl::StatusOr<JsonReader::Top> JsonReader::Open() { return impl_->Open(); }
absl::StatusOr<bool> JsonReader::NextKey(std::string* key) { return impl_->NextKey(key); }
absl::StatusOr<std::string> JsonReader::ReadValue() { return impl_->ReadValue(); }
absl::Status JsonReader::SkipValue() { return impl_->SkipValue(); }
absl::Status JsonReader::BeginArray() { return impl_->BeginArray(); }
absl::StatusOr<const JsonWindow*> JsonReader::NextWindow() { return impl_->NextWindow(); }
int64_t JsonReader::value_offset() const { return impl_->value_offset_; }
int64_t JsonReader::non_finite_count() const { return impl_->non_finite_count_; }
int64_t JsonReader::non_finite_offset() const { return impl_->non_finite_offset_; }

}  // namespace chakrad
