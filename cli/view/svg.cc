// SPDX-License-Identifier: Apache-2.0
#include "cli/view/svg.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxText = 1000;

// Colours that colour-blind people can distinguish, on the picture's own
// background.
constexpr char kStyle[] =
    "<style>\n"
    "text{font:13px system-ui,sans-serif;fill:#1f2328}\n"
    ".title{font-size:15px;font-weight:600}\n"
    ".small{font-size:11px;fill:#59636e}\n"
    ".end{text-anchor:end}\n"
    ".middle{text-anchor:middle}\n"
    ".card{fill:#ffffff;stroke:#d1d9e0}\n"
    ".bar{fill:#0969da}\n"
    ".faint{fill:#ffffff;stroke:#0969da;stroke-dasharray:3 2}\n"
    ".line{stroke:#1f2328;stroke-width:1.5;fill:none}\n"
    ".thick{stroke:#1f2328;stroke-width:4;fill:none}\n"
    ".grid{stroke:#d1d9e0;stroke-width:1;fill:none}\n"
    ".band{fill:#0969da;fill-opacity:.18}\n"
    ".curve{stroke:#0969da;stroke-width:2;fill:none}\n"
    ".dot{fill:#0969da}\n"
    ".best{fill:#bc4c00}\n"
    ".light{fill:#ffffff}\n"
    ".dark{fill:#1f2328}\n"
    "</style>\n";

std::string SvgNumber(double value) { return absl::StrFormat("%.1f", value); }

// Returns a colour from white to blue by lightness, so that it can be read in
// grey too.
std::string HeatColour(double heat) {
  const double t = std::clamp(heat, 0.0, 1.0);
  const auto mix = [t](int from, int to) {
    return static_cast<int>(std::lround(from + t * (to - from)));
  };
  return absl::StrFormat("#%02x%02x%02x", mix(246, 9), mix(248, 80),
                         mix(250, 174));
}

std::string Hint(const std::string& text) {
  if (text.empty()) return "";
  return absl::StrCat("<title>", XmlText(text), "</title>");
}

}  // namespace

std::string XmlText(const std::string& text) {
  return absl::StrReplaceAll(proto::CleanText(text, kMaxText),
                             {{"&", "&amp;"},
                              {"<", "&lt;"},
                              {">", "&gt;"},
                              {"\"", "&quot;"},
                              {"'", "&#39;"}});
}

Svg::Svg(double width, double height, const std::string& title)
    : width_(width), height_(height), title_(title) {}

void Svg::Text(double x, double y, const std::string& text,
               const std::string& classes) {
  absl::StrAppend(&body_, "<text class=\"", classes, "\" x=\"", SvgNumber(x),
                  "\" y=\"", SvgNumber(y), "\">", XmlText(text), "</text>\n");
}

void Svg::TextUp(double x, double y, const std::string& text,
                 const std::string& classes) {
  absl::StrAppend(&body_, "<text class=\"", classes,
                  "\" transform=\"translate(", SvgNumber(x), " ", SvgNumber(y),
                  ") rotate(-90)\">", XmlText(text), "</text>\n");
}

void Svg::Rect(double x, double y, double width, double height,
               const std::string& classes, const std::string& hint) {
  if (std::isnan(x + y + width + height)) return;
  absl::StrAppend(&body_, "<rect class=\"", classes, "\" x=\"", SvgNumber(x),
                  "\" y=\"", SvgNumber(y), "\" width=\"",
                  SvgNumber(std::max(0.0, width)), "\" height=\"",
                  SvgNumber(std::max(0.0, height)), "\">", Hint(hint),
                  "</rect>\n");
}

void Svg::Cell(double x, double y, double width, double height, double heat,
               const std::string& hint) {
  if (std::isnan(heat)) return;
  absl::StrAppend(&body_, "<rect x=\"", SvgNumber(x), "\" y=\"", SvgNumber(y),
                  "\" width=\"", SvgNumber(width), "\" height=\"",
                  SvgNumber(height), "\" fill=\"", HeatColour(heat), "\">",
                  Hint(hint), "</rect>\n");
}

void Svg::Line(double x1, double y1, double x2, double y2,
               const std::string& classes) {
  if (std::isnan(x1 + y1 + x2 + y2)) return;
  absl::StrAppend(&body_, "<line class=\"", classes, "\" x1=\"", SvgNumber(x1),
                  "\" y1=\"", SvgNumber(y1), "\" x2=\"", SvgNumber(x2),
                  "\" y2=\"", SvgNumber(y2), "\"/>\n");
}

