// SPDX-License-Identifier: Apache-2.0
#include "cli/term/table.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "cli/term/utf8.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxCellBytes = 1000;

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = proto::CleanText(cell, kMaxCellBytes);
  rows_.push_back(std::move(cells));
}

std::vector<int> Table::Widths() const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = DisplayWidth(columns_[i].title);
    for (const auto& row : rows_) {
      width = std::max(width, DisplayWidth(row[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::size_t> Table::Shown(const std::vector<int>& widths,
                                      int max_width) const {
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  // Two blanks before each but the first; the "…" of what is left out.
  int total = std::accumulate(widths.begin(), widths.end(),
                              2 * (static_cast<int>(widths.size()) - 1));
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
  if (shown.size() < columns_.size()) head += " …";
  std::string text = FitToWidth(head, max_width) + "\n";
  for (const auto& row : rows_) {
    text += FitToWidth(Line(row, widths, shown), max_width) + "\n";
  }
  return text;
}

}  // namespace frostline::cli
