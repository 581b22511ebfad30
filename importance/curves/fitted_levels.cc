// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "importance/curves.h"
#include "importance/measure/dataset.h"
#include "importance/measure/numbers.h"
#include "importance/measure/shared_luck.h"

namespace frostline::importance {
namespace {

constexpr double kNormal80 = 1.281552;
constexpr double kNormal95 = 1.959964;

}  // namespace

FittedLevels::FittedLevels(const Space& space, Selection selection,
                           const std::stop_token& stop)
    : selection_(std::move(selection)), objective_(*selection_.target) {
  const Dataset data =
      MakeDataset(MeasureSpace(space), selection_.points, selection_.losses);
  std::vector<EffectAxis> axes;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    CutAxis cut = CutIntoValues(space.parameters()[i].domain, data.axes[i],
                                data.codes[i]);
    axes.push_back(std::move(cut.effect));
    values_.push_back(std::move(cut.values));
    value_of_row_.push_back(std::move(cut.value_of_row));
  }
  const auto [lowest, highest] =
      std::minmax_element(selection_.losses.begin(), selection_.losses.end());
  middle_ = *lowest / 2.0 + *highest / 2.0;
  radius_ = *highest / 2.0 - *lowest / 2.0;
  const double rows = static_cast<double>(data.rows());
  const double mean =
      std::accumulate(data.targets.begin(), data.targets.end(), 0.0) / rows;
  model_ = std::make_unique<LevelEffects>(std::move(axes), data.targets, stop);
  surface_ = std::make_unique<EffectSurface>(*model_, mean);
  freedom_ = std::max(rows - model_->ridge().degrees_of_freedom(), 2.0);
}

double FittedLevels::ScoreOf(double loss) const {
  // AsLoss is its own inverse.
  return AsLoss(objective_, middle_ + radius_ * loss);
}

Interval FittedLevels::Around(double mean, double deviation) const {
  const double wide80 = StudentQuantile(kNormal80, freedom_) * deviation;
  const double wide95 = StudentQuantile(kNormal95, freedom_) * deviation;
  return {mean, mean - wide80, mean + wide80, mean - wide95, mean + wide95};
}

Interval FittedLevels::ScoreInterval(const Belief& loss) const {
  return Around(ScoreOf(loss.mean), radius_ * loss.deviation);
}

absl::StatusOr<FittedLevels> FitLevels(const Space& space,
                                       const std::vector<Objective>& objectives,
                                       const History& history,
                                       const EvaluateOptions& options) {
  RETURN_IF_ERROR(CheckTopQuantile(options.top_quantile));
  ASSIGN_OR_RETURN(Selection selection,
                   SelectTrials(space, objectives, history, options));
  TakeOff(FindSharedLuck(selection), selection);
  FittedLevels fitted(space, std::move(selection), options.stop);
  RETURN_IF_ERROR(CheckStop(options.stop));
  return fitted;
}

}  // namespace frostline::importance