void Svg::Path(const Points& points, const std::string& classes, bool closed) {
  std::string steps;
  for (const auto& [x, y] : points) {
    if (std::isnan(x + y)) continue;
    absl::StrAppend(&steps, steps.empty() ? "M" : "L", SvgNumber(x), " ",
                    SvgNumber(y));
  }
  if (steps.empty()) return;
  absl::StrAppend(&body_, "<path class=\"", classes, "\" d=\"", steps,
                  closed ? "Z" : "", "\"/>\n");
}

void Svg::Dot(double x, double y, const std::string& classes) {
  if (std::isnan(x + y)) return;
  absl::StrAppend(&body_, "<circle class=\"", classes, "\" cx=\"", SvgNumber(x),
                  "\" cy=\"", SvgNumber(y), "\" r=\"3\"/>\n");
}

void Svg::Series(const Points& points, std::size_t index) {
  // Okabe and Ito's colours, without their yellow; dashes go on where these
  // begin anew.
  static constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                             "#cc79a7", "#000000", "#e69f00",
                                             "#56b4e9"};
  static constexpr const char* kDashes[] = {"none", "7 3", "2 3", "8 3 2 3"};
  const std::size_t colours = std::size(kColours);
  std::string steps;
  for (const auto& [x, y] : points) {
    if (std::isnan(x + y)) continue;
    absl::StrAppend(&steps, steps.empty() ? "M" : "L", SvgNumber(x), " ",
                    SvgNumber(y));
  }
  if (steps.empty()) return;
  absl::StrAppend(&body_, "<path fill=\"none\" stroke-width=\"2\" stroke=\"",
                  kColours[index % colours], "\" stroke-dasharray=\"",
                  kDashes[(index + 2 * (index / colours)) % std::size(kDashes)],
                  "\" d=\"", steps, "\"/>\n");
}

std::string Svg::Finish() const {
  const std::string title = XmlText(title_);
  return absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"",
      SvgNumber(width_), "\" height=\"", SvgNumber(height_),
      "\" viewBox=\"0 0 ", SvgNumber(width_), " ", SvgNumber(height_),
      "\" aria-label=\"", title, "\">\n", kStyle,
      "<rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"",
      SvgNumber(width_ - 1), "\" height=\"", SvgNumber(height_ - 1),
      "\" rx=\"6\"/>\n", body_, "</svg>\n");
}

namespace {

constexpr double kBarsWidth = 720.0;
constexpr double kBarsLeft = 170.0;  // of the bars; names end before it
constexpr double kRight = 80.0;      // for their numbers
constexpr double kTop = 100.0;
constexpr double kRow = 24.0;
constexpr double kFoot = 58.0;
constexpr int kNameColumns = 22;
constexpr int kFootColumns = 108;

// Returns the end of the axis: the largest drawn value, rounded up to a round
// percentage.
double AxisEnd(const v1::ImportanceReport& report) {
  double end = 0.05;
  for (const v1::ParameterImportance& row : report.parameters()) {
    end = std::fmax(end, std::fmax(row.main().value(), row.main().hi95()));
  }
  return std::ceil(end * 20.0) / 20.0;
}

void DrawAxis(Svg& svg, double end, double bottom) {
  const double columns = kBarsWidth - kBarsLeft - kRight;
  const double step = end > 0.5 ? 0.2 : end > 0.2 ? 0.1 : 0.05;
  for (int i = 0; i * step <= end + 1e-9; ++i) {
    const double x = kBarsLeft + i * step / end * columns;
    svg.Line(x, kTop - 6, x, bottom, "grid");
    svg.Text(x, kTop - 12, absl::StrFormat("%.0f %%", i * step * 100),
             "small middle");
  }
}

void DrawRow(Svg& svg, const v1::ParameterImportance& row, double end,
             double y) {
  const double scale = (kBarsWidth - kBarsLeft - kRight) / end;
  const auto at = [scale](double share) {
    return kBarsLeft + std::fmax(0.0, share) * scale;
  };
  const v1::Interval& main = row.main();
  const double middle = y + kRow / 2;
  svg.Text(kBarsLeft - 10, middle + 4,
           FitToWidth(row.parameter(), kNameColumns), "name end");
  // Solid only as far as it is sure.
  const double sure = row.distinguishable() && main.lo80() > 0.0
                          ? std::fmin(main.lo80(), main.value())
                          : 0.0;
  const std::string hint =
      absl::StrCat(row.parameter(), ": ", Percent(main.value()), " (",
                   PercentInterval(main), ")");
  svg.Rect(kBarsLeft, y + 4, at(main.value()) - kBarsLeft, kRow - 8, "faint",
           hint);
  svg.Rect(kBarsLeft, y + 4, at(sure) - kBarsLeft, kRow - 8, "bar", hint);
  if (main.hi95() > main.lo95()) {
    svg.Line(at(main.lo95()), middle, at(main.hi95()), middle, "line");
    svg.Line(at(main.lo80()), middle, at(main.hi80()), middle, "thick");
  }
  svg.Text(kBarsWidth - 14, middle + 4, Percent(main.value()), "name end");
}

std::string HowSure(const v1::ImportanceReport& report) {
  std::string text = absl::StrCat(FormatCount(report.trials_used()),
                                  " trials, ", report.options().evaluator(),
                                  ", seed ", report.options().seed());
  if (!std::isnan(report.out_of_bag_r2())) {
    absl::StrAppend(&text, ", out-of-bag R2 ",
                    absl::StrFormat("%.2f", report.out_of_bag_r2()));
  }
  if (report.provisional()) text += ", study still running";
  return text;
}

}  // namespace

