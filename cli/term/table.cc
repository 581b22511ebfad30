// SPDX-License-Identifier: Apache-2.0
#include "cli/term/table.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/term/utf8.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxCellBytes = 1000;
constexpr std::size_t kMaxExactBytes = 64 << 10;
constexpr std::size_t kNamedRows = 5;

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  std::vector<Cell> same;
  same.reserve(cells.size());
  for (std::string& cell : cells) same.push_back({std::move(cell)});
  AddCells(std::move(same));
}

void Table::AddCells(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  Row row;
  row.exact.reserve(cells.size());
  row.shown.reserve(cells.size());
  for (const Cell& cell : cells) {
    const std::string& exact = cell.exact.empty() ? cell.shown : cell.exact;
    row.exact.push_back(proto::CleanText(exact, kMaxExactBytes));
    row.shown.push_back(proto::CleanText(cell.shown, kMaxCellBytes));
  }
  rows_.push_back(std::move(row));
}

std::vector<int> Table::Widths() const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = DisplayWidth(columns_[i].title);
    for (const Row& row : rows_) {
      width = std::max(width, DisplayWidth(row.shown[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::size_t> Table::Shown(const std::vector<int>& widths,
                                      int max_width) const {
  std::vector<std::size_t> shown;
  // Two blanks before each but the first; the "…" of what is left out.
  int total = -2;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].on_demand) continue;
    shown.push_back(i);
    total += widths[i] + 2;
  }
  int limit = max_width;
  while (max_width > 0 && total > limit) {
    auto least = shown.end();
    for (auto place = shown.begin(); place != shown.end(); ++place) {
      const int spare = columns_[*place].spare;
      const bool is_last = least == shown.end()
                               ? spare > 0
                               : spare > 0 && spare >= columns_[*least].spare;
      if (is_last) least = place;
    }
    if (least == shown.end()) break;
    total -= widths[*least] + 2;
    limit = max_width - 2;
    shown.erase(least);
  }
  return shown;
}

std::string Table::Line(const std::vector<std::string>& cells,
                        const std::vector<int>& widths,
                        const std::vector<std::size_t>& shown) const {
  std::string line;
  for (const std::size_t i : shown) {
    const auto pad =
        static_cast<std::size_t>(widths[i] - DisplayWidth(cells[i]));
    if (i != shown.front()) line += "  ";
    if (columns_[i].align == Align::kRight) line.append(pad, ' ');
    line += cells[i];
    if (columns_[i].align == Align::kLeft) line.append(pad, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Table::Render(int max_width) const {
  const std::vector<int> widths = Widths();
  const std::vector<std::size_t> shown = Shown(widths, max_width);
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string head = Line(titles, widths, shown);
  const auto usual =
      std::count_if(columns_.begin(), columns_.end(),
                    [](const Column& column) { return !column.on_demand; });
  if (shown.size() < static_cast<std::size_t>(usual)) head += " …";
  std::string text = FitToWidth(head, max_width) + "\n";
  for (const Row& row : rows_) {
    text += FitToWidth(Line(row.shown, widths, shown), max_width) + "\n";
  }
  return text + Remarks(max_width);
}

std::string Table::Remarks(int max_width) const {
  std::map<std::string, std::vector<std::string>> rows_of;
  for (const Row& row : rows_) {
    if (!row.remark.empty()) rows_of[row.remark].push_back(row.shown.front());
  }
  std::string text;
  for (const auto& [remark, rows] : rows_of) {
    const auto named =
        static_cast<std::ptrdiff_t>(std::min(rows.size(), kNamedRows));
    std::string line =
        absl::StrCat(noun_, rows.size() == 1 ? " " : "s ",
                     absl::StrJoin(rows.begin(), rows.begin() + named, ", "));
    if (rows.size() > kNamedRows) {
      absl::StrAppend(&line, " and ", rows.size() - kNamedRows, " more");
    }
    absl::StrAppend(&line, ": ",
                    proto::CleanText(remark, proto::kMaxCauseBytes));
    absl::StrAppend(&text, text.empty() ? "\n" : "", WrapText(line, max_width));
  }
  return text;
}

}  // namespace frostline::cli
