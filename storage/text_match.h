// How filters look at text.
#ifndef CHAKRAD_STORAGE_TEXT_MATCH_H_
#define CHAKRAD_STORAGE_TEXT_MATCH_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace chakrad {

// Text with wildcards, each of which stands for any bytes, also none.
class TextPattern {
 public:
  // What lies between the wildcards: one piece for text without any. Not empty.
  explicit TextPattern(std::vector<std::string> pieces = {""}) : pieces_(std::move(pieces)) {}

  bool has_wildcard() const { return pieces_.size() > 1; }
  // With a '*' for each wildcard.
  std::string Text() const;
  // In double quotes, so that the filter's parser reads the same pattern.
  std::string Quoted() const;
  const std::vector<std::string>& pieces() const { return pieces_; }

  // The whole of `text`, byte for byte. O(text x longest piece), at most.
  bool Matches(absl::string_view text) const;

 private:
  std::vector<std::string> pieces_;
};

// Whether `text` contains `part`, which is in lower case already, with A-Z as a-z.
bool ContainsLowerCase(absl::string_view text, absl::string_view part);

// In double quotes, with \ before ", \ and *.
std::string QuotedText(absl::string_view text);

}  // namespace chakrad

#endif  // CHAKRAD_STORAGE_TEXT_MATCH_H_