std::string ImportanceSvg(const v1::ImportanceReport& report) {
  const double bottom = kTop + kRow * report.parameters_size();
  const std::string title =
      absl::StrCat("What mattered for ", report.options().target(), " in ",
                   LastPart(report.study()));
  Svg svg(kBarsWidth, bottom + kFoot, title);
  svg.Text(16, 28, FitToWidth(title, 80), "title");
  svg.Text(16, 46, FitToWidth(report.verdict(), kFootColumns), "small");
  svg.Text(16, 62, FitToWidth(HowSure(report), kFootColumns), "small");
  const double end = AxisEnd(report);
  DrawAxis(svg, end, bottom);
  double y = kTop;
  for (const v1::ParameterImportance& row : report.parameters()) {
    DrawRow(svg, row, end, y);
    y += kRow;
  }
  svg.Text(16, bottom + 24,
           "Share of the variance over the searched space; 80 % interval "
           "thick, 95 % thin; hollow: not sure.",
           "small");
  std::string doubt = report.stability().sentence();
  if (!report.warnings().empty()) {
    absl::StrAppend(&doubt, doubt.empty() ? "" : "; ",
                    report.warnings(0).sentence());
  }
  svg.Text(16, bottom + 42, FitToWidth(doubt, kFootColumns), "small");
  return svg.Finish();
}

// Marginal curves and tables of two parameters as pictures.

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

// Returns one range for all plots, so that their heights can be compared.
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

// The frontier as a picture: the expected score of each set of modules.

namespace {

constexpr double kFrontierWidth = 760.0;
constexpr double kFrontierLeft = 250.0;  // of the scores; names end before it
constexpr double kFrontierRight = 70.0;  // for the probabilities
constexpr double kFrontierTop = 92.0;
constexpr double kFrontierRow = 22.0;
constexpr double kGap = 34.0;  // between the two parts
constexpr double kFrontierFoot = 56.0;
constexpr int kFrontierNameColumns = 34;
constexpr int kFrontierFootColumns = 112;
constexpr int kGridLines = 4;

// The axis of scores, from left to right.
class Axis {
 public:
  void Show(double score) {
    if (std::isnan(score)) return;
    lo_ = std::min(lo_, score);
    hi_ = std::max(hi_, score);
  }
  double At(double score) const {
    if (!(hi_ > lo_)) return kFrontierLeft;
    return kFrontierLeft +
           (score - lo_) / (hi_ - lo_) *
               (kFrontierWidth - kFrontierLeft - kFrontierRight);
  }
  void Draw(Svg& svg, double bottom) const {
    for (int i = 0; i <= kGridLines; ++i) {
      const double score = lo_ + (hi_ - lo_) * i / kGridLines;
      svg.Line(At(score), kFrontierTop - 6, At(score), bottom, "grid");
      svg.Text(At(score), kFrontierTop - 12, FormatNumber(score),
               "small middle");
    }
  }

