// Aligned columns for a terminal.
#ifndef CHAKRAD_CLIENT_TABLE_H_
#define CHAKRAD_CLIENT_TABLE_H_

#include <string>
#include <utility>
#include <vector>

namespace chakrad::client {

// Numbers stand right, words left; a line with units under the headings when a
// column has one. No trailing blanks.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    std::string unit;  // May be empty.
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column: CHECKed.
  void AddRow(std::vector<std::string> cells);
  std::string Text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_TABLE_H_
