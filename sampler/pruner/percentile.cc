// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/percentile.h"

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "sampler/options.h"
#include "sampler/pruner/percentile_rule.h"

namespace frostline::sampler {

absl::StatusOr<std::unique_ptr<Pruner>> MakePercentilePruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner percentile", spec.field,
                      spec.options);
  PercentileOptions options = ReadPercentileOptions(reader);
  options.percentile = reader.Number("percentile", 25.0, 0.0, 100.0);
  RETURN_IF_ERROR(reader.Finish());
  return MakePercentileRule(
      options, absl::StrFormat("percentile %g", options.percentile), objective);
}

}  // namespace frostline::sampler
