#include "trace/readers/repair/repair_source.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/readers/json/json_check.h"
#include "trace/readers/limits.h"
#include "trace/readers/repair/gap.h"
#include "trace/readers/repair/quick_check.h"
#include "trace/readers/repair/record_text.h"
#include "trace/readers/repair/text_window.h"

namespace chakrad {
namespace {

// Changes inside one record: beyond, it is lost.
constexpr int kMaxFixes = 1000;
// Bytes looked at for each byte read, and at the start: what keeps hostile input
// from being looked at again and again.
constexpr int64_t kLooksPerByte = 24;
constexpr int64_t kFreeLooks = int64_t{256} << 20;

constexpr char kNotSpelled[] = "not spelled as JSON wants it";

// Bytes behind a fault within which a word may be that the window cuts.
constexpr size_t kMaxWordBytes = 4096;

class RepairSource final : public ByteSource {
 public:
  RepairSource(std::unique_ptr<ByteSource> inner, RepairReport* report)
      : window_(std::move(inner)), report_(report) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    while (next_ == out_.size()) {
      out_.clear();
      next_ = 0;
      if (state_ == State::kDone) return 0;
      RETURN_IF_ERROR(Step());
    }
    const size_t count = std::min(capacity, out_.size() - next_);
    std::memcpy(buffer, out_.data() + next_, count);
    next_ += count;
    offset_ += static_cast<int64_t>(count);
    return count;
  }
  int64_t offset() const override { return offset_; }

 private:
  enum class State { kStart, kPairs, kList, kEnd, kVerbatim, kDone };

