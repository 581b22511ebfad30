// SPDX-License-Identifier: Apache-2.0
//
// File: beliefs.h
//
// What the Gaussian process believes of losses, costs and constraints, and the
// goal that a search makes of it.
#ifndef FROSTLINE_SAMPLER_GP_BELIEFS_H_
#define FROSTLINE_SAMPLER_GP_BELIEFS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "sampler/gp/levels.h"
#include "sampler/sampler.h"
#include "surrogate/growing_surrogate.h"

namespace frostline::sampler {

// Expected improvement (Jones et al., 1998, eq. 15) is in logarithms (Ament et
// al., NeurIPS 2023, eq. 9), since far from the best it would underflow, and
// nothing would say which way is better.
//
// Returns ln E[max(0, best - X)] of a normal X. REQUIRES: deviation > 0.
double LogExpectedImprovement(double mean, double deviation, double best);

// A constraint, which is kept if its measure is at most `bound`.
struct ConstraintGoal {
  const surrogate::GrowingSurrogate* value = nullptr;
  double bound = 0.0;
};

// What a search is after: a loss below `best`, from a trial that does not fail
// and keeps each constraint.
struct SearchGoal {
  const surrogate::GrowingSurrogate* loss = nullptr;
  double best = 0.0;
  // Until one trial has kept all constraints there is no loss to beat: the goal
  // is to keep them.
  bool has_best = true;
  // It is nullptr when no trial failed.
  const surrogate::GrowingSurrogate* failure = nullptr;
  double failure_rate = 0.0;
  double failure_deviation = 0.0;
  std::vector<ConstraintGoal> constraints;  // that some trial has broken
};

struct PointBeliefs {
  surrogate::Belief loss;
  surrogate::Belief failure;
  std::vector<surrogate::Belief> constraints;  // as the goal's
};

// Returns ln of expected improvement times chance of success times chance of
// each constraint (Gardner et al., ICML 2014, eq. 6).
double ScoreOf(const SearchGoal& goal, const PointBeliefs& beliefs);

// Losses get mean 0 and variance 1: the better half keeps its distances, in
// units of its spread; the worse is compressed by a logarithm, so that a cliff,
// a diverged trial or 1e308 is merely bad. What a constraint measures is told
// by how far it is from the bound instead: asinh(v / s), which is about v / s
// near the bound, grows as a logarithm beyond it, and keeps the sign of v.

// An infinite loss is unknown and goes to the upper quartile. Equal losses are
// all 0. REQUIRES: none is NaN.
std::vector<double> TargetsOf(const std::vector<double>& losses);

struct ConstraintTargets {
  std::vector<double> targets;
  double bound = 0.0;  // a target above it is broken
};

// Each of `values` is what was measured less its bound. The scale is the median
// distance of those that keep the bound or of those that break it, whichever is
// nearer, but at least a hundredth of all distances' median. An infinite one is
// twice as far as the furthest of its side. REQUIRES: none is NaN.
ConstraintTargets ConstraintTargetsOf(const std::vector<double>& values);

// When the kernel is learnt, and from which trials, follows from their number,
// so a new sampler learns what an old one has.

struct TargetedRows {
  surrogate::RowColumns rows;
  std::vector<double> targets;  // of the first rows; the others have none
};

// The kernel was learnt after so many: every second trial at first, later
// whenever there is an eighth more.
std::size_t LastRefresh(std::size_t trials);

// A Gaussian process that learns its kernel from a sample of the rows, and only
// when that sample has changed. StudyBeliefs owns one for losses, one for
// failures and one for each broken constraint.
class LearntModel {
 public:
  explicit LearntModel(std::vector<surrogate::Axis> axes)
      : axes_(std::move(axes)) {}

  // Learns the kernel from `sample`, with which `all` begin. Answers false when
  // stopped; then only the next update's time is another.
  bool Update(TargetedRows sample, TargetedRows all,
              const std::stop_token& stop);

  const surrogate::GrowingSurrogate& posterior() const { return posterior_; }

 private:
  std::vector<surrogate::Axis> axes_;
  TargetedRows learnt_from_;
  surrogate::GrowingSurrogate posterior_;
};

using LedgerList = std::vector<const LedgerTrial*>;

// The rows of earlier studies. Each has its own targets, because losses may be
// of another scale. Belief in it is learnt from how well it foretells this one;
// a given weight becomes noise.
class PriorRows {
 public:
  PriorRows(const std::vector<PriorStudy>& studies, const Space& space,
            const std::vector<LevelAxis>& axes, const Objective& objective);

  const TargetedRows& rows() const { return rows_; }
  std::size_t studies() const { return studies_; }
  // Takes 0 as `study` for this one.
  Cells CellsOf(const LedgerTrial& trial, std::size_t study) const;

 private:
  TargetedRows rows_;
  std::size_t studies_ = 0;
};

// Returns the rows of all studies. The earlier studies come first.
TargetedRows LossRows(const PriorRows& earlier, const LedgerList& valued);

// Targets say whether trials ended without a loss: chance = rate + deviation *
// target.
struct FailureRows {
  TargetedRows rows;
  double rate = 0.0;
  double deviation = 0.0;
};
FailureRows FailureRowsOf(const LedgerList& ended);

// Targets say by how much trials broke one constraint, or kept it. REQUIRES:
// each trial has measured it.
struct ConstraintRows {
  TargetedRows rows;
  double bound = 0.0;  // a target above it is broken
};
ConstraintRows ConstraintRowsOf(const LedgerList& measured, std::size_t which);

// One Gaussian process learns losses, earlier studies' included; where trials
// failed, another learns the failures; of each constraint that was broken, one
// learns by how much.

struct TrialParts {
  LedgerList all, valued, ended, running;
  bool any_failed = false;
  // For each constraint that some trial broke, its place and who has a value.
  std::vector<std::pair<std::size_t, LedgerList>> broken;
};

TrialParts PartsOf(LedgerList trials);

struct Aim {
  SearchGoal goal;
  std::vector<Cells> tried;  // the best believed in first; never empty
};

// The beliefs about a study. It keeps a reference to the earlier studies.
class StudyBeliefs {
 public:
  StudyBeliefs(const Space& space, const std::vector<LevelAxis>& axes,
               const PriorRows& earlier);

  // The aim is valid until the next call; there is none when stopped. REQUIRES:
  // there is a loss, here or in an earlier study.
  std::optional<Aim> Learn(const TrialParts& parts,
                           const std::stop_token& stop);

 private:
  // Both answer false when stopped. The targets are earlier studies' first.
  bool LearnLosses(const TrialParts& parts, std::vector<double>& targets,
                   const std::stop_token& stop);
  bool LearnFailures(const LedgerList& ended, SearchGoal& goal,
                     const std::stop_token& stop);
  bool LearnConstraints(const TrialParts& parts, SearchGoal& goal,
                        const std::stop_token& stop);
  // Fills in what was tried, and the best loss: seen, or believed of a running
  // trial.
  void OrderTried(const TrialParts& parts, const std::vector<double>& targets,
                  Aim& aim) const;

  std::size_t axes_;
  const PriorRows& earlier_;
  LearntModel loss_;
  LearntModel failure_;
  std::vector<surrogate::Axis> own_axes_;
  std::map<std::size_t, LearntModel> constraints_;  // by place
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_BELIEFS_H_
