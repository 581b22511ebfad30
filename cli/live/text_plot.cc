// SPDX-License-Identifier: Apache-2.0
#include "cli/live/text_plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/term/table.h"
#include "cli/view/importance_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr unsigned kBraille = 0x2800;
// The bit of each dot of a character: by row from the top, then by column.
constexpr unsigned kBit[4][2] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
constexpr int kFewestDigits = 4;
constexpr int kMostDigits = 12;

// Returns which of `count` places a share falls into.
int PlaceOf(double share, int count) {
  return static_cast<int>(
      std::lround(std::clamp(share, 0.0, 1.0) * (count - 1)));
}

// Returns the character of the block U+2800, which takes three bytes of UTF-8.
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

// Returns the two ends of the axis below the plot, in one line.
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

// Returns the label of a row: at the ends and in the middle; only in the middle
// when all values are equal.
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

namespace {

constexpr int kFewestPlotColumns = 20;
constexpr int kFewestRows = 3;
constexpr int kFrameColumns = 2;  // a blank and the axis
constexpr std::size_t kMostLetters = 26;
constexpr std::size_t kMaxPlotName = 100;

bool IsFinite(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

struct Ranges {
  PlotRange across;
  PlotRange up;
  int left_out = 0;

  void Show(const Curve& curve) {
    for (const auto& point : curve.points) {
      if (IsFinite(point)) {
        across.Show(point.first);
        up.Show(point.second);
      } else {
        ++left_out;
      }
    }
  }
  bool empty() const { return across.empty(); }
};

PlotArea AreaFor(const Ranges& ranges, int width, int height) {
  const int rows = std::max(height, kFewestRows);
  return {std::max(width, kFewestPlotColumns) - kFrameColumns -
              LabelColumns(ranges.up, rows),
          rows};
}

// Follows a curve. A value that is not finite breaks the line.
template <typename Join, typename Show>
void Follow(const Curve& curve, const Ranges& ranges, Show show, Join join) {
  const std::pair<double, double>* before = nullptr;
  for (const auto& point : curve.points) {
    if (!IsFinite(point)) {
      before = nullptr;
      continue;
    }
    const double x = ranges.across.ShareOf(point.first);
    const double y = ranges.up.ShareOf(point.second);
    if (before == nullptr) {
      show(x, y);
    } else {
      join(ranges.across.ShareOf(before->first),
           ranges.up.ShareOf(before->second), x, y);
    }
    before = &point;
  }
}

std::string LeftOutText(int left_out) {
  if (left_out == 0) return "";
  return absl::StrCat(left_out, left_out == 1 ? " value is" : " values are",
                      " not finite: left out\n");
}

std::string Nothing(int left_out) {
  return absl::StrCat("no values to plot\n", LeftOutText(left_out));
}

std::string LineOf(const std::string& text, int width) {
  return FitToWidth(proto::CleanText(text, kMaxPlotName),
                    std::max(width, kFewestPlotColumns)) +
         "\n";
}

char LetterOf(std::size_t i) {
  return static_cast<char>('a' + static_cast<int>(i % kMostLetters));
}

void DrawWithLetter(const Curve& curve, const Ranges& ranges, char letter,
                    PlotArea* area) {
  Follow(
      curve, ranges, [&](double x, double y) { area->Mark(x, y, letter); },
      [&](double x, double y, double to_x, double to_y) {
        area->MarkLine(x, y, to_x, to_y, letter);
      });
}

void DrawWithDots(const Curve& curve, const Ranges& ranges, PlotArea* area) {
  Follow(
      curve, ranges, [&](double x, double y) { area->Dot(x, y); },
      [&](double x, double y, double to_x, double to_y) {
        area->Line(x, y, to_x, to_y);
      });
}

// Draws the best value so far; it stays level until a better one comes.
void DrawSteps(const Curve& curve, const Ranges& ranges, PlotArea* area) {
  Follow(
      curve, ranges, [&](double x, double y) { area->Dot(x, y); },
      [&](double x, double y, double to_x, double to_y) {
        area->Line(x, y, to_x, y);
        area->Line(to_x, y, to_x, to_y);
      });
}

}  // namespace

std::string PlotCurves(const std::vector<Curve>& curves, int width,
                       int height) {
  Ranges ranges;
  for (const Curve& curve : curves) ranges.Show(curve);
  if (ranges.empty()) return Nothing(ranges.left_out);
  PlotArea area = AreaFor(ranges, width, height);
  std::string legend;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (curves.size() == 1) {
      DrawWithDots(curves[i], ranges, &area);
      if (!curves[i].name.empty()) legend = LineOf(curves[i].name, width);
      continue;
    }
    DrawWithLetter(curves[i], ranges, LetterOf(i), &area);
    legend += LineOf(
        absl::StrCat(std::string(1, LetterOf(i)), "  ", curves[i].name), width);
  }
  return absl::StrCat(area.Framed(ranges.across, ranges.up), legend,
                      LeftOutText(ranges.left_out));
}

