// SPDX-License-Identifier: Apache-2.0
//
// File: frontier.h
//
// For each amount of training: the most promising set of modules, its score,
// and how likely that is within the tolerance of the best there is, which is
// another point in each draw.
#ifndef FROSTLINE_IMPORTANCE_PLAN_FRONTIER_H_
#define FROSTLINE_IMPORTANCE_PLAN_FRONTIER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/study_plan.h"

namespace frostline::importance {

// A set of modules to train, at its most promising rates.
struct ModuleSet {
  std::vector<bool> frozen;  // by Space::modules()
  std::size_t trained = 0;   // of those that can be switched
  PlanChoice choice;
  double worth = 0.0;  // as PlanChoices::Worth
};

// The most promising sets of modules to train. If few modules can be switched
// it looks at all sets, else at those that greedy searches find, up from none
// and down from all; and at those above each frozen prefix, which one searched
// depth may switch together. MakeFrontier makes one.
class FrontierSets {
 public:
  // Keeps a reference. After a stop sets are missing. REQUIRES: `start` is in
  // the space.
  FrontierSets(const PlanSearch& search, const PlanChoice& start,
               const std::stop_token& stop);

  // Says by Space::modules() what the space can both freeze and train.
  const std::vector<bool>& can_switch() const { return can_switch_; }
  // Returns the best set first, and a few for each number trained.
  const std::vector<ModuleSet>& sets() const { return sets_; }
  // All below a level (0: none, 1: embeddings, 2: layer.0 too) are frozen, the
  // next is trained; levels fall as far as the space allows.
  struct Prefix {
    int level = 0;
    ModuleSet set;
  };
  const std::vector<Prefix>& prefixes() const { return prefixes_; }

 private:
  ModuleSet SetOf(PlanChoice choice) const;
  void FindUnits();
  Demands DemandsOf(const std::vector<bool>& trained_units) const;
  void LookAtAll(const std::stop_token& stop);
  void LookGreedily(bool up, const std::stop_token& stop);
  void LookAtPrefixes();
  void KeepBest();

  const PlanSearch& search_;
  PlanChoice start_;
  std::vector<bool> can_switch_;
  std::vector<std::vector<std::size_t>> units_;  // modules of one parameter
  std::vector<ModuleSet> sets_;
  std::vector<Prefix> prefixes_;
};

struct FrontierSet {
  std::vector<std::string> trained;  // in depth order
  int prefix_frozen = 0;             // so many of embeddings, layer.0, …
  Point point;                       // at the rates of which most is expected
  double trained_parameters = 0.0;   // by what trials took; NaN: unknown
  // The median of trials that trained just this, else likewise.
  double seconds = 0.0;
  Interval predicted;  // mean over seeds
  // NaN: trials do not tell, because all froze or all trained a module that is
  // left out.
  double within_tolerance_probability = 0.0;
  std::int64_t trials = 0;  // that trained exactly this
};

struct Frontier {
  double tolerance = 0.0;               // in force
  Interval best;                        // of the point of most promise
  std::size_t modules = 0;              // that can be frozen and trained
  std::vector<FrontierSet> by_modules;  // by rising number trained
  std::vector<FrontierSet> by_prefix;   // by falling depth frozen
  // The smallest of by_modules within the tolerance with kSureEnough, or -1.
  int chosen = -1;
  std::string verdict;
  std::vector<ReportWarning> warnings;
};

// Returns the smallest set that is within the tolerance with at least this
// probability, if every smaller one is so with at most what is left to 1; else
// nullptr: it is still open what is enough. REQUIRES: probability > 0.5.
const FrontierSet* FindSettledSet(const Frontier& frontier, double probability);

// Says "training 2 of 7 modules (layer.1, layer.3) is enough: accuracy 0.88
// (0.85 to 0.91), within 0.01 of the best with probability 0.97".
std::string SayEnough(const Frontier& frontier, const FrontierSet& set,
                      const std::string& metric);

// Fails as MakePlan does.
absl::StatusOr<Frontier> MakeFrontier(const Space& space,
                                      const std::vector<Objective>& objectives,
                                      const History& history,
                                      const PlanOptions& options);
absl::StatusOr<Frontier> MakeFrontier(const PlanBasis& basis,
                                      const PlanOptions& options);

// A set of which it is open whether it is enough.
struct OpenSet {
  PlanChoice set;
  PlanChoice best;   // the point of which most is expected
  std::string says;  // "training 2 of 7 modules (layer.1, layer.3) is enough"
};

// Returns the smallest one, unless a smaller set is surely enough. Fails as
// MakePlan does.
absl::StatusOr<std::optional<OpenSet>> FindOpenSet(const PlanBasis& basis,
                                                   const PlanOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_FRONTIER_H_
