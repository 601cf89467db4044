#include "trace/readers/flexflow/dot_reader.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status.h"
#include "common/utf8.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/limits.h"

namespace chakrad {
namespace {

constexpr int kNoByte = -1;
constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsSpace(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsLetter(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Quote(absl::string_view text) { return absl::StrCat("\"", ValidUtf8(text, 80), "\""); }

}  // namespace

DotReader::DotReader(ByteSource* source) : source_(source), buffer_(kReadBytes, '\0') {}

absl::Status DotReader::Fail(absl::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrCat("byte offset ", token_offset_, ", line ", token_line_, ": ", what));
}

absl::StatusOr<int> DotReader::Peek() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    ASSIGN_OR_RETURN(end_, source_->Read(buffer_.data(), buffer_.size()));
    if (end_ == 0) return kNoByte;
  }
  return static_cast<unsigned char>(buffer_[begin_]);
}

void DotReader::Skip() {
  line_begins_ = buffer_[begin_] == '\n';
  if (line_begins_) ++line_;
  ++begin_;
}

absl::Status DotReader::SkipBlockComment() {
  int before = 0;
  while (true) {
    ASSIGN_OR_RETURN(const int c, Peek());
    if (c == kNoByte) return Fail("cut off: this comment does not end");
    Skip();
    if (before == '*' && c == '/') return absl::OkStatus();
    before = c;
  }
}

// Up to the first byte of the next token.
absl::Status DotReader::SkipSpace() {
  while (true) {
    ASSIGN_OR_RETURN(int c, Peek());
    token_offset_ = source_->offset() - static_cast<int64_t>(end_ - begin_);
    token_line_ = line_;
    const bool line_comment = c == '#' && line_begins_;
    if (IsSpace(c)) {
      // Spaces before a '#' keep it from being the preprocessor's.
      Skip();
      continue;
    }
    if (c != '/' && !line_comment) return absl::OkStatus();
    Skip();
    if (c == '/') {
      ASSIGN_OR_RETURN(c, Peek());
      if (c == '*') {
        Skip();
        RETURN_IF_ERROR(SkipBlockComment());
        continue;
      }
      if (c != '/') return Fail("a '/' that starts no comment");
    }
    while (true) {
      ASSIGN_OR_RETURN(c, Peek());
      if (c == kNoByte || c == '\n') break;
      Skip();
    }
  }
}

absl::Status DotReader::Append(char c) {
  if (static_cast<int64_t>(text_.size()) >= kMaxNameBytes) {
    return Fail(absl::StrCat("a word of more than ", kMaxNameBytes, " bytes"));
  }
  text_.push_back(c);
  return absl::OkStatus();
}

// An identifier or a numeral.
absl::Status DotReader::ReadWord(char first) {
  token_ = Token::kId;
  const bool numeral = !IsLetter(first);
  RETURN_IF_ERROR(Append(first));
  while (true) {
    ASSIGN_OR_RETURN(const int c, Peek());
    const char next = static_cast<char>(c);
    if (c == kNoByte || !(IsDigit(next) || (numeral ? next == '.' : IsLetter(next)))) break;
    RETURN_IF_ERROR(Append(next));
    Skip();
  }
  return absl::OkStatus();
}

absl::Status DotReader::ReadQuotedPiece() {
  bool escaped = false;
  while (true) {
    ASSIGN_OR_RETURN(const int c, Peek());
    if (c == kNoByte) return Fail("cut off: this string does not end");
    const char next = static_cast<char>(c);
    Skip();
    if (escaped) {
      escaped = false;
      if (next == '"' || next == '\n') text_.pop_back();
      if (next != '\n') RETURN_IF_ERROR(Append(next));
      continue;
    }
    if (next == '"') return absl::OkStatus();
    escaped = next == '\\';
    RETURN_IF_ERROR(Append(next));
  }
}

// "piece" + "piece"
absl::Status DotReader::ReadQuoted() {
  token_ = Token::kId;
  quoted_ = true;
  const int64_t offset = token_offset_, line = token_line_;
  while (true) {
    RETURN_IF_ERROR(ReadQuotedPiece());
    RETURN_IF_ERROR(SkipSpace());
    ASSIGN_OR_RETURN(int c, Peek());
    if (c != '+') break;
    Skip();
    RETURN_IF_ERROR(SkipSpace());
    ASSIGN_OR_RETURN(c, Peek());
    if (c != '"') return Fail("a '+' joins quoted strings only");
    Skip();
  }
  token_offset_ = offset;
  token_line_ = line;
  return absl::OkStatus();
}

