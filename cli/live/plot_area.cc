// SPDX-License-Identifier: Apache-2.0
#include "cli/live/plot_area.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace frostline::cli {
namespace {

constexpr unsigned kBraille = 0x2800;
// The bit of each dot of a character: by row from the top, then by column.
constexpr unsigned kBit[4][2] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
constexpr int kFewestDigits = 4;
constexpr int kMostDigits = 12;

// Which of `count` places a share falls into.
int PlaceOf(double share, int count) {
  return static_cast<int>(
      std::lround(std::clamp(share, 0.0, 1.0) * (count - 1)));
}

// Of the block U+2800, which takes three bytes of UTF-8.
std::string Utf8OfDots(unsigned dots) {
  const unsigned code = kBraille + dots;
  return {static_cast<char>(0xE0 | (code >> 12)),
          static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

std::string Blanks(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

std::string Repeated(const char* text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

int Columns(const std::string& ascii) { return static_cast<int>(ascii.size()); }

// The ends of the axis below the plot, which share one line.
std::string AcrossLabels(const PlotRange& across, int columns) {
  const std::string left = across.Label(across.At(0.0));
  if (across.is_one_value()) {
    const int before = (columns - Columns(left)) / 2;
    return Blanks(before) + left;
  }
  const std::string right = across.Label(across.At(1.0));
  const int between = columns - Columns(left) - Columns(right);
  return between < 1 ? left : absl::StrCat(left, Blanks(between), right);
}

// The ends and the middle have one; where all values are one, the middle.
std::string RowLabel(const PlotRange& up, int row, int rows) {
  const bool is_end = row == 0 || row == rows - 1;
  const bool is_middle = row == (rows - 1) / 2;
  if (!is_middle && (!is_end || up.is_one_value())) return "";
  const double share =
      rows == 1 ? 0.5 : 1.0 - static_cast<double>(row) / (rows - 1);
  return up.Label(up.At(share));
}

}  // namespace

void PlotRange::Show(double value) {
  if (!std::isfinite(value)) return;
  const bool is_first = empty();
  lo_ = is_first ? value : std::min(lo_, value);
  hi_ = is_first ? value : std::max(hi_, value);
}

double PlotRange::ShareOf(double value) const {
  if (is_one_value()) return 0.5;
  // Halves: the difference of the ends may be too large for a number.
  return (value / 2.0 - lo_ / 2.0) / (hi_ / 2.0 - lo_ / 2.0);
}

double PlotRange::At(double share) const {
  return lo_ * (1.0 - share) + hi_ * share;
}

std::string PlotRange::Label(double value) const {
  const double largest = std::max(std::abs(lo_), std::abs(hi_));
  int digits = kFewestDigits;
  if (!is_one_value() && largest > 0.0) {
    const double span = hi_ / 2.0 - lo_ / 2.0;
    digits =
        2 + static_cast<int>(std::ceil(std::log10(largest) - std::log10(span)));
  }
  return absl::StrFormat("%.*g", std::clamp(digits, kFewestDigits, kMostDigits),
                         value);
}

PlotArea::PlotArea(int columns, int rows)
    : columns_(std::max(1, columns)),
      rows_(std::max(1, rows)),
      cells_(static_cast<std::size_t>(columns_) *
             static_cast<std::size_t>(rows_)) {}

PlotArea::Cell& PlotArea::At(int column, int row) {
  return cells_[static_cast<std::size_t>(row * columns_ + column)];
}

void PlotArea::Dot(double across, double up) {
  const int x = PlaceOf(across, 2 * columns_);
  const int y = PlaceOf(1.0 - up, 4 * rows_);
  At(x / 2, y / 4).dots |= kBit[y % 4][x % 2];
}

void PlotArea::Line(double across, double up, double to_across, double to_up) {
  const double steps =
      1.0 + std::max(std::abs(to_across - across) * 2 * columns_,
                     std::abs(to_up - up) * 4 * rows_);
  for (double step = 0.0; step <= steps; ++step) {
    const double share = step / steps;
    Dot(across + share * (to_across - across), up + share * (to_up - up));
  }
  Dot(to_across, to_up);
}

void PlotArea::Mark(double across, double up, char mark) {
  At(PlaceOf(across, columns_), PlaceOf(1.0 - up, rows_)).mark = mark;
}

void PlotArea::MarkLine(double across, double up, double to_across,
                        double to_up, char mark) {
  const int from = PlaceOf(across, columns_);
  const int to = PlaceOf(to_across, columns_);
  Mark(across, up, mark);
  for (int column = from + 1; column < to; ++column) {
    const double share = static_cast<double>(column - from) / (to - from);
    At(column, PlaceOf(1.0 - (up + share * (to_up - up)), rows_)).mark = mark;
  }
  Mark(to_across, to_up, mark);
}

std::string PlotArea::RowText(int row) const {
  std::string text;
  for (int column = 0; column < columns_; ++column) {
    const Cell& cell =
        cells_[static_cast<std::size_t>(row * columns_ + column)];
    if (cell.mark != '\0') {
      text += cell.mark;
    } else {
      text += cell.dots == 0 ? " " : Utf8OfDots(cell.dots);
    }
  }
  // Blanks at the end say nothing.
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string PlotArea::Framed(const PlotRange& across,
                             const PlotRange& up) const {
  const int label_columns = LabelColumns(up, rows_);
  std::string text;
  for (int row = 0; row < rows_; ++row) {
    const std::string label = RowLabel(up, row, rows_);
    absl::StrAppend(&text, Blanks(label_columns - Columns(label)), label,
                    label.empty() ? " │" : " ┤", RowText(row), "\n");
  }
  absl::StrAppend(&text, Blanks(label_columns), " └", Repeated("─", columns_),
                  "\n", Blanks(label_columns + 2),
                  AcrossLabels(across, columns_), "\n");
  return text;
}

int LabelColumns(const PlotRange& up, int rows) {
  int columns = 0;
  for (int row = 0; row < rows; ++row) {
    columns = std::max(columns, Columns(RowLabel(up, row, rows)));
  }
  return columns;
}

}  // namespace frostline::cli
