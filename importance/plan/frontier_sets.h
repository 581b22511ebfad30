// SPDX-License-Identifier: Apache-2.0
//
// File: frontier_sets.h
//
// Sets of modules to train stand at their most promising rates: all of few
// modules, else those of greedy searches up from none and down from all.
#ifndef FROSTLINE_IMPORTANCE_PLAN_FRONTIER_SETS_H_
#define FROSTLINE_IMPORTANCE_PLAN_FRONTIER_SETS_H_

#include <cstddef>
#include <stop_token>
#include <vector>

#include "importance/plan/plan_search.h"

namespace frostline::importance {

struct ModuleSet {
  std::vector<bool> frozen;  // by Space::modules()
  std::size_t trained = 0;   // of those that can be switched
  PlanChoice choice;
  double worth = 0.0;  // as PlanChoices::Worth
};

class FrontierSets {
 public:
  // Keeps a reference. After a stop sets are missing. REQUIRES: `start` is in
  // the space.
  FrontierSets(const PlanSearch& search, const PlanChoice& start,
               const std::stop_token& stop);

  // Says by Space::modules() what the space can both freeze and train.
  const std::vector<bool>& can_switch() const { return can_switch_; }
  // Has the best first, and a few for each number trained.
  const std::vector<ModuleSet>& sets() const { return sets_; }
  // All below a level (0: none, 1: embeddings, 2: layer.0 too) are frozen, the
  // next is trained; levels fall as far as the space allows.
  struct Prefix {
    int level = 0;
    ModuleSet set;
  };
  std::vector<Prefix> Prefixes() const;

 private:
  ModuleSet SetOf(PlanChoice choice) const;
  void FindUnits();
  Demands DemandsOf(const std::vector<bool>& trained_units) const;
  void LookAtAll(const std::stop_token& stop);
  void LookGreedily(bool up, const std::stop_token& stop);
  void KeepBest();

  const PlanSearch& search_;
  PlanChoice start_;
  std::vector<bool> can_switch_;
  std::vector<std::vector<std::size_t>> units_;  // modules of one parameter
  std::vector<ModuleSet> sets_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_FRONTIER_SETS_H_