// Makes token_ the next one.
absl::Status DotReader::Advance() {
  RETURN_IF_ERROR(SkipSpace());
  text_.clear();
  quoted_ = false;
  ASSIGN_OR_RETURN(int c, Peek());
  if (c == kNoByte) {
    token_ = Token::kEnd;
    return absl::OkStatus();
  }
  Skip();
  constexpr std::pair<char, Token> kSigns[] = {
      {'[', Token::kOpenList},   {']', Token::kCloseList}, {'{', Token::kOpenBrace},
      {'}', Token::kCloseBrace}, {';', Token::kSemicolon}, {',', Token::kComma},
      {'=', Token::kEquals},     {':', Token::kColon},
  };
  for (const auto& [sign, token] : kSigns) {
    if (c != sign) continue;
    token_ = token;
    return absl::OkStatus();
  }
  const char first = static_cast<char>(c);
  if (first == '"') return ReadQuoted();
  if (IsLetter(first) || IsDigit(first) || first == '.') return ReadWord(first);
  if (first == '<') return Fail("an HTML-like string; only plain and quoted ones are read");
  if (first != '-') return Fail(absl::StrCat("character ", c, " has no meaning in dot here"));
  ASSIGN_OR_RETURN(c, Peek());
  if (c == '>') {
    Skip();
    token_ = Token::kArrow;
    return absl::OkStatus();
  }
  if (c == '-') return Fail("an undirected edge (--); a task graph's are directed (->)");
  if (c == kNoByte || !(IsDigit(static_cast<char>(c)) || c == '.')) {
    return Fail("a '-' without an arrow or a number");
  }
  return ReadWord(first);
}

// Keywords are those in any case, when not quoted.
bool DotReader::IsKeyword(absl::string_view keyword) const {
  return token_ == Token::kId && !quoted_ && absl::EqualsIgnoreCase(text_, keyword);
}

absl::Status DotReader::ReadHeader() {
  started_ = true;
  for (const char mark : kByteOrderMark) {
    ASSIGN_OR_RETURN(const int c, Peek());
    if (c != static_cast<unsigned char>(mark)) {
      if (mark == kByteOrderMark[0]) break;
      return Fail("not a graph: it starts with half a byte order mark");
    }
    Skip();
    line_begins_ = true;
  }
  RETURN_IF_ERROR(Advance());
  if (token_ == Token::kEnd) return Fail("the file is empty");
  if (IsKeyword("strict")) RETURN_IF_ERROR(Advance());
  if (IsKeyword("graph")) return Fail("an undirected graph; a task graph is a digraph");
  if (!IsKeyword("digraph")) return Fail("not a graph: it does not start with \"digraph\"");
  RETURN_IF_ERROR(Advance());
  if (token_ == Token::kId) RETURN_IF_ERROR(Advance());
  if (token_ == Token::kEnd) return Fail("cut off: \"{\" is missing");
  if (token_ != Token::kOpenBrace) return Fail("\"{\" is missing");
  return Advance();
}

absl::Status DotReader::ReadEnd() {
  ended_ = true;
  RETURN_IF_ERROR(Advance());
  if (token_ == Token::kEnd) return absl::OkStatus();
  return Fail("more text behind the graph's closing brace; one file holds one graph");
}

// `graph`, `node` or `edge` with what holds for all that follow.
absl::Status DotReader::ReadDefaults() {
  const bool of_nodes = IsKeyword("node");
  RETURN_IF_ERROR(Advance());
  if (token_ != Token::kOpenList) return Fail("\"[\" is missing behind a keyword");
  const int64_t offset = token_offset_, line = token_line_;
  std::optional<std::string> label;
  RETURN_IF_ERROR(ReadLists(&label));
  if (!of_nodes || !label.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("byte offset ", offset, ", line ", line,
                                                 ": a default label; each node states its own"));
}

