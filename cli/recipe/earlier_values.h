// SPDX-License-Identifier: Apache-2.0
//
// File: earlier_values.h
//
// What a finished stage hands to the next ones.
#ifndef FROSTLINE_CLI_RECIPE_EARLIER_VALUES_H_
#define FROSTLINE_CLI_RECIPE_EARLIER_VALUES_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/recipe/recipe_stage.h"

namespace frostline::cli {

// `what` as in a recipe: "best", "best-2", "best.rate", "plan". A stage that
// left nothing to take is TRIALS_TOO_FEW and says what to do.
absl::StatusOr<YamlPtr> FetchEarlierValue(Client& client,
                                          const StageStudy& earlier,
                                          const std::string& what);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_EARLIER_VALUES_H_
