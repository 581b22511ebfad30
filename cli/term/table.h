// SPDX-License-Identifier: Apache-2.0
//
// File: table.h
//
// Columns stand two blanks apart, easy to read and to cut with awk. Control
// characters in cells (an escape sequence in a label) never reach the terminal.
#ifndef FROSTLINE_CLI_TERM_TABLE_H_
#define FROSTLINE_CLI_TERM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace frostline::cli {

// RFC 4180 asks for quotes where needed and CR LF; numbers have dots whatever
// the locale.

// Ends the line too.
std::string CsvLine(const std::vector<std::string>& cells);

// Returns the shortest text that reads back the same; NaN is "", infinities are
// "inf" and "-inf".
std::string CsvNumber(double value);

enum class Align { kLeft, kRight };

// Where the terminal is narrow those that are empty in all rows are left out
// first, then those of the highest `spare`, the last of them before the others;
// those of 0 stay, as far as their numbers fit whole.
struct Column {
  std::string title;
  Align align = Align::kLeft;
  int spare = 0;
  bool on_demand = false;  // only where it is picked, and in CSV
  // How programs call it; empty: the title in small letters, "best_trial".
  std::string name = {};
  // As the last that is shown, it goes on in lines below where it is too long.
  bool wraps = false;
};

// What people see, and what CSV and sorting take; empty: the same.
struct Cell {
  std::string shown;
  std::string exact = {};
};

class Table {
 public:
  // `noun` is what a row is, for remarks: "trial".
  explicit Table(std::vector<Column> columns, std::string noun = "")
      : columns_(std::move(columns)), noun_(std::move(noun)) {}

  // Leaves missing cells empty. REQUIRES: no more cells than columns.
  void AddRow(std::vector<std::string> cells);
  void AddCells(std::vector<Cell> cells);
  // Says something of the last row, below the table. Rows of which the same is
  // said are named together, by their first cells.
  void Remark(std::string text) { rows_.back().remark = std::move(text); }
  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }

  // The names of all columns, those on demand too.
  std::vector<std::string> Names() const;
  // Takes a name or a title; where none is written so, in any case.
  std::optional<std::size_t> Find(const std::string& column) const;
  // The rows' places by that column: numbers as such, then text, then what is
  // missing. Rows that are equal keep their order.
  std::vector<std::size_t> Order(std::size_t column, bool highest_first) const;

  Table WithColumns(const std::vector<std::size_t>& places) const;
  Table WithRows(const std::vector<std::size_t>& places) const;

  // Fits lines to `max_width` columns (0: never): by leaving out columns, which
  // "…" behind the titles says, then by cutting texts.
  std::string Render(int max_width = 0) const;
  // Has all columns, and no remarks.
  std::string Csv() const;

 private:
  struct Row {
    std::vector<std::string> shown;
    std::vector<std::string> exact;
    std::string remark;
  };

  std::vector<int> Widths() const;
  bool IsEmpty(std::size_t column) const;
  // Numbers, intervals, times: what may not be cut.
  bool IsOfNumbers(std::size_t column) const;
  // Of a column that wraps the least that is worth it.
  int Need(std::size_t column, const std::vector<int>& widths) const;
  // Returns the places of the columns that are shown.
  std::vector<std::size_t> Shown(const std::vector<int>& widths,
                                 int max_width) const;
  std::string Line(const std::vector<std::string>& cells,
                   const std::vector<int>& widths,
                   const std::vector<std::size_t>& shown) const;
  std::string Lines(const Row& row, const std::vector<int>& widths,
                    const std::vector<std::size_t>& shown, int max_width) const;
  std::string Remarks(int max_width) const;

  std::vector<Column> columns_;
  std::string noun_;
  std::vector<Row> rows_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TABLE_H_
