// The part of graphviz' dot language that task graphs are written in, statement by
// statement: `digraph name { ... }` of nodes, edges and attribute lists.
//
// Why not graphviz' own library: libcgraph builds the whole graph in memory, at some
// 500 bytes a node, knows lines but no byte offsets, and speaks to stderr. Task graphs
// need a tenth of the language.
//
// Read: `digraph` and `strict digraph`; identifiers, numerals and quoted strings (\" is
// a quote, a backslash before a line's end joins lines, `+` joins strings; other
// backslashes stay, they belong to record labels); chains a -> b -> c; ports, which are
// dropped; attribute lists, of which a node's label is handed on; attributes and
// defaults of the graph, which are dropped; //, /* */ and # comments; `;` or none.
// Not read, INVALID_ARGUMENT: undirected graphs, subgraphs, HTML-like strings, a default
// label, anything behind the closing brace.
#ifndef CHAKRAD_TRACE_READERS_FLEXFLOW_DOT_READER_H_
#define CHAKRAD_TRACE_READERS_FLEXFLOW_DOT_READER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

class ByteSource;  // trace/readers/byte_source.h

struct DotStatement {
  enum class Kind : uint8_t { kNode, kEdge };
  Kind kind = Kind::kNode;
  std::string name;                  // Of a node; of an edge, where it starts.
  std::string to;                    // Of an edge.
  std::optional<std::string> label;  // Of a node, when it states one.
  int64_t byte_offset = 0;           // Of the statement, in the uncompressed file.
  int64_t line = 0;                  // 1-based.
};

// Not thread-safe. Memory: one buffer and one statement, whose strings are bounded by
// kMaxNameBytes. No recursion.
class DotReader {
 public:
  // `source` must outlive this.
  explicit DotReader(ByteSource* source);

  // The next node or edge (of a chain each edge on its own); false after the graph's
  // closing brace at the file's end. INVALID_ARGUMENT starts with "byte offset N, line L: ".
  absl::StatusOr<bool> Next(DotStatement* statement);

 private:
  enum class Token : uint8_t {
    kEnd,
    kId,
    kArrow,
    kOpenList,
    kCloseList,
    kOpenBrace,
    kCloseBrace,
    kSemicolon,
    kComma,
    kEquals,
    kColon,
  };

  absl::Status Fail(absl::string_view what) const;
  absl::StatusOr<int> Peek();
  void Skip();
  absl::Status SkipSpace();
  absl::Status SkipBlockComment();
  absl::Status Advance();
  absl::Status ReadWord(char first);
  absl::Status ReadQuoted();
  absl::Status ReadQuotedPiece();
  absl::Status Append(char c);

  bool IsKeyword(absl::string_view keyword) const;
  absl::Status ReadHeader();
  absl::Status ReadEnd();
  absl::Status ReadDefaults();
  absl::Status SkipPort();
  absl::Status ReadLists(std::optional<std::string>* label);
  absl::Status ReadEdge(DotStatement* statement);

  ByteSource* source_;
  std::string buffer_;
  size_t begin_ = 0, end_ = 0;
  int64_t line_ = 1;
  bool line_begins_ = true;

  // The token that is looked at.
  Token token_ = Token::kEnd;
  std::string text_;  // Of an identifier.
  bool quoted_ = false;
  int64_t token_offset_ = 0, token_line_ = 1;

  bool started_ = false;
  bool ended_ = false;
  bool in_chain_ = false;  // token_ is the arrow behind chain_from_.
  std::string chain_from_;
  int64_t statement_offset_ = 0, statement_line_ = 1;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_FLEXFLOW_DOT_READER_H_
