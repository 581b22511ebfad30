// SPDX-License-Identifier: Apache-2.0
#include "cli/term/table.h"

#include <algorithm>
#include <cstddef>
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

std::string Table::Line(const std::vector<std::string>& cells,
                        const std::vector<int>& widths, int max_width) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto pad =
        static_cast<std::size_t>(widths[i] - DisplayWidth(cells[i]));
    if (i > 0) line += "  ";
    if (columns_[i].align == Align::kRight) line.append(pad, ' ');
    line += cells[i];
    if (columns_[i].align == Align::kLeft) line.append(pad, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return FitToWidth(line, max_width) + "\n";
}

std::string Table::Render(int max_width) const {
  const std::vector<int> widths = Widths();
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = Line(titles, widths, max_width);
  for (const auto& row : rows_) text += Line(row, widths, max_width);
  return text;
}

}  // namespace frostline::cli
