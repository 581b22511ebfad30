// SPDX-License-Identifier: Apache-2.0
//
// File: table.h
//
// Columns stand two blanks apart, easy to read and to cut with awk. Control
// characters in cells (an escape sequence in a label) never reach the terminal.
#ifndef FROSTLINE_CLI_TERM_TABLE_H_
#define FROSTLINE_CLI_TERM_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace frostline::cli {

enum class Align { kLeft, kRight };

// Where the terminal is narrow those of the highest `spare` are left out first,
// the last of them before the others; those of 0 stay.
struct Column {
  std::string title;
  Align align = Align::kLeft;
  int spare = 0;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Leaves missing cells empty. REQUIRES: no more cells than columns.
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Fits lines to `max_width` columns (0: never): by leaving out columns, which
  // "…" behind the titles says, then by cutting.
  std::string Render(int max_width = 0) const;

 private:
  std::vector<int> Widths() const;
  // Returns the places of the columns that are shown.
  std::vector<std::size_t> Shown(const std::vector<int>& widths,
                                 int max_width) const;
  std::string Line(const std::vector<std::string>& cells,
                   const std::vector<int>& widths,
                   const std::vector<std::size_t>& shown) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TABLE_H_