 private:
  double lo_ = std::numeric_limits<double>::infinity();
  double hi_ = -std::numeric_limits<double>::infinity();
};

void ShowAll(const v1::Interval& interval, Axis& axis) {
  axis.Show(interval.value());
  axis.Show(interval.lo95());
  axis.Show(interval.hi95());
}

bool LowerIsBetter(const v1::Frontier& frontier) {
  return frontier.options().target_direction() == v1::DIRECTION_MINIMIZE;
}

// Returns the best score minus the tolerance.
double Threshold(const v1::Frontier& frontier) {
  return frontier.best().value() + (LowerIsBetter(frontier)
                                        ? frontier.tolerance()
                                        : -frontier.tolerance());
}

void DrawSet(Svg& svg, const Axis& axis, const v1::FrontierSet& set,
             const std::string& name, bool is_chosen, double y) {
  const v1::Interval& score = set.predicted();
  const double middle = y + kFrontierRow / 2;
  svg.Text(kFrontierLeft - 10, middle + 4,
           FitToWidth(name, kFrontierNameColumns), "name end");
  svg.Line(axis.At(score.lo95()), middle, axis.At(score.hi95()), middle,
           "line");
  svg.Line(axis.At(score.lo80()), middle, axis.At(score.hi80()), middle,
           "thick");
  svg.Dot(axis.At(score.value()), middle, is_chosen ? "best" : "dot");
  svg.Text(kFrontierWidth - 14, middle + 4,
           Probability(set.within_tolerance_probability()), "name end");
}

std::string NameOfPrefix(const v1::Frontier& frontier,
                         const v1::FrontierSet& set) {
  const std::string frozen = FrozenPrefix(frontier, set);
  return absl::StartsWith(frozen, "below ") ? absl::StrCat("frozen ", frozen)
                                            : absl::StrCat(frozen, " frozen");
}

Axis AxisOf(const v1::Frontier& frontier) {
  Axis axis;
  axis.Show(frontier.best().value());
  axis.Show(Threshold(frontier));
  for (const auto& set : frontier.by_modules()) ShowAll(set.predicted(), axis);
  for (const auto& set : frontier.by_prefix()) ShowAll(set.predicted(), axis);
  return axis;
}

void DrawHead(Svg& svg, const v1::Frontier& frontier,
              const std::string& title) {
  svg.Text(16, 28, FitToWidth(title, 80), "title");
  svg.Text(16, 46, FitToWidth(frontier.verdict(), kFrontierFootColumns),
           "small");
  svg.Text(16, 62,
           absl::StrCat("modules trained; ", frontier.options().target(),
                        " predicted; right: probability within ",
                        FormatNumber(frontier.tolerance()), " of the best"),
           "small");
}

}  // namespace

std::string FrontierSvg(const v1::Frontier& frontier) {
  const double modules = kFrontierRow * frontier.by_modules_size();
  const double prefixes = kFrontierRow * frontier.by_prefix_size();
  const double gap = frontier.by_prefix_size() > 0 ? kGap : 0.0;
  const double bottom = kFrontierTop + modules + gap + prefixes;
  const std::string title =
      absl::StrCat("The least to train in ", LastPart(frontier.study()));
  Svg svg(kFrontierWidth, bottom + kFrontierFoot, title);
  DrawHead(svg, frontier, title);
  const Axis axis = AxisOf(frontier);
  const double threshold = axis.At(Threshold(frontier));
  const double best = axis.At(frontier.best().value());
  svg.Rect(std::min(threshold, best), kFrontierTop - 6,
           std::abs(best - threshold), bottom - kFrontierTop + 6, "band",
           "within the tolerance of the best");
  axis.Draw(svg, bottom);
  double y = kFrontierTop;
  for (int i = 0; i < frontier.by_modules_size(); ++i, y += kFrontierRow) {
    const v1::FrontierSet& set = frontier.by_modules(i);
    DrawSet(
        svg, axis, set,
        absl::StrCat(set.trained_size(), ": ",
                     ModuleList({set.trained().begin(), set.trained().end()})),
        i == frontier.chosen(), y);
  }
  y += gap;
  for (const v1::FrontierSet& set : frontier.by_prefix()) {
    DrawSet(svg, axis, set, NameOfPrefix(frontier, set), false, y);
    y += kFrontierRow;
  }
  svg.Text(16, bottom + 24,
           "80 % interval thick, 95 % thin; shaded: within the tolerance of "
           "the best; orange: the least that is there with 90 %.",
           "small");
  return svg.Finish();
}

}  // namespace frostline::cli
