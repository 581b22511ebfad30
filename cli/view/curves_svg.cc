// SPDX-License-Identifier: Apache-2.0
//
// Marginal curves and tables of two parameters as pictures.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/importance_svg.h"
#include "cli/view/svg.h"

namespace frostline::cli {
namespace {

constexpr int kPlotsInARow = 3;
constexpr double kPlotWidth = 236.0;
constexpr double kCurvePlotHeight = 160.0;
constexpr double kHead = 56.0;
constexpr double kLeft = 52.0;
constexpr double kRoof = 26.0;
constexpr double kFloor = 28.0;
constexpr double kCell = 64.0;

struct Range {
  double lo = std::numeric_limits<double>::infinity();
  double hi = -std::numeric_limits<double>::infinity();

  void Add(double value) {
    lo = std::fmin(lo, value);  // leaves out NaN
    hi = std::fmax(hi, value);
  }
  double ShareOf(double value) const {
    return hi > lo ? (value - lo) / (hi - lo) : 0.5;
  }
};

std::string CurveValueText(const google::protobuf::Value& value) {
  return FitToWidth(FormatValue(value), 12);
}

// One scale for all plots, so that their heights compare.
Range CurveRangeOf(const v1::GetMarginalsReply& reply) {
  Range range;
  for (const v1::Marginal& marginal : reply.marginals()) {
    for (const v1::MarginalPoint& point : marginal.points()) {
      range.Add(point.expected().value());
      range.Add(point.expected().lo80());
      range.Add(point.expected().hi80());
    }
  }
  return range;
}

void DrawPlot(Svg& svg, const v1::Marginal& marginal, const Range& range,
              double x, double y) {
  const double width = kPlotWidth - kLeft - 16;
  const double height = kCurvePlotHeight - kRoof - kFloor;
  const int points = marginal.points_size();
  const auto across = [&](int i) {
    return x + kLeft + (points > 1 ? width * i / (points - 1) : width / 2);
  };
  const auto up = [&](double value) {
    return y + kRoof + height * (1.0 - range.ShareOf(value));
  };
  svg.Text(x + kLeft, y + 18, FitToWidth(marginal.parameter(), 26), "name");
  for (const double value : {range.lo, range.hi}) {
    svg.Line(x + kLeft, up(value), x + kLeft + width, up(value), "grid");
    svg.Text(x + kLeft - 6, up(value) + 4, FormatNumber(value), "small end");
  }
  Svg::Points band;
  Svg::Points curve;
  for (int i = 0; i < points; ++i) {
    const v1::Interval& expected = marginal.points(i).expected();
    curve.emplace_back(across(i), up(expected.value()));
    band.emplace_back(across(i), up(expected.hi80()));
  }
  for (int i = points - 1; i >= 0; --i) {
    band.emplace_back(across(i), up(marginal.points(i).expected().lo80()));
  }
  svg.Path(band, "band", true);
  svg.Path(curve, "curve", false);
  const std::string best = marginal.best().SerializeAsString();
  for (int i = 0; i < points; ++i) {
    const bool is_best = marginal.points(i).value().SerializeAsString() == best;
    svg.Dot(curve[static_cast<std::size_t>(i)].first,
            curve[static_cast<std::size_t>(i)].second,
            is_best ? "best" : "dot");
  }
  if (points == 0) return;
  svg.Text(across(0), y + kCurvePlotHeight - 8,
           CurveValueText(marginal.points(0).value()), "small");
  svg.Text(across(points - 1), y + kCurvePlotHeight - 8,
           CurveValueText(marginal.points(points - 1).value()), "small end");
}

}  // namespace

std::string MarginalsSvg(const v1::GetMarginalsReply& reply) {
  const int rows = (reply.marginals_size() + kPlotsInARow - 1) / kPlotsInARow;
  const std::string title = absl::StrCat("Expected ", reply.options().target());
  Svg svg(kPlotsInARow * kPlotWidth + 16, kHead + rows * kCurvePlotHeight + 8,
          title);
  svg.Text(16, 26, FitToWidth(title, 80), "title");
  svg.Text(16, 44,
           absl::StrCat("All else averaged out; band: 80 % interval; orange: "
                        "the best value",
                        reply.provisional() ? "; study still running" : ""),
           "small");
  const Range range = CurveRangeOf(reply);
  for (int i = 0; i < reply.marginals_size(); ++i) {
    const int row = i / kPlotsInARow;
    DrawPlot(svg, reply.marginals(i), range, i % kPlotsInARow * kPlotWidth,
             kHead + row * kCurvePlotHeight);
  }
  return svg.Finish();
}

std::string PairMarginalSvg(const v1::PairMarginal& table) {
  const int columns = table.second_values_size();
  const int rows = table.first_values_size();
  const double left = 110.0;
  const double top = 96.0;
  const double height = kCell * 0.5;
  const std::string title =
      absl::StrCat("Expected ", table.options().target(), " by ", table.first(),
                   " and ", table.second());
  Svg svg(std::max(480.0, left + columns * kCell + 20),
          top + rows * height + 40, title);
  svg.Text(16, 26, FitToWidth(title, 60), "title");
  svg.Text(16, 44, "All else averaged out; the darker, the higher", "small");
  svg.Text(left, 66, FitToWidth(table.second(), 40), "name");
  svg.Text(left - 10, 84, FitToWidth(table.first(), 14), "name end");
  Range range;
  for (const double value : table.expected()) range.Add(value);
  for (int j = 0; j < columns; ++j) {
    svg.Text(left + (j + 0.5) * kCell, 86,
             CurveValueText(table.second_values(j)), "small middle");
  }
  for (int i = 0; i < rows; ++i) {
    const double y = top + i * height;
    svg.Text(left - 10, y + 20, CurveValueText(table.first_values(i)),
             "small end");
    for (int j = 0; j < columns; ++j) {
      const double value = table.expected(i * columns + j);
      const double heat = range.ShareOf(value);
      svg.Cell(left + j * kCell, y, kCell - 2, height - 2, heat,
               absl::StrCat(FormatNumber(value), ", ",
                            table.trials(i * columns + j), " trials"));
      svg.Text(left + (j + 0.5) * kCell - 1, y + 20, FormatNumber(value),
               heat > 0.55 ? "small middle light" : "small middle dark");
    }
  }
  svg.Text(16, top + rows * height + 24,
           absl::StrCat("From ", FormatNumber(range.lo), " to ",
                        FormatNumber(range.hi)),
           "small");
  return svg.Finish();
}

}  // namespace frostline::cli
