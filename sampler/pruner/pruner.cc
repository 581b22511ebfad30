// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/pruner.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "sampler/options.h"
#include "sampler/pruner/percentile.h"
#include "sampler/pruner/rungs.h"
#include "sampler/pruner/threshold.h"
#include "sampler/pruner/wilcoxon.h"

namespace frostline::sampler {
namespace {

struct PrunerKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<Pruner>> (*make)(const PrunerSpec& spec,
                                                  const Objective& objective);
};

// Sorted by name. A new pruner is one row here and one pair of files.
constexpr std::array kPruners = {
    PrunerKind{"asha", MakeAshaPruner},
    PrunerKind{"hyperband", MakeHyperbandPruner},
    PrunerKind{"median", MakeMedianPruner},
    PrunerKind{"none", MakeNoPruner},
    PrunerKind{"patient", MakePatientPruner},
    PrunerKind{"percentile", MakePercentilePruner},
    PrunerKind{"threshold", MakeThresholdPruner},
    PrunerKind{"wilcoxon", MakeWilcoxonPruner},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakePruner(
    const PrunerSpec& spec, const std::vector<Objective>& objectives) {
  for (const PrunerKind& kind : kPruners) {
    if (spec.name != kind.name) continue;
    if (objectives.size() > 1 && spec.name != "none") {
      return MakeError(ErrorId::kPrunerInvalid,
                       absl::StrCat("pruner ", spec.name,
                                    " compares one metric, but there "
                                    "are ",
                                    objectives.size(), " objectives"),
                       "leave the pruner out, or search by one objective",
                       "pruner.name");
    }
    return kind.make(spec, objectives[0]);
  }
  return UnknownName(ErrorId::kPrunerInvalid, "pruner", spec.name,
                     PrunerNames(), "pruner.name");
}

std::vector<std::string> PrunerNames() {
  std::vector<std::string> names;
  for (const PrunerKind& kind : kPruners) names.push_back(kind.name);
  return names;
}

}  // namespace frostline::sampler
