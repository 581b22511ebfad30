// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/median.h"

#include "base/status_macros.h"
#include "sampler/options.h"
#include "sampler/pruner/percentile_rule.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakeMedianPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner median", spec.field,
                      spec.options);
  PercentileOptions median = ReadPercentileOptions(reader);
  median.percentile = 50.0;
  RETURN_IF_ERROR(reader.Finish());
  return MakePercentileRule(median, "median", objective);
}

}  // namespace frostline::sampler
