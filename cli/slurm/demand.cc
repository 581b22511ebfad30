// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/demand.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/view/format.h"

namespace frostline::cli {

Demand DemandOf(const v1::Study& study) {
  Demand demand;
  if (IsEnded(study.state())) return demand;
  const v1::TrialCounts& counts = study.counts();
  demand.running = counts.running();
  const std::int64_t begun = counts.running() + counts.queued();
  // A retried trial is queued and belongs to no budget.
  demand.left = std::max(
      study.settings().budget().trials() - counts.budget_used(), begun);
  if (study.state() == v1::STUDY_STATE_PAUSED) {
    demand.usable = counts.running();
    return demand;
  }
  const std::int64_t bound = study.settings().max_parallel() > 0
                                 ? study.settings().max_parallel()
                                 : std::max(study.useful_parallelism(), begun);
  demand.usable = std::min(demand.left, bound);
  return demand;
}

Demand DemandOf(const std::vector<v1::Study>& studies) {
  Demand all;
  for (const v1::Study& study : studies) {
    const Demand one = DemandOf(study);
    all.left += one.left;
    all.running += one.running;
    all.usable += one.usable;
  }
  return all;
}

int WorkersFor(const Demand& demand, int slots, int most) {
  const std::int64_t workers = (demand.usable + slots - 1) / slots;
  return static_cast<int>(std::min<std::int64_t>(workers, most));
}

std::string DescribeWish(const Demand& demand, int wish, int most) {
  return absl::StrCat(wish, " at a time (", FormatCount(demand.left),
                      demand.left == 1 ? " trial left, " : " trials left, ",
                      FormatCount(demand.usable), " useful at a time, at most ",
                      most, ")");
}

}  // namespace frostline::cli
