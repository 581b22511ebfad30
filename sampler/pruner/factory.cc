// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sampler/options.h"
#include "sampler/pruner/median.h"
#include "sampler/pruner/none.h"
#include "sampler/pruner/pruner.h"

namespace frostline {
namespace {

struct PrunerKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<Pruner>> (*make)(
      const Options& options, const std::vector<Objective>& objectives);
};

// Sorted by name. A new pruner is one row here and one pair of files.
constexpr std::array kPruners = {
    PrunerKind{"median", MakeMedianPruner},
    PrunerKind{"none", MakeNoPruner},
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakePruner(
    const PrunerSpec& spec, const std::vector<Objective>& objectives) {
  for (const PrunerKind& kind : kPruners) {
    if (spec.name == kind.name) return kind.make(spec.options, objectives);
  }
  return UnknownName(ErrorId::kPrunerInvalid, "pruner", spec.name,
                     PrunerNames(), "pruner.name");
}

std::vector<std::string> PrunerNames() {
  std::vector<std::string> names;
  for (const PrunerKind& kind : kPruners) names.push_back(kind.name);
  return names;
}

}  // namespace frostline
