// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/frontier.h"
#include "tests/bench/tables/plan_truth.h"
#include "tests/bench/tables/table_judge.h"

namespace frostline::bench {

void JudgeFrontier(const TableStudy& study, JudgedStudy& out) {
  const RecordedTable& table = study.table;
  const auto frontier = importance::MakeFrontier(
      table.space, {table.objective}, study.history, PlanOptionsFor(study));
  out.Add("refused", frontier.ok() ? 0.0 : 1.0, "frontier");
  if (!frontier.ok()) return;
  const double least =
      table.Score(study.truth.best->Mean()) - frontier->tolerance;
  for (const importance::FrontierSet& set : frontier->by_modules) {
    out.Add("frontier_impossible", IsImpossible(table, set.predicted));
    const auto truth = TruthAt(study, set.point);
    if (!truth) continue;
    out.Add("frontier_cover80", Holds80(set.predicted, truth->value, 0.0));
    out.Add("frontier_cover80_seeds",
            Holds80(set.predicted, truth->value, truth->error));
    out.Add("frontier_width80", set.predicted.hi80 - set.predicted.lo80);
  }
  out.Add("frontier_named", frontier->chosen >= 0);
  if (frontier->chosen < 0) return;
  const importance::FrontierSet& chosen =
      frontier->by_modules[static_cast<std::size_t>(frontier->chosen)];
  out.Add("frontier_modules", static_cast<double>(chosen.trained.size()));
  const auto truth = TruthAt(study, chosen.point);
  if (truth) out.Add("frontier_right", table.Score(truth->value) >= least);
}

}  // namespace frostline::bench
