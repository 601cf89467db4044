#include "client/table.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace chakrad::client {
namespace {

// Code points, not bytes: labels and node names may hold any language.
size_t WidthOf(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size()) << cells.size() << " cells, " << columns_.size();
  rows_.push_back(std::move(cells));
}

std::string Table::Text() const {
  std::vector<std::vector<std::string>> lines(1);
  bool any_unit = false;
  for (const Column& column : columns_) {
    lines[0].push_back(column.heading);
    any_unit = any_unit || !column.unit.empty();
  }
  if (any_unit) {
    lines.emplace_back();
    for (const Column& column : columns_) lines[1].push_back(column.unit);
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], WidthOf(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string out;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - WidthOf(line[i]), ' ');
      if (i > 0) out += "  ";
      out += columns_[i].align == Align::kRight ? padding + line[i] : line[i] + padding;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

}  // namespace chakrad::client