// Of node:port and node:port:compass.
absl::Status DotReader::SkipPort() {
  for (int i = 0; i < 2 && token_ == Token::kColon; ++i) {
    RETURN_IF_ERROR(Advance());
    if (token_ != Token::kId) return Fail("a port's name is missing behind \":\"");
    RETURN_IF_ERROR(Advance());
  }
  return absl::OkStatus();
}

// Attribute lists, if any; of several labels the last one counts, as in graphviz.
absl::Status DotReader::ReadLists(std::optional<std::string>* label) {
  while (token_ == Token::kOpenList) {
    RETURN_IF_ERROR(Advance());
    while (token_ != Token::kCloseList) {
      if (token_ == Token::kEnd) return Fail("cut off: \"]\" is missing");
      if (token_ != Token::kId) return Fail("an attribute's name is missing");
      const bool is_label = text_ == "label";
      RETURN_IF_ERROR(Advance());
      if (token_ == Token::kEquals) {
        RETURN_IF_ERROR(Advance());
        if (token_ == Token::kEnd) return Fail("cut off: an attribute's value is missing");
        if (token_ != Token::kId) return Fail("an attribute's value is missing");
        if (is_label) *label = std::move(text_);
        RETURN_IF_ERROR(Advance());
      }
      if (token_ == Token::kComma || token_ == Token::kSemicolon) RETURN_IF_ERROR(Advance());
    }
    RETURN_IF_ERROR(Advance());
  }
  return absl::OkStatus();
}

// token_ is the arrow behind chain_from_.
absl::Status DotReader::ReadEdge(DotStatement* statement) {
  RETURN_IF_ERROR(Advance());
  if (token_ == Token::kEnd) return Fail("cut off behind \"->\"");
  if (token_ == Token::kOpenBrace || IsKeyword("subgraph")) {
    return Fail("a subgraph; write its edges one by one");
  }
  if (token_ != Token::kId) return Fail("a node's name is missing behind \"->\"");
  statement->kind = DotStatement::Kind::kEdge;
  statement->name = std::move(chain_from_);
  statement->to = text_;
  statement->label.reset();
  statement->byte_offset = statement_offset_;
  statement->line = statement_line_;
  RETURN_IF_ERROR(Advance());
  RETURN_IF_ERROR(SkipPort());
  in_chain_ = token_ == Token::kArrow;
  if (in_chain_) {
    chain_from_ = statement->to;
    return absl::OkStatus();
  }
  std::optional<std::string> label_of_edge;
  return ReadLists(&label_of_edge);
}

absl::StatusOr<bool> DotReader::Next(DotStatement* statement) {
  if (ended_) return false;
  if (!started_) RETURN_IF_ERROR(ReadHeader());
  while (!in_chain_) {
    if (token_ == Token::kSemicolon) {
      RETURN_IF_ERROR(Advance());
      continue;
    }
    if (token_ == Token::kCloseBrace) {
      RETURN_IF_ERROR(ReadEnd());
      return false;
    }
    if (token_ == Token::kEnd) return Fail("cut off: the graph's closing brace is missing");
    if (token_ == Token::kOpenBrace || IsKeyword("subgraph")) return Fail("a subgraph is not read");
    if (token_ != Token::kId) return Fail("a statement does not start with a name");
    if (IsKeyword("graph") || IsKeyword("node") || IsKeyword("edge")) {
      RETURN_IF_ERROR(ReadDefaults());
      continue;
    }
    statement_offset_ = token_offset_;
    statement_line_ = token_line_;
    std::string name = text_;
    RETURN_IF_ERROR(Advance());
    if (token_ == Token::kEquals) {  // An attribute of the graph.
      RETURN_IF_ERROR(Advance());
      if (token_ != Token::kId)
        return Fail(absl::StrCat("the value of ", Quote(name), " is missing"));
      RETURN_IF_ERROR(Advance());
      continue;
    }
    RETURN_IF_ERROR(SkipPort());
    if (token_ == Token::kArrow) {
      chain_from_ = std::move(name);
      break;
    }
    *statement = {DotStatement::Kind::kNode, std::move(name), "", std::nullopt,
                  statement_offset_,         statement_line_};
    RETURN_IF_ERROR(ReadLists(&statement->label));
    return true;
  }
  RETURN_IF_ERROR(ReadEdge(statement));
  return true;
}

}  // namespace chakrad
