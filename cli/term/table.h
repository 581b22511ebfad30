// SPDX-License-Identifier: Apache-2.0
//
// File: table.h
//
// Rows of text in aligned columns, two blanks apart, no frame: easy to read and
// easy to cut with awk. Cells are made safe first: control characters (an
// escape sequence in a study's label, say) never reach the terminal.
//
//   Table table({{"ID"}, {"TRIALS", Align::kRight}});
//   table.AddRow({"imdb", "200"});
//   std::cout << table.Render(terminal.width);
#ifndef FROSTLINE_CLI_TERM_TABLE_H_
#define FROSTLINE_CLI_TERM_TABLE_H_

#include <string>
#include <vector>

namespace frostline::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells are empty; REQUIRES: no more cells than columns.
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // A line for the titles and one for each row. Lines are cut at `max_width`
  // columns; 0: never.
  std::string Render(int max_width = 0) const;

 private:
  std::vector<int> Widths() const;
  std::string Line(const std::vector<std::string>& cells,
                   const std::vector<int>& widths, int max_width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TABLE_H_
