// SPDX-License-Identifier: Apache-2.0
//
// File: table.h
//
// Columns stand two blanks apart, easy to read and to cut with awk. Control
// characters in cells (an escape sequence in a label) never reach the terminal.
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

  // Leaves missing cells empty. REQUIRES: no more cells than columns.
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Cuts lines at `max_width` columns (0: never).
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