std::string PlotHistory(const Curve& values, const Curve& best, int width,
                        int height) {
  Ranges ranges;
  ranges.Show(values);
  if (ranges.empty()) return Nothing(ranges.left_out);
  PlotArea area = AreaFor(ranges, width, height);
  for (const auto& point : values.points) {
    if (!IsFinite(point)) continue;
    area.Mark(ranges.across.ShareOf(point.first),
              ranges.up.ShareOf(point.second), 'o');
  }
  DrawSteps(best, ranges, &area);
  return absl::StrCat(area.Framed(ranges.across, ranges.up),
                      LeftOutText(ranges.left_out));
}

namespace {

constexpr int kFewestColumns = 30;
constexpr int kShareColumns = 7;  // "100.0 %"
constexpr int kMarkColumns = 3;   // the mark between blanks
constexpr std::size_t kMaxName = 200;

double UpperEnd(const v1::Interval& interval) {
  const double value = std::isfinite(interval.value()) ? interval.value() : 0.0;
  return std::isfinite(interval.hi80()) ? std::max(value, interval.hi80())
                                        : value;
}

int ColumnOf(double share, double scale, int columns) {
  if (!(scale > 0.0) || !std::isfinite(share)) return 0;
  return static_cast<int>(
      std::lround(std::clamp(share / scale, 0.0, 1.0) * columns));
}

// Returns "██├██──┤": a bar up to the value, with the interval over it.
std::string BarOf(const v1::Interval& interval, double scale, int columns) {
  const int value = ColumnOf(interval.value(), scale, columns);
  std::string bar;
  if (!std::isfinite(interval.lo80()) || !std::isfinite(interval.hi80())) {
    for (int i = 0; i < value; ++i) bar += "█";
    return bar;
  }
  const int last = std::max(0, ColumnOf(interval.hi80(), scale, columns) - 1);
  const int first = std::min(last, ColumnOf(interval.lo80(), scale, columns));
  for (int i = 0; i < std::max(value, last + 1); ++i) {
    if (i == first && first < last) {
      bar += "├";
    } else if (i == last && first < last) {
      bar += "┤";
    } else {
      bar += i < value ? "█" : "─";
    }
  }
  return bar;
}

std::string Padded(const std::string& text, int width) {
  const std::string fit = FitToWidth(text, width);
  return fit + std::string(static_cast<std::size_t>(
                               std::max(0, width - DisplayWidth(fit))),
                           ' ');
}

// Returns the mark of the parameter's modules. There is none when they differ
// or when nothing is known.
const char* PlotMarkOf(const v1::ParameterImportance& row,
                       const std::map<std::string, bool>& is_frozen) {
  int frozen = 0;
  int trained = 0;
  for (const std::string& module : row.modules()) {
    const auto found = is_frozen.find(module);
    if (found == is_frozen.end()) continue;
    ++(found->second ? frozen : trained);
  }
  if (frozen > 0 && trained == 0) return " * ";
  return trained > 0 && frozen == 0 ? " + " : "   ";
}

}  // namespace

std::string PlotImportance(const v1::ImportanceReport& report,
                           const std::map<std::string, bool>& is_frozen,
                           int width) {
  width = std::max(width, kFewestColumns);
  int name_columns = 0;
  double scale = 0.0;
  for (const v1::ParameterImportance& row : report.parameters()) {
    name_columns = std::max(name_columns, DisplayWidth(row.parameter()));
    scale = std::max(scale, UpperEnd(row.main()));
  }
  if (report.parameters().empty()) return "no parameters to plot\n";
  name_columns = std::min(name_columns, width / 3);
  const int bar_columns =
      width - name_columns - kMarkColumns - kShareColumns - 1;
  std::string text;
  for (const v1::ParameterImportance& row : report.parameters()) {
    const std::string share = Percent(row.main().value());
    absl::StrAppend(
        &text,
        Padded(proto::CleanText(row.parameter(), kMaxName), name_columns),
        PlotMarkOf(row, is_frozen),
        std::string(
            kShareColumns - std::min<std::size_t>(share.size(), kShareColumns),
            ' '),
        share, " ", BarOf(row.main(), scale, bar_columns), "\n");
  }
  return absl::StrCat(
      text, "\n",
      WrapText("bars: share of the variance; ├ ┤: its 80 % interval; * frozen, "
               "+ trained in the best trial",
               width));
}

}  // namespace frostline::cli
