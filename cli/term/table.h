// SPDX-License-Identifier: Apache-2.0
//
// File: table.h
//
// Tables of text. Columns are two blanks apart, easy to read and to cut with
// awk. Control characters in cells (an escape sequence in a label) never reach
// the terminal.
#ifndef FROSTLINE_CLI_TERM_TABLE_H_
#define FROSTLINE_CLI_TERM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace frostline::cli {

// The width of UTF-8 text. An invalid byte counts as one column.

// Return the width in columns: 2 for wide characters (CJK, emoji), 0 for
// combining marks, 1 for others.
int CharWidth(char32_t code);
int DisplayWidth(std::string_view text);

// Cuts the text to `width` columns; a cut text ends with "…".
std::string FitToWidth(const std::string& text, int width);

// Breaks lines at blanks so that they fit, each with a newline. A word that is
// too long gets its own line. A width below 1 breaks nothing.
std::string WrapText(const std::string& text, int width);

// CSV as in RFC 4180: quotes where needed and CR LF. Numbers have a dot
// whatever the locale.

// Returns a line with its line end.
std::string CsvLine(const std::vector<std::string>& cells);

// Returns the shortest text that reads back as the same value. NaN is "",
// infinities are "inf" and "-inf".
std::string CsvNumber(double value);

enum class Align { kLeft, kRight };

// A column of a table. On a narrow terminal columns are left out: first those
// that are empty in all rows, then those with the highest `spare`, from the
// right. Columns with `spare` 0 stay as long as their numbers fit.
struct Column {
  std::string title;
  Align align = Align::kLeft;
  int spare = 0;
  bool on_demand = false;  // only when asked for, and in CSV
  // The name for programs. If empty, it is the title in lower case:
  // "best_trial".
  std::string name = {};
  // As the last shown column, it continues a long text on the lines below.
  bool wraps = false;
};

// The text for people, and the text for CSV and sorting; if `exact` is empty,
// both are the same.
struct Cell {
  std::string shown;
  std::string exact = {};
};

// A table for people, programs or sorting.
class Table {
 public:
  // `noun` says what a row is, for remarks: "trial".
  explicit Table(std::vector<Column> columns, std::string noun = "")
      : columns_(std::move(columns)), noun_(std::move(noun)) {}

  // Adds a row; missing cells are empty. REQUIRES: no more cells than columns.
  void AddRow(std::vector<std::string> cells);
  void AddCells(std::vector<Cell> cells);
  // Adds a remark about the last row, shown below the table. Rows with the same
  // remark are listed together by their first cells.
  void Remark(std::string text) { rows_.back().remark = std::move(text); }
  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }

  // Returns the names of all columns, including those on demand.
  std::vector<std::string> Names() const;
  // Finds a column by name or title. If none matches exactly, it ignores case.
  std::optional<std::size_t> Find(const std::string& column) const;
  // Returns the order of the rows by that column: numbers by value, then text,
  // then missing cells. Equal rows keep their order.
  std::vector<std::size_t> Order(std::size_t column, bool highest_first) const;

  Table WithColumns(const std::vector<std::size_t>& places) const;
  Table WithRows(const std::vector<std::size_t>& places) const;

  // Returns the table with lines of at most `max_width` columns (0: no limit).
  // To fit, it first leaves out columns, marked by "…" after the titles, and
  // then cuts texts.
  std::string Render(int max_width = 0) const;
  // Returns the titles of what Render leaves out although it has cells.
  std::vector<std::string> LeftOut(int max_width) const;
  // Returns CSV with all columns and without remarks.
  std::string Csv() const;

 private:
  struct Row {
    std::vector<std::string> shown;
    std::vector<std::string> exact;
    std::string remark;
  };

  std::vector<int> Widths() const;
  bool IsEmpty(std::size_t column) const;
  // Returns whether a column holds numbers, intervals or times, which may not
  // be cut.
  bool IsOfNumbers(std::size_t column) const;
  // Returns the least useful width of a column that wraps, else its full width.
  int Need(std::size_t column, const std::vector<int>& widths) const;
  // Returns the indexes of the columns that are shown.
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
