// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/study_belief.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "importance/measure/dataset.h"
#include "importance/measure/shared_luck.h"
#include "importance/report/warnings.h"

namespace frostline::importance {
namespace {

// Sets of scales that a search looks through.
constexpr std::size_t kSearchDraws = 6;
// A plan is one point near the end, where the scale is steepest: on recorded
// tables an end nearer than this made opposite advice twice as frequent.
constexpr double kNearestEnd = 1.0;
constexpr std::uint64_t kDrawSeed = 14;
// More rows teach a surrogate nothing: it learns from a few hundred.
constexpr std::size_t kMostRows = 1000;

std::vector<ReportWarning> WarningsOf(const StudyBelief& belief) {
  const Selection& selection = belief.selection();
  std::vector<ReportWarning> warnings = FindWarnings(
      belief.space(), MakeDataset(MeasureSpace(belief.space()),
                                  selection.points, selection.losses));
  warnings.insert(warnings.end(), belief.warnings().begin(),
                  belief.warnings().end());
  if (auto diverged = FindDiverged(selection, /*informs=*/true)) {
    warnings.push_back(*std::move(diverged));
  }
  const std::size_t left_out = belief.rows().left_out.size();
  if (left_out > 0) {
    warnings.push_back(
        {"PARAMETERS_LEFT_OUT",
         absl::StrCat(left_out, " of ", belief.space().size(),
                      " parameters are left out: the trials' values differ "
                      "least along them"),
         {}});
  }
  return warnings;
}

}  // namespace

double StudyBelief::WorthOf(double score) const {
  return -saturation_.Forward(AsLoss(objective_, score));
}

double StudyBelief::ScoreOf(double worth) const {
  return range_.Clamp(AsLoss(objective_, saturation_.Back(-worth)));
}

double StudyBelief::SeenScore(std::size_t trial) const {
  // AsLoss is its own inverse.
  return AsLoss(objective_, selection_.losses[trial]);
}

double StudyBelief::EvenScore(std::size_t trial) const {
  return Clamp(
      AsLoss(objective_, selection_.losses[trial] - luck_.of_run[trial]));
}

bool StudyBelief::IsShare() const {
  return range_.lo == 0.0 && range_.hi == 1.0;
}

void StudyBelief::Thin() {
  const std::size_t step = (trials() + kMostRows - 1) / kMostRows;
  learnt_ = (trials() + step - 1) / step;
  if (step < 2) return;
  surrogate::Rows& rows = rows_.rows;
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row < trials() && row % step != 0) continue;
    std::swap(rows.cells[next], rows.cells[row]);
    rows.values[next] = rows.values[row];
    if (!rows.doubt.empty()) rows.doubt[next] = rows.doubt[row];
    ++next;
  }
  rows.cells.resize(next);
  rows.values.resize(next);
  if (!rows.doubt.empty()) rows.doubt.resize(next);
}

std::size_t StudyBelief::BestTrial() const {
  const std::vector<double>& losses = selection_.losses;
  return static_cast<std::size_t>(
      std::min_element(losses.begin(), losses.end()) - losses.begin());
}

PlanChoice StudyBelief::ChoiceOf(std::size_t trial) const {
  PlanChoice choice;
  choice.reserve(rows_.choices.size());
  for (const ParameterValues& parameter : rows_.choices) {
    choice.push_back(parameter.value_of_row[trial]);
  }
  return choice;
}

