// SPDX-License-Identifier: Apache-2.0
//
// File: study_plan.h
//
// A plan: which modules to freeze and which to train, what that will take and
// score, and all of it in words.
#ifndef FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_
#define FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/study_belief.h"
#include "importance/report.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

// Estimates by least squares what a plan saves, from what trials took and which
// modules they froze. Trained parameters are sums over modules, so they are
// exact; seconds are as sure as the trials make them.

// Least squares whose rows need not decide every coefficient. A sum that they
// do not decide is refused.
class SingularSquares {
 public:
  // REQUIRES: there is a row and a column; all are of one width; each row has a
  // target.
  SingularSquares(std::vector<std::vector<double>> rows,
                  std::vector<double> targets);

  struct Sum {
    double value = 0.0;
    double error = 0.0;  // standard
  };
  // Sums weighted coefficients; nullopt means undecided.
  std::optional<Sum> Estimate(const std::vector<double>& weights) const;
  double freedom() const { return freedom_; }  // rows beyond coefficients

 private:
  // Returns x with gram x = c.
  std::optional<std::vector<double>> Solve(std::vector<double> c) const;

  std::vector<std::vector<double>> gram_;
  std::vector<double> coefficients_;  // one solution
  double noise_ = 0.0;
  double freedom_ = 0.0;
};

// What a plan saves against training all that can be trained. NaN if no trial
// says what it took, froze or trained a module of the plan, or seconds are too
// noisy.
struct PlanSavings {
  double trained_parameters = 0.0;
  double seconds_share = 0.0;
};

// REQUIRES: all lie in the space.
PlanSavings EstimateSavings(const Space& space,
                            const std::vector<const Observation*>& trials,
                            const Point& plan);

struct PlanCosts {  // of one trial; NaN likewise
  double trained_parameters = 0.0;
  double seconds = 0.0;
};

PlanCosts EstimateCosts(const Space& space,
                        const std::vector<const Observation*>& trials,
                        const Point& point);

class PlanBasis;

struct PlanOptions {
  EvaluateOptions evaluate;
  // So much score may be given up for freezing, in the objective's unit; 0: as
  // ToleranceInForce says.
  double tolerance = 0.0;
  std::int64_t evaluation_rows = 0;  // of each trial; 0: unknown
};

// Below it a module is not known.
inline constexpr double kSureEnough = 0.9;

// A score is a mean of as many runs, with a seed each, as one would run to see
// it.
inline constexpr int kSeedsOfMean = 5;

enum class Advice {
  kFreeze,  // freezing costs at most the tolerance, with kSureEnough
  kTrain,   // freezing costs more, with kSureEnough
  kNotKnown,
  kFixed,  // the study does not search it
};

struct PlannedModule {
  std::string module;
  double rate = 0.0;
  // Of the adapter that trains in place of the weights; 0: none.
  std::optional<int> rank = {};
  bool freeze = false;  // in the plan's point, whatever the advice
  Advice advice = Advice::kNotKnown;
  // It is the chance that freezing, the rest as planned, costs at most the
  // tolerance; NaN where unknown.
  double freeze_probability = 0.0;
  // So much score is lost when frozen, not trained at a plan's rate, by the
  // same draws: the 80 % end is within the tolerance just where
  // freeze_probability reaches kSureEnough. NaN stands for fixed or never
  // frozen.
  Interval cost_of_freezing;
  // The trials whose loss would turn round what is then not advised: one or
  // two, or all of one point (surrogate/influence.h).
  std::vector<std::int64_t> rests_on;
  std::string reason;
};

struct StudyPlan {
  double tolerance = 0.0;              // in force
  std::vector<PlannedModule> modules;  // in depth order
  Point point;                         // in the searched space
  // The first is a mean over kSeedsOfMean seeds, the other has the noise of
  // seeds and evaluation set; both lie in the metric's range.
  Interval predicted_score;
  Interval one_run;
  double best_seen_value = 0.0;  // as seen
  Interval best_seen_score;      // of the best trial, less its luck
  std::int64_t best_seen_trial = 0;
  // That its mean lacks at most the tolerance of the best trial's.
  double at_least_best_probability = 0.0;
  // The nearest trial's rates differ in so many modules.
  std::int64_t nearest_trial = 0;
  int differs_in = 0;
  std::string verdict;
  // Savings are against training all modules; NaN where unknown.
  double trained_parameters_saved = 0.0;
  double seconds_saved_share = 0.0;
  std::vector<std::int64_t> supporting_trials;  // best first
  std::vector<ReportWarning> warnings;
};

