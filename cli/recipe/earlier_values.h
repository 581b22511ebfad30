// SPDX-License-Identifier: Apache-2.0
//
// File: earlier_values.h
//
// What a finished stage hands to the next ones. Points are ranked by the mean of
// their results over all their trials, of equals the one that was tried first.
#ifndef FROSTLINE_CLI_RECIPE_EARLIER_VALUES_H_
#define FROSTLINE_CLI_RECIPE_EARLIER_VALUES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/recipe/recipe_stage.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

struct RankedPoint {
  std::vector<v1::ParameterValue> values;
  double mean = 0.0;
  int trials = 0;
};

// Of trials that succeeded, the best first.
std::vector<RankedPoint> RankPoints(const v1::Study& study,
                                    const std::vector<v1::Trial>& trials);

// `what` as in a recipe: "best", "best-2", "best.rate", "plan". A stage that
// left nothing to take is TRIALS_TOO_FEW and says what to do.
absl::StatusOr<YamlPtr> FetchEarlierValue(Client& client,
                                          const StageStudy& earlier,
                                          const std::string& what);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_EARLIER_VALUES_H_
