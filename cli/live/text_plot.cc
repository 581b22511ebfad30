// SPDX-License-Identifier: Apache-2.0
#include "cli/live/text_plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "cli/live/plot_area.h"
#include "cli/term/utf8.h"
#include "proto/wire_error.h"

namespace frostline::cli {
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

// A value that is not finite breaks the line.
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

// It stays at what was best until something is better.
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

}  // namespace frostline::cli