// What a study would say if it did not rest on so few trials.
struct FragileAdvice {
  std::string says;                 // "freeze layer.2", "layer.1 matters most"
  std::vector<std::size_t> trials;  // as StudyBelief::NumberOf takes them
};

// Who matters most, then modules in depth order. After a stop some are missing.
std::vector<FragileAdvice> FindFragileAdvice(const PlanBasis& basis,
                                             const PlanChoice& plan,
                                             double tolerance,
                                             const std::stop_token& stop);

// Its errors are Evaluate's and CheckPlanRequest's.
absl::StatusOr<StudyPlan> MakePlan(const Space& space,
                                   const std::vector<Objective>& objectives,
                                   const History& history,
                                   const PlanOptions& options);
absl::StatusOr<StudyPlan> MakePlan(const PlanBasis& basis,
                                   const PlanOptions& options);

// What all plans of a study stand on: the belief about it, which takes most of
// the work to fit, and the search for points. Any thread may ask it. It keeps
// references to space and objectives, and points into the history.
class PlanBasis {
 public:
  // After a stop nobody may believe it.
  PlanBasis(StudyBelief belief, const std::stop_token& stop);
  PlanBasis(const PlanBasis&) = delete;
  PlanBasis& operator=(const PlanBasis&) = delete;

  const StudyBelief& belief() const { return belief_; }
  const PlanSearch& search() const { return search_; }
  const PlanChoices& choices() const { return search_.choices(); }
  // Comes from the belief's surrogate.
  const std::vector<surrogate::Belief>& left_out() const { return left_out_; }
  const Optimism& optimism() const { return optimism_; }

 private:
  const StudyBelief belief_;
  const PlanSearch search_;
  const std::vector<surrogate::Belief> left_out_;
  const Optimism optimism_;
};

// Returns the one tolerance that plans, frontiers, and what they ask for go by:
// what is asked for, else the objective's, else what nobody could notice near
// the most promising of the tried points.
double ToleranceInForce(const PlanBasis& basis, const PlanOptions& options);

// Fits by options.evaluate, and checks all; errors are MakePlan's. Here and
// there a stop (options.evaluate.stop) makes it CANCELLED.
absl::StatusOr<std::unique_ptr<const PlanBasis>> MakePlanBasis(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const PlanOptions& options);

// Fails with REQUEST_INVALID for a tolerance below 0 or not finite, evaluation
// rows below 0, and a space where no module takes its rate from a parameter.
absl::Status CheckPlanRequest(const Space& space, const PlanOptions& options);

// Returns places in Space::modules(): embeddings first, head last, then others.
std::vector<std::size_t> ModulesInDepthOrder(const Space& space);

// Below this share of variance predicted of unseen trials, verify a plan first.
inline constexpr double kSolidR2 = 0.3;

// An error rounded to two digits, and its value to as many places.
struct RoundedPair {
  std::string value;
  std::string error;
};
RoundedPair RoundTogether(double value, double error);
// Says "0.918 (0.897 to 0.931)": the interval of 80 %.
std::string SayInterval(const Interval& interval);
// Says "0.96", rounded as a percentage is, so that 0.955 is 96 % beside it, and
// never that something is sure.
std::string SayChance(double probability);
// Says "embeddings, layer.0, layer.2 and 3 more", or "layer.1-5" of layers that
// follow each other.
std::string SayModules(const std::vector<std::string>& modules);

// `planned` lacks only its reason.
std::string ReasonFor(const ModuleBinding& binding,
                      const PlannedModule& planned, const std::string& metric,
                      double tolerance);

// `copies` says that the plan is the best trial.
std::string PlanVerdict(const StudyBelief& belief, const StudyPlan& plan,
                        bool copies);

// Repeats those of the trials, then NOTHING_EXPLAINED, LITTLE_EXPLAINED,
// PLAN_NOT_BETTER (than the best trial).
std::vector<ReportWarning> PlanWarnings(const PlanBasis& basis,
                                        const StudyPlan& plan, bool copies);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_STUDY_PLAN_H_
