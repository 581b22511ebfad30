// SPDX-License-Identifier: Apache-2.0
//
// File: study_belief.h
//
// The belief about the target of a study. Its trials are rows of a surrogate,
// on the scale of its saturation (surrogate/saturation.h), without the luck of
// their seeds (selection.h). A higher worth is better. The quantiles of worths
// are those of scores, which stay in the range of the metric.
#ifndef FROSTLINE_IMPORTANCE_PLAN_STUDY_BELIEF_H_
#define FROSTLINE_IMPORTANCE_PLAN_STUDY_BELIEF_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/cells.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/measure/survival.h"
#include "importance/report.h"
#include "statistics/seed_luck.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"
#include "surrogate/saturation.h"
#include "surrogate/surrogate.h"

namespace frostline::importance {

// By parameter it is an index into its values (StudyRows::choices).
using PlanChoice = std::vector<std::size_t>;
using WorthDraws = std::vector<std::vector<double>>;  // joint, draws x points

// What is believed about the target of a study. Points into its history and
// refers to the space.
class StudyBelief {
 public:
  const Space& space() const { return *space_; }
  const Objective& objective() const { return objective_; }
  // Returns the trials with a value, by number.
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
  // Whether any parameter can be told from chance, as reports say it.
  bool is_any_told() const { return is_any_told_; }
  // What decides whether a run can be trained, if anything does.
  const std::optional<SurvivalSplit>& survival() const { return survival_; }
  double Clamp(double score) const { return range_.Clamp(score); }
  // Says whether the score is a share, 0 … 1.
  bool IsShare() const;
  // Returns the trial with the best value; the first of equals.
  std::size_t BestTrial() const;
  PlanChoice ChoiceOf(std::size_t trial) const;
  // After trials() come those that could not be trained, here, in ChoiceOf and
  // in TrialOfRow, which says whose a row of the surrogate is.
  std::int64_t NumberOf(std::size_t trial) const;
  std::size_t TrialOfRow(std::size_t row) const { return trial_of_row_[row]; }

  // Is a pure function of the points.
  WorthDraws Draw(const std::vector<PlanChoice>& points, int draws) const;

 private:
  friend absl::StatusOr<StudyBelief> Believe(
      const Space& space, const std::vector<Objective>& objectives,
      const History& history, const EvaluateOptions& options);