WorthDraws StudyBelief::Draw(const std::vector<PlanChoice>& points,
                             int draws) const {
  // Points of the same cells are drawn as one: rounding tells copies apart.
  std::vector<surrogate::Cells> cells;
  std::vector<std::size_t> place_of_point;
  place_of_point.reserve(points.size());
  for (const PlanChoice& point : points) {
    surrogate::Cells own = rows_.CellsOf(point);
    const auto found = std::find(cells.begin(), cells.end(), own);
    place_of_point.push_back(static_cast<std::size_t>(found - cells.begin()));
    if (found == cells.end()) cells.push_back(std::move(own));
  }
  WorthDraws drawn = surrogate_->Draw(cells, draws, kDrawSeed);
  if (cells.size() == points.size()) return drawn;
  WorthDraws all;
  all.reserve(drawn.size());
  for (const std::vector<double>& draw : drawn) {
    std::vector<double>& one = all.emplace_back();
    one.reserve(points.size());
    for (const std::size_t place : place_of_point) one.push_back(draw[place]);
  }
  return all;
}

void StudyBelief::FindRange() {
  std::vector<double> scores;
  scores.reserve(trials());
  for (std::size_t row = 0; row < trials(); ++row) {
    scores.push_back(SeenScore(row));
  }
  const RangeInForce in_force = EffectiveRange(objective_, scores);
  range_ = in_force.range;
  if (in_force.broken_by.has_value()) {
    const std::int64_t number = selection_.trials[*in_force.broken_by]->number;
    warnings_.push_back({"METRIC_OUT_OF_RANGE",
                         OutOfRangeSentence(objective_, in_force, number),
                         {}});
  }
}

void StudyBelief::FindSaturation(const std::stop_token& stop) {
  std::vector<double> losses;
  losses.reserve(trials());
  for (std::size_t row = 0; row < trials(); ++row) {
    losses.push_back(AsLoss(objective_, EvenScore(row)));
  }
  const StudyRows study = MakeStudyRows(*space_, selection_.points, losses, {});
  saturation_ = surrogate::FindSaturation(
      study.rows, {.bound = std::min(AsLoss(objective_, range_.lo),
                                     AsLoss(objective_, range_.hi)),
                   .nearest = kNearestEnd,
                   .stop = stop});
}

void StudyBelief::AddHopeless(std::vector<const Point*>& points,
                              std::vector<double>& worths,
                              std::vector<double>& doubt) const {
  const double worst = *std::min_element(worths.begin(), worths.end());
  const double hopeless = surrogate::DoubtOfHopeless(worths);
  for (const Observation* const trial : selection_.diverged) {
    doubt.resize(points.size(), 0.0);
    points.push_back(&trial->point);
    worths.push_back(worst);
    doubt.push_back(hopeless);
  }
}

absl::StatusOr<StudyBelief> Believe(const Space& space,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    const EvaluateOptions& options) {
  RETURN_IF_ERROR(CheckTopQuantile(options.top_quantile));
  StudyBelief belief;
  belief.space_ = &space;
  ASSIGN_OR_RETURN(belief.selection_,
                   SelectTrials(space, objectives, history, options));
  belief.objective_ = *belief.selection_.target;
  belief.luck_ = FindSharedLuck(belief.selection_);
  belief.FindRange();
  belief.FindSaturation(options.stop);
  RETURN_IF_ERROR(CheckStop(options.stop));
  std::vector<double> worths;
  worths.reserve(belief.trials());
  for (std::size_t row = 0; row < belief.trials(); ++row) {
    worths.push_back(belief.WorthOf(belief.EvenScore(row)));
  }
  std::vector<const Point*> points = belief.selection_.points;
  std::vector<double> doubt;
  belief.AddHopeless(points, worths, doubt);
  belief.rows_ =
      MakeStudyRows(space, points, std::move(worths), std::move(doubt));
  belief.Thin();
  belief.surrogate_ = std::make_unique<surrogate::Surrogate>(
      belief.rows_.rows,
      surrogate::SurrogateOptions{.seed = options.seed, .stop = options.stop});
  RETURN_IF_ERROR(CheckStop(options.stop));
  belief.walk_ =
      std::make_unique<surrogate::AxisWalk>(*belief.surrogate_, kSearchDraws);
  belief.warnings_ = WarningsOf(belief);
  return belief;
}

}  // namespace frostline::importance