  absl::Status Step() {
    switch (state_) {
      case State::kStart:
        return Start();
      case State::kPairs:
        return StepPair();
      case State::kList:
        return StepList();
      case State::kEnd:
        return StepEnd();
      case State::kVerbatim:
        return StepVerbatim();
      case State::kDone:
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status Error(size_t at, absl::string_view reason) const {
    return absl::InvalidArgumentError(absl::StrCat("byte offset ",
                                                   window_.position() + static_cast<int64_t>(at),
                                                   ": cannot be repaired: ", reason));
  }
  void Report(absl::string_view rule, int64_t offset, absl::string_view reason) {
    report_->Add(rule, list_kind_ == RecordKind::kOther ? -1 : record_, offset, reason);
  }
  // Hands bytes on as they are.
  void Emit(size_t bytes) {
    const absl::string_view text = window_.rest().substr(0, bytes);
    out_.append(text.data(), text.size());
    window_.Pass(text.size());
  }

  absl::Status Start() {
    size_t at = 0;
    ASSIGN_OR_RETURN(int c, window_.Peek());
    if (c == 0xef) at = 3;  // A byte order mark.
    ASSIGN_OR_RETURN(c, window_.PeekBehindSpace(&at));
    if (c != '{' && c != '[') {
      state_ = State::kVerbatim;
      return absl::OkStatus();
    }
    Emit(at + 1);
    top_is_list_ = c == '[';
    if (top_is_list_) {
      BeginList(RecordKind::kEvent);
    } else {
      state_ = State::kPairs;
    }
    return absl::OkStatus();
  }

  void BeginList(RecordKind kind) {
    state_ = State::kList;
    list_kind_ = kind;
    record_ = 0;
    has_previous_ = false;
  }

  absl::Status StepVerbatim() {
    ASSIGN_OR_RETURN(const int c, window_.Peek());
    if (c == -1) {
      state_ = State::kDone;
      // Nothing was mended, so the source's own error stands.
      return window_.cut_off();
    }
    Emit(window_.rest().size());
    return absl::OkStatus();
  }

  absl::Status StepEnd() {
    ASSIGN_OR_RETURN(const int c, window_.Peek());
    if (c == -1) {
      if (!window_.cut_off().ok()) {
        Report(repair_rule::kEnd, window_.position(), window_.cut_off().message());
      }
      state_ = State::kDone;
      return absl::OkStatus();
    }
    // Behind the document only white space is right; readers say so.
    Emit(window_.rest().size());
    return absl::OkStatus();
  }

  // Takes white space and commas into gap_; returns the byte behind, -1 at the end.
  absl::StatusOr<int> TakeGap() {
    while (true) {
      ASSIGN_OR_RETURN(const int c, window_.Peek());
      if (!IsSpace(c) && c != ',') return c;
      if (gap_.full()) return Error(0, "no record for 16 MiB");
      gap_.Add(static_cast<char>(c), window_.position());
      window_.Pass(1);
    }
  }

  // Writes gap_ with as many commas as belong there.
  void EmitGap(bool closing) {
    const Gap::CommaFault fault = gap_.MendCommas(has_previous_, closing);
    if (fault.reason != nullptr) {
      Report(repair_rule::kComma, fault.offset < 0 ? window_.position() : fault.offset,
             fault.reason);
    }
    out_ += gap_.text();
    gap_ = Gap();
  }

  // Looks at the value at position(), reading on as long as it may go on.
  absl::StatusOr<JsonFault> CheckValue(size_t from, size_t* size) {
    while (true) {
      // What starts further on is looked for in damage: rarely right.
      *size = from == 0 ? quick_check_.SizeOfValue(window_.rest(), &looks_) : 0;
      if (*size > 0) return JsonFault();
      JsonFault fault = CheckJsonPrefix(window_.rest().substr(from), kMaxJsonDepth, size);
      looks_ += static_cast<int64_t>(fault.found ? fault.at : *size);
      if (looks_ > kFreeLooks + kLooksPerByte * (window_.position() +
                                                 static_cast<int64_t>(window_.rest().size()))) {
        return Error(from, "too much of it is damaged");
      }
      const size_t here = window_.rest().size() - from;
      const bool may_go_on =
          !window_.ended() &&
          (fault.found ? fault.at_end || fault.at + kMaxWordBytes > here : *size == here);
      if (may_go_on && here <= static_cast<size_t>(kMaxJsonElementBytes)) {
        RETURN_IF_ERROR(window_.Grow());
        continue;
      }
      if (!fault.found && *size > static_cast<size_t>(kMaxJsonElementBytes)) {
        fault.found = true;
        fault.at = 0;
        fault.reason = absl::StrCat("larger than ", kMaxJsonElementBytes, " bytes");
      }
      return fault;
    }
  }

  // Commas too many and words in another spelling, at the fault and at those that
  // come up behind it. Leaves `fault` at the first that is something else.
  // The changes go into `fixes`.
  absl::Status MendInPlace(JsonFault* fault, size_t* size, RepairReport* fixes) {
    for (int i = 0; i < kMaxFixes && fault->found && !fault->at_end; ++i) {
      const size_t comma = FindExtraComma(window_.rest(), fault->at);
      if (comma != absl::string_view::npos) {
        window_.mutable_rest()[comma] = ' ';
        fixes->Add(repair_rule::kComma, record_, window_.position() + static_cast<int64_t>(comma),
                   "a comma too many inside the record");
      } else if (MendWordAt(fault->at)) {
        fixes->Add(repair_rule::kNumber, record_,
                   window_.position() + static_cast<int64_t>(fault->at), kNotSpelled);
      } else {
        return absl::OkStatus();
      }
      ASSIGN_OR_RETURN(*fault, CheckValue(0, size));
    }
    return absl::OkStatus();
  }

  bool MendWordAt(size_t at) {
    const std::string mended = MendWord(window_.rest(), at);
    mended.copy(window_.mutable_rest() + at, mended.size());
    return !mended.empty();
  }

  absl::Status StepList() {
    ASSIGN_OR_RETURN(const int c, TakeGap());
    if (c == -1) return CloseCutOff("the list has no end");
    ASSIGN_OR_RETURN(const bool stray, IsStrayBracket(c));
    if (stray) {
      Leave(1, /*is_record=*/false, "a ']' before another record");
      return absl::OkStatus();
    }
    if (c == ']') {
      EmitGap(/*closing=*/true);
      Emit(1);
      EndList();
      return absl::OkStatus();
    }
    size_t size = 0;
    ASSIGN_OR_RETURN(JsonFault fault, CheckValue(0, &size));
    RepairReport fixes;
    if (fault.found) RETURN_IF_ERROR(MendInPlace(&fault, &size, &fixes));
    if (!fault.found) {
      ASSIGN_OR_RETURN(const size_t inner, RecordInside(size));
      if (inner > 0) {
        Lose(inner, "half written: others follow inside it");
        return absl::OkStatus();
      }
      EmitGap(/*closing=*/false);
      report_->Merge(fixes);
      Emit(size);
      EndElement();
      return absl::OkStatus();
    }
    return MendElement(c, fault);
  }

  void EndElement() {
    has_previous_ = true;
    ++record_;
  }

  // Behind a list's end there is a key or a bracket that closes, never a record.
  absl::StatusOr<bool> IsStrayBracket(int c) {
    if (c != ']' || list_kind_ == RecordKind::kOther) return false;
    size_t next = 1;
    ASSIGN_OR_RETURN(c, window_.PeekBehindSpace(&next));
    if (c == ',') {
      ++next;
      ASSIGN_OR_RETURN(c, window_.PeekBehindSpace(&next));
    }
    return c == '{';
  }

  void EndList() {
    has_previous_ = true;  // Of the pairs that may follow.
    list_kind_ = RecordKind::kOther;
    state_ = top_is_list_ ? State::kEnd : State::kPairs;
  }

  // A record without an end swallows those behind it, up to the end of the file.
  // Where a good element is the last thing in the file, returns where the first
  // record inside it starts; else 0.
  absl::StatusOr<size_t> RecordInside(size_t size) {
    if (list_kind_ == RecordKind::kOther) return 0;
    size_t behind = size;
    ASSIGN_OR_RETURN(const int c, window_.PeekBehindSpace(&behind));
    if (c != -1) return 0;
    for (size_t at = 1; at < size; ++at) {
      if (window_.rest()[at] != '{') continue;
      ASSIGN_OR_RETURN(const bool record, IsRecordAt(at));
      if (record) return at;
    }
    return 0;
  }

  absl::StatusOr<bool> IsRecordAt(size_t at) {
    size_t size = 0;
    ASSIGN_OR_RETURN(const JsonFault fault, CheckValue(at, &size));
    return !fault.found && IsRecord(window_.rest().substr(at, size), list_kind_);
  }

  // An element that starts with the byte `c` and is no JSON.
  absl::Status MendElement(int c, const JsonFault& fault) {
    if (list_kind_ == RecordKind::kOther) return Error(fault.at, fault.reason);
    if (c == '{') {
      while (window_.rest().size() < kMaxMendedRecordBytes && !window_.ended()) {
        RETURN_IF_ERROR(window_.Grow());
      }
      const std::optional<MendedQuotes> mended =
          MendQuotes(window_.rest(), fault.at, list_kind_, window_.ended(), &looks_);
      if (mended.has_value()) {
        Report(repair_rule::kQuote, window_.position() + static_cast<int64_t>(mended->string_at),
               "double quotes inside a string");
        EmitGap(/*closing=*/false);
        out_ += mended->record;
        window_.Pass(mended->original_bytes);
        EndElement();
        return absl::OkStatus();
      }
    }
    return Resume(c == '{', fault);
  }

  // Looks for the next record, or the list's end, and leaves out what is before.
  absl::Status Resume(bool is_record, const JsonFault& fault) {
    const std::string reason = absl::StrCat(fault.reason, " at byte offset ",
                                            window_.position() + static_cast<int64_t>(fault.at));
    size_t at = is_record ? 1 : 0;
    while (true) {
      for (; at < window_.rest().size(); ++at) {
        const char c = window_.rest()[at];
        bool found = false;
        if (c == '{') {
          ASSIGN_OR_RETURN(found, IsRecordAt(at));
        } else if (c == ']' || c == '}') {
          ASSIGN_OR_RETURN(found, IsListEndAt(at));
        }
        if (!found) continue;
        // The commas before it are its own.
        while (at > 0 && (IsSpace(window_.rest()[at - 1]) || window_.rest()[at - 1] == ',')) --at;
        if (at > 0) Leave(at, is_record, reason);
        if (c == '}') RETURN_IF_ERROR(CloseList());
        return absl::OkStatus();
      }
      // What a very long one leaves behind is looked at anew.
      if (window_.ended() || at > static_cast<size_t>(kMaxJsonElementBytes)) {
        Leave(at, is_record, reason);
        return absl::OkStatus();
      }
      RETURN_IF_ERROR(window_.Grow());
    }
  }

  // Whether the list ends with the bracket `at`: ']', or '}' where ']' is missing.
  absl::StatusOr<bool> IsListEndAt(size_t at) {
    const bool list_bracket = window_.rest()[at] == ']';
    if (!list_bracket && top_is_list_) return false;
    size_t next = at + 1;
    ASSIGN_OR_RETURN(int c, window_.PeekBehindSpace(&next));
    if (!list_bracket) return c == -1;
    if (c == -1) return true;
    if (top_is_list_) return false;
    if (c == '}') {
      ++next;
      ASSIGN_OR_RETURN(c, window_.PeekBehindSpace(&next));
      return c == -1;
    }
    if (c != ',') return false;
    ++next;
    ASSIGN_OR_RETURN(c, window_.PeekBehindSpace(&next));
    if (c != '"') return false;
    size_t size = 0;
    ASSIGN_OR_RETURN(const JsonFault fault, CheckValue(next, &size));
    return !fault.found && IsDocumentKey(window_.rest().substr(next + 1, size - 2), list_kind_);
  }

  void Leave(size_t bytes, bool is_record, absl::string_view reason) {
    if (is_record) return Lose(bytes, reason);
    Report(repair_rule::kStray, window_.position(),
           absl::StrCat(bytes, " bytes that are no record: ", reason));
    BlankOut(bytes, /*was_record=*/false);
  }
  void Lose(size_t bytes, absl::string_view reason) {
    Report(repair_rule::kLost, window_.position(), absl::StrCat(bytes, " bytes: ", reason));
    ++record_;
    BlankOut(bytes, /*was_record=*/true);
  }
  void BlankOut(size_t bytes, bool was_record) {
    gap_.AddBlanks(window_.rest().substr(0, bytes), was_record);
    window_.Pass(bytes);
  }

  // Where '}' ends the document although the list has no end.
  absl::Status CloseList() {
    RETURN_IF_ERROR(TakeGap().status());
    EmitGap(/*closing=*/true);
    Report(repair_rule::kEnd, window_.position(), "the list's ']' was missing");
    out_ += ']';
    EndList();
    return absl::OkStatus();
  }

  // The text ends inside a list or among the document's pairs.
  absl::Status CloseCutOff(absl::string_view what) {
    EmitGap(/*closing=*/true);
    Report(repair_rule::kEnd, window_.position(),
           window_.cut_off().ok() ? std::string(what)
                                  : absl::StrCat(what, ": ", window_.cut_off().message()));
    if (state_ == State::kList) out_ += ']';
    if (!top_is_list_) out_ += '}';
    state_ = State::kDone;
    return absl::OkStatus();
  }

  // A key and its value on the document's top level, or the document's end.
  absl::Status StepPair() {
    ASSIGN_OR_RETURN(int c, TakeGap());
    if (c == -1) return CloseCutOff("the document has no end");
    if (c == '}') {
      EmitGap(/*closing=*/true);
      Emit(1);
      state_ = State::kEnd;
      return absl::OkStatus();
    }
    if (c != '"') return Error(0, "expected a key in double quotes");
    size_t size = 0;
    ASSIGN_OR_RETURN(JsonFault fault, CheckValue(0, &size));
    if (fault.found) return EndPair(fault, 0);
    const std::string key(window_.rest().substr(1, size - 2));
    ASSIGN_OR_RETURN(c, window_.PeekBehindSpace(&size));
    if (c == -1) return EndPair({.found = true, .at_end = true, .at = size, .reason = ""}, 0);
    if (c != ':') return Error(size, "expected ':' after a key");
    ++size;
    ASSIGN_OR_RETURN(c, window_.PeekBehindSpace(&size));
    if (c == '[') {
      EmitGap(/*closing=*/false);
      Emit(size + 1);
      BeginList(RecordKindOf(key));
      return absl::OkStatus();
    }
    return StepPairValue(size);
  }

  // The value behind a key, `begin` bytes on.
  absl::Status StepPairValue(size_t begin) {
    size_t size = 0;
    ASSIGN_OR_RETURN(JsonFault fault, CheckValue(begin, &size));
    if (fault.found && !fault.at_end && MendWordAt(begin + fault.at)) {
      Report(repair_rule::kNumber, window_.position() + static_cast<int64_t>(begin + fault.at),
             kNotSpelled);
      ASSIGN_OR_RETURN(fault, CheckValue(begin, &size));
    }
    if (fault.found) return EndPair(fault, begin);
    // A number that the file ends with may have lost digits.
    if (window_.ended() && begin + size == window_.rest().size()) {
      return EndPair({.found = true, .at_end = true, .at = size, .reason = ""}, begin);
    }
    EmitGap(/*closing=*/false);
    Emit(begin + size);
    EndElement();
    return absl::OkStatus();
  }

  // A pair that cannot be read: cut off with the file, or beyond repair.
  absl::Status EndPair(const JsonFault& fault, size_t begin) {
    if (!fault.at_end || !window_.ended()) return Error(begin + fault.at, fault.reason);
    BlankOut(window_.rest().size(), /*was_record=*/true);
    return CloseCutOff("the document ends inside a key or its value, which goes");
  }

  TextWindow window_;
  QuickCheck quick_check_;
  RepairReport* report_;
  State state_ = State::kStart;
  std::string out_;  // To be handed out from next_ on.
  size_t next_ = 0;
  int64_t offset_ = 0;
  Gap gap_;
  bool has_previous_ = false;  // An element or pair stands before gap_.
  bool top_is_list_ = false;
  RecordKind list_kind_ = RecordKind::kOther;
  int64_t record_ = 0;  // Of the list at hand.
  int64_t looks_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> OpenRepairSource(std::unique_ptr<ByteSource> inner,
                                             RepairReport* report) {
  return std::make_unique<RepairSource>(std::move(inner), report);
}

}  // namespace chakrad
