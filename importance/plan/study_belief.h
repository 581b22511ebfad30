// SPDX-License-Identifier: Apache-2.0
//
// File: study_belief.h
//
// What is believed of a study's target: its trials as rows of a surrogate, on
// the scale on which the metric's surface saturates (surrogate/saturation.h).
// Beliefs are worths: higher is better, whatever the objective's direction. The
// scale rises, so medians and quantiles of scores are those of worths; a score
// never leaves the metric's range.
#ifndef FROSTLINE_IMPORTANCE_PLAN_STUDY_BELIEF_H_
#define FROSTLINE_IMPORTANCE_PLAN_STUDY_BELIEF_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/cells/surrogate_rows.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/report/report.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"
#include "surrogate/axis_walk.h"
#include "surrogate/saturation.h"
#include "surrogate/surrogate.h"

namespace frostline::importance {

// For every parameter an index into its values (StudyRows::choices).
using PlanChoice = std::vector<std::size_t>;
// Joint draws of worths: draws x points.
using WorthDraws = std::vector<std::vector<double>>;

// Points into the history it was made from, and keeps a reference to the space.
class StudyBelief {
 public:
  const Space& space() const { return *space_; }
  const Objective& objective() const { return objective_; }
  // Trials with a value, by number.
  const Selection& selection() const { return selection_; }
  std::size_t trials() const { return selection_.trials.size(); }
  // The first learnt() rows are trials, of very many every so manieth; after
  // them come trials that could not be trained, as bad as the worst. Choices
  // are of all trials.
  const StudyRows& rows() const { return rows_; }
  std::size_t learnt() const { return learnt_; }
  const surrogate::Surrogate& surrogate() const { return *surrogate_; }
  const surrogate::AxisWalk& walk() const { return *walk_; }
  const std::vector<ReportWarning>& warnings() const { return warnings_; }

  double WorthOf(double score) const;
  double ScoreOf(double worth) const;
  double SeenScore(std::size_t trial) const;
  // Whether the score is a share, 0 … 1, like an accuracy.
  bool IsShare() const;
  // The trial of the best value; of equal ones the first.
  std::size_t BestTrial() const;
  PlanChoice ChoiceOf(std::size_t trial) const;

  // A pure function of the points.
  WorthDraws Draw(const std::vector<PlanChoice>& points, int draws) const;

 private:
  friend absl::StatusOr<StudyBelief> Believe(
      const Space& space, const std::vector<Objective>& objectives,
      const History& history, const EvaluateOptions& options);

  void FindRange();
  void FindSaturation();
  void Thin();
  void AddHopeless(std::vector<const Point*>& points,
                   std::vector<double>& worths,
                   std::vector<double>& doubt) const;

  const Space* space_ = nullptr;
  Objective objective_;
  Selection selection_;
  MetricRange range_;
  StudyRows rows_;
  surrogate::Saturation saturation_;
  std::size_t learnt_ = 0;
  std::unique_ptr<surrogate::Surrogate> surrogate_;
  std::unique_ptr<surrogate::AxisWalk> walk_;
  std::vector<ReportWarning> warnings_;
};

// Errors as Evaluate's.
absl::StatusOr<StudyBelief> Believe(const Space& space,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_STUDY_BELIEF_H_
