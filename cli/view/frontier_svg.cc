// SPDX-License-Identifier: Apache-2.0
//
// The frontier as a picture: what is expected of each set of modules.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/frontier_view.h"
#include "cli/view/importance_text.h"
#include "cli/view/svg.h"

namespace frostline::cli {
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

// The scores that are drawn, from left to right.
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

// Where the best less the tolerance is.
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
