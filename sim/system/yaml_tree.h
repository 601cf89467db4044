// YAML text as a small tree of plain data, in bounded time and memory.
#ifndef CHAKRAD_SIM_SYSTEM_YAML_TREE_H_
#define CHAKRAD_SIM_SYSTEM_YAML_TREE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"

namespace chakrad {

struct YamlNode {
  enum class Kind : uint8_t { kNothing = 0, kScalar = 1, kList = 2, kMap = 3 };
  Kind kind = Kind::kNothing;
  bool quoted = false;            // kScalar: "400" is text, 400 is a number.
  int line = 0;                   // 1-based, in the file.
  std::string text;               // kScalar.
  std::vector<std::string> keys;  // kMap: parallel to items, as written; none twice.
  std::vector<YamlNode> items;    // kList: entries; kMap: values.

  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_scalar() const { return kind == Kind::kScalar; }
};

// One document; aliases are replaced by copies of what they name. An empty text is kNothing.
// INVALID_ARGUMENT, with the line: text that is no YAML, a key that stands twice or is no plain
// text, more than one document, and what is over the limits of sim/limits.h (bytes of the text;
// depth; nodes, aliases expanded). Thread-safe.
absl::StatusOr<YamlNode> ParseYaml(absl::string_view text);

}  // namespace chakrad

#endif  // CHAKRAD_SIM_SYSTEM_YAML_TREE_H_
