// SPDX-License-Identifier: Apache-2.0
//
// File: study_belief.h
//
// A study's target is believed by its trials as rows of a surrogate, on the
// scale of its saturation (surrogate/saturation.h), each as with seeds that are
// neither lucky nor not (shared_luck.h). Worths are higher where better; their
// quantiles are those of scores, which stay in the metric's range.
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
#include "importance/report.h"
#include "statistics/seed_luck.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"
#include "surrogate/questions.h"
#include "surrogate/saturation.h"
#include "surrogate/surrogate.h"

namespace frostline::importance {

// By parameter it is an index into its values (StudyRows::choices).
using PlanChoice = std::vector<std::size_t>;
using WorthDraws = std::vector<std::vector<double>>;  // joint, draws x points

// Points into its history; refers to the space.
class StudyBelief {
 public:
  const Space& space() const { return *space_; }
  const Objective& objective() const { return objective_; }
  // Has trials with a value, by number.
  const Selection& selection() const { return selection_; }
  std::size_t trials() const { return selection_.trials.size(); }
  // First come learnt() trials, thinned evenly if very many, then those that
  // could not be trained, as the worst. Choices are of all.
  const StudyRows& rows() const { return rows_; }
  std::size_t learnt() const { return learnt_; }
  const surrogate::Surrogate& surrogate() const { return *surrogate_; }
  const surrogate::AxisWalk& walk() const { return *walk_; }
  const std::vector<ReportWarning>& warnings() const { return warnings_; }

  double WorthOf(double score) const;
  double ScoreOf(double worth) const;
  double SeenScore(std::size_t trial) const;
  // The same without what its seed gave to all trials that had it.
  double EvenScore(std::size_t trial) const;
  const statistics::SeedLuck& luck() const { return luck_; }
  double Clamp(double score) const { return range_.Clamp(score); }
  // Says whether the score is a share, 0 … 1.
  bool IsShare() const;
  // Has the best value; of equals it is the first.
  std::size_t BestTrial() const;
  PlanChoice ChoiceOf(std::size_t trial) const;

  // Is a pure function of the points.
  WorthDraws Draw(const std::vector<PlanChoice>& points, int draws) const;

 private:
  friend absl::StatusOr<StudyBelief> Believe(
      const Space& space, const std::vector<Objective>& objectives,
      const History& history, const EvaluateOptions& options);

  void FindRange();
  void FindSaturation(const std::stop_token& stop);
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
  statistics::SeedLuck luck_;
};

// Its errors are Evaluate's, CANCELLED among them.
absl::StatusOr<StudyBelief> Believe(const Space& space,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_STUDY_BELIEF_H_