  absl::Status FindAnyTold(const EvaluateOptions& options);
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
  std::vector<std::size_t> trial_of_row_;
  std::unique_ptr<surrogate::Surrogate> surrogate_;
  std::unique_ptr<surrogate::AxisWalk> walk_;
  std::vector<ReportWarning> warnings_;
  statistics::SeedLuck luck_;
  std::optional<SurvivalSplit> survival_;
  bool is_any_told_ = false;
};

// Its errors are Evaluate's, CANCELLED among them.
absl::StatusOr<StudyBelief> Believe(const Space& space,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    const EvaluateOptions& options);

double MeanOf(const WorthDraws& draws, std::size_t point);
double DeviationOf(const WorthDraws& draws, std::size_t point);

// Returns the chance that `point` is worth at least `other`.
double ChanceOf(const WorthDraws& draws, std::size_t point, std::size_t other);

// Goes by draw, in the objective's unit: a loss is above 0; equal worths have
// none.
std::vector<double> LossesOf(const StudyBelief& belief, const WorthDraws& draws,
                             std::size_t from, std::size_t to);
double ShareWithin(const std::vector<double>& losses, double tolerance);
// Returns the chance that at most `tolerance` of the score is lost.
double ChanceOfLoss(const StudyBelief& belief, const WorthDraws& draws,
                    std::size_t from, std::size_t to, double tolerance);

// Lies around the median. REQUIRES: there is a draw.
Interval QuantilesOf(std::vector<double> draws);

// Whether trials with a value froze a module and whether any trained it. Unless
// both happened nobody knows what freezing it costs.
struct SeenModule {
  bool frozen = false;
  bool trained = false;
  bool both() const { return frozen && trained; }
};
std::vector<SeenModule> SeenModules(const StudyBelief& belief);  // by modules()

// How far predictions reach. Surfaces flatten near their best, on the scale
// that saturates too: each of seven modules adds, all of them add less than
// their sum, and a plan is where all come together. What trials showed that
// were left out of the fit tells it, by a line through the best predicted ones:
//
//   seen = usual + part (predicted - usual),   part ~ N(.7, .3²) before a trial
//
// Beyond the furthest prediction, where no trial is, that part counts again:
//
//   const Reach reach = {.usual = 2.6, .furthest = 2.9, .part = 0.5};
//   Reached(reach, 3.3, reach.part);  // 2.6 + 0.5 * 0.3 + 0.25 * 0.4 = 2.85

struct Reach {
  double usual = std::numeric_limits<double>::infinity();  // the mean of them
  double furthest = std::numeric_limits<double>::infinity();
  double part = 1.0;
  double part_error = 0.0;
};

// Worths of the best predicted trials, as they were predicted without
// themselves, and as they were. REQUIRES: both are as long, and not empty.
Reach FindReach(const std::vector<double>& predicted,
                const std::vector<double>& seen);

// What a prediction comes to if `part` of what is beyond the usual is real.
double Reached(const Reach& reach, double predicted, double part);

// How noisy runs are that score like this. A run that has not converged is
// noisier than one near the best, or the other way round:
//
//   variance of a run = e^(slope z) / mean_of_trials(e^(slope z)) * noise
//   z = (worth - centre) / spread,   slope ~ N(0, .5²) before a trial
//
// where centre and spread are those of the trials as they are predicted without
// themselves; beyond them the noise is that of the furthest.
struct NoiseTrend {
  double slope = 0.0;
  double centre = 0.0;
  double spread = 1.0;
  double least = 0.0;  // z
  double most = 0.0;
  double usual = 1.0;  // the mean of e^(slope z)
};

// Takes each trial's belief without itself, and its worth. The slope is the
// most likely one of residuals with heavy tails.
NoiseTrend FindNoiseTrend(const std::vector<surrogate::Belief>& left_out,
                          const std::vector<double>& seen,
                          double noise_variance);

// Returns the factor of the noise's variance at a worth.
double NoiseFactor(const NoiseTrend& trend, double worth);

// A model over-praises points picked because it likes them (the winner's
// curse): what is usual of these is taken off, and what the best predicted
// trials lacked; and what is predicted beyond them is believed in part.

struct Optimism {
  // Predictions are so much too high, in deviations of the function.
  double lift = 0.0;
  double widen = 1.0;  // factor of all deviations
  Reach reach = {};    // what flattens near the best
  NoiseTrend noise = {};
};

// `left_out` is the surrogate's.
Optimism FindOptimism(const StudyBelief& belief,
                      const std::vector<surrogate::Belief>& left_out);

// Takes the optimism off worths.
std::vector<double> WithoutOptimism(const WorthDraws& draws, std::size_t point,
                                    const Optimism& optimism);

// The same for points that are set against each other: what flattens brings
// them nearer, draw by draw, while a score by itself is as uncertain as before.
std::vector<double> InContest(const WorthDraws& draws, std::size_t point,
                              const Optimism& optimism);

// The same of a pair whose difference is told: both are lower by what is taken
// off `point`, and nearer where what is beyond the usual is believed in part.
void FlattenBeside(std::size_t point, const Optimism& optimism,
                   WorthDraws& draws);

// All who predict these worths share them.
WorthDraws DrawBesideBest(const StudyBelief& belief, const PlanChoice& choice);

// Averages kSeedsOfMean runs.
Interval PredictMean(const StudyBelief& belief,
                     const std::vector<double>& worths,
                     const Optimism& optimism);
// A run on the trials' own evaluation set, whose rows are the same for all: the
// noise between trials is all there is. On recorded tables it has no heavy
// tails left where the scale saturates and its trend is known.
Interval PredictRun(const StudyBelief& belief,
                    const std::vector<double>& worths,
                    const Optimism& optimism);

// Returns what nobody could notice of a score: the noise of one run of that
// worth, or of an evaluation set of so many rows (0: unknown), whichever is
// larger.
double UnnoticedLoss(const StudyBelief& belief, double worth,
                     const Optimism& optimism, std::int64_t evaluation_rows);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_STUDY_BELIEF_H_
