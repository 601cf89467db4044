#include "trace/readers/json/json_buffer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/json/json_check.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

enum CharClass : uint8_t { kPlain = 0, kQuote, kOpen, kClose };

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  classes['"'] = kQuote;
  classes['{'] = classes['['] = kOpen;
  classes['}'] = classes[']'] = kClose;
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = MakeClasses();

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// How many '\n' there are, eight bytes at a time.
int64_t CountLineEnds(const char* begin, const char* end) {
  constexpr uint64_t kOnes = 0x0101010101010101, kLow7 = 0x7f * kOnes;
  constexpr int kMaxSteps = 255;  // Until a byte of `counts` is full.
  int64_t count = 0;
  while (end - begin >= 8) {
    uint64_t counts = 0;  // Eight of them.
    for (int step = 0; step < kMaxSteps && end - begin >= 8; ++step, begin += 8) {
      uint64_t bytes;
      std::memcpy(&bytes, begin, 8);
      bytes ^= '\n' * kOnes;  // A line end becomes 0, of which alone the top bit stays 0 below.
      counts += (~(((bytes & kLow7) + kLow7) | bytes) >> 7) & kOnes;
    }
    const uint64_t pairs = (counts & 0x00ff00ff00ff00ff) + ((counts >> 8) & 0x00ff00ff00ff00ff);
    count += static_cast<int64_t>((pairs * 0x0001000100010001) >> 48);
  }
  return count + std::count(begin, end, '\n');
}

}  // namespace

JsonBuffer::JsonBuffer(ByteSource* source)
    : source_(source), data_(kHeadroom + kReadBytes + kJsonPadding) {}

absl::StatusOr<bool> JsonBuffer::Refill() {
  int64_t keep = position();
  if (keep_ >= 0) keep = std::min(keep, keep_);
  const size_t drop = static_cast<size_t>(keep - begin_);
  const size_t held = end_ - kHeadroom - drop;
  // Moved only when little is left of the room: elements are walked in place.
  if (data_.size() - kJsonPadding - end_ < static_cast<size_t>(kReadBytes) / 2) {
    lines_before_ += CountLineEnds(At(begin_), At(keep));
    std::memmove(At(begin_), At(keep), held);
    begin_ = keep;
    next_ -= drop;
    end_ -= drop;
    if (data_.size() - kJsonPadding - end_ < static_cast<size_t>(kReadBytes)) {
      data_.resize(std::max(data_.size() * 2, end_ + kReadBytes + kJsonPadding));
    }
  }
  RETURN_IF_ERROR(read_error_);
  const absl::StatusOr<size_t> count =
      source_->Read(data_.data() + end_, data_.size() - kJsonPadding - end_);
  read_error_ = count.status();
  RETURN_IF_ERROR(read_error_);
  end_ += *count;
  return *count > 0;
}

absl::StatusOr<size_t> JsonBuffer::Fill(size_t want) {
  while (end_ - next_ < want) {
    ASSIGN_OR_RETURN(const bool more, Refill());
    if (!more) break;
  }
  return end_ - next_;
}

absl::StatusOr<int> JsonBuffer::Peek() {
  if (next_ == end_) {
    ASSIGN_OR_RETURN(const bool more, Refill());
    if (!more) return -1;
  }
  return static_cast<uint8_t>(data_[next_]);
}

absl::StatusOr<int> JsonBuffer::PeekAfterSpace() {
  while (true) {
    while (next_ < end_ && IsSpace(data_[next_])) ++next_;
    if (next_ < end_) return static_cast<uint8_t>(data_[next_]);
    // What is kept must stay bounded; the longest element is not this long.
    if (keep_ >= 0 && position() - keep_ > 2 * kMaxJsonElementBytes) {
      return Error(position(), absl::StrCat("more than ", kMaxJsonElementBytes,
                                            " bytes of white space between records"));
    }
    ASSIGN_OR_RETURN(const bool more, Refill());
    if (!more) return -1;
  }
}

absl::Status JsonBuffer::PassString(int64_t start) {
  ++next_;
  while (true) {
    while (next_ < end_ && data_[next_] != '"' && data_[next_] != '\\') ++next_;
    if (position() - start > kMaxJsonElementBytes) return CutOff(start);
    if (next_ < end_ && data_[next_] == '"') {
      ++next_;
      return absl::OkStatus();
    }
    if (next_ + 1 < end_) {
      next_ += 2;  // An escape.
      continue;
    }
    ASSIGN_OR_RETURN(const bool more, Refill());
    if (!more) return CutOff(start);
  }
}

absl::Status JsonBuffer::PassContainer(int64_t start) {
  int depth = 0;
  while (true) {
    while (next_ < end_ && kClasses[static_cast<uint8_t>(data_[next_])] == kPlain) ++next_;
    if (next_ == end_) {
      if (position() - start > kMaxJsonElementBytes) return CutOff(start);
      ASSIGN_OR_RETURN(const bool more, Refill());
      if (!more) return CutOff(start);
      continue;
    }
    switch (kClasses[static_cast<uint8_t>(data_[next_])]) {
      case kQuote:
        RETURN_IF_ERROR(PassString(start));
        break;
      case kOpen:
        if (++depth > kMaxJsonDepth) {
          return Error(position(), absl::StrCat("nesting is deeper than ", kMaxJsonDepth));
        }
        ++next_;
        break;
      default:
        ++next_;
        if (--depth == 0) {
          if (position() - start > kMaxJsonElementBytes) return CutOff(start);
          return absl::OkStatus();
        }
    }
  }
}

absl::Status JsonBuffer::PassValue() {
  const int64_t start = position();
  ASSIGN_OR_RETURN(int c, Peek());
  if (c == '"' || c == '{' || c == '[') {
    // A fault inside is explained from the value's start.
    const int64_t kept = keep_;
    if (keep_ < 0 || keep_ > start) keep_ = start;
    const absl::Status passed = c == '"' ? PassString(start) : PassContainer(start);
    if (passed.ok()) keep_ = kept;
    return passed;
  }
  while (c != -1 && !IsSpace(static_cast<char>(c)) && std::strchr(",]}[{:\"", c) == nullptr) {
    if (position() - start > kMaxJsonElementBytes) return Error(start, "expected a value");
    Advance();
    ASSIGN_OR_RETURN(c, Peek());
  }
  if (position() == start) return Error(start, c == -1 ? "cut off" : "expected a value");
  return absl::OkStatus();
}

absl::Status JsonBuffer::CutOff(int64_t start) {
  if (keep_ >= 0 && keep_ <= start) {
    std::vector<NonFinite> unused;
    const JsonFault fault = CheckJson(Bytes(start, position()), &unused);
    if (fault.found && !fault.at_end) {
      return Error(start + static_cast<int64_t>(fault.at), fault.reason);
    }
  }
  if (position() - start > kMaxJsonElementBytes) {
    return Error(start, absl::StrCat("value is larger than ", kMaxJsonElementBytes, " bytes"));
  }
  return Error(position(),
               absl::StrCat("cut off inside the value that starts at byte offset ", start));
}

absl::Status JsonBuffer::Error(int64_t position, absl::string_view reason) {
  const int64_t upto =
      std::clamp<int64_t>(position, begin_, begin_ + static_cast<int64_t>(end_ - kHeadroom));
  const int64_t line = 1 + lines_before_ + CountLineEnds(At(begin_), At(upto));
  return absl::InvalidArgumentError(
      absl::StrCat("byte offset ", position, " (line ", line, "): ", reason));
}

}  // namespace chakrad
