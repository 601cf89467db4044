#include "storage/text_match.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"

namespace chakrad {
namespace {

void AppendEscaped(absl::string_view text, std::string* out) {
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '*') out->push_back('\\');
    out->push_back(c);
  }
}

}  // namespace

std::string TextPattern::Text() const { return absl::StrJoin(pieces_, "*"); }

std::string TextPattern::Quoted() const {
  std::string quoted(1, '"');
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (i > 0) quoted.push_back('*');
    AppendEscaped(pieces_[i], &quoted);
  }
  quoted.push_back('"');
  return quoted;
}

bool TextPattern::Matches(absl::string_view text) const {
  if (!has_wildcard()) return text == pieces_[0];
  const absl::string_view first = pieces_.front(), last = pieces_.back();
  if (text.size() < first.size() + last.size() || !absl::StartsWith(text, first) ||
      !absl::EndsWith(text, last)) {
    return false;
  }
  text = text.substr(first.size(), text.size() - first.size() - last.size());
  // The leftmost place of each piece leaves the most for those that follow.
  for (size_t i = 1; i + 1 < pieces_.size(); ++i) {
    const size_t at = text.find(pieces_[i]);
    if (at == absl::string_view::npos) return false;
    text.remove_prefix(at + pieces_[i].size());
  }
  return true;
}

bool ContainsLowerCase(absl::string_view text, absl::string_view part) {
  if (part.empty()) return true;
  const auto lower = [](char c) { return absl::ascii_tolower(static_cast<unsigned char>(c)); };
  const char first = part[0];
  const char first_upper = absl::ascii_toupper(static_cast<unsigned char>(first));
  for (size_t at = 0; at + part.size() <= text.size(); ++at) {
    if (text[at] != first && text[at] != first_upper) continue;
    size_t same = 1;
    while (same < part.size() && lower(text[at + same]) == part[same]) ++same;
    if (same == part.size()) return true;
  }
  return false;
}

std::string QuotedText(absl::string_view text) {
  std::string quoted(1, '"');
  AppendEscaped(text, &quoted);
  quoted.push_back('"');
  return quoted;
}

}  // namespace chakrad
