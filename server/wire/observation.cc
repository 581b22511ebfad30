// SPDX-License-Identifier: Apache-2.0
#include "server/wire/observation.h"

#include "frostline/v1/trial.pb.h"
#include "server/wire/training_seed.h"

namespace frostline::server {

Observation ObservationOf(const storage::TrialRow& row) {
  Observation seen;
  seen.number = row.number;
  // Whether a pending trial waits or runs tells a sampler nothing.
  seen.state = IsTerminal(row.state) ? row.state : TrialState::kRunning;
  seen.point = row.point;
  seen.values = row.values;
  v1::Usage usage;
  usage.ParseFromString(row.usage);
  seen.cost_s = usage.train_seconds();
  seen.trained_parameters = static_cast<double>(usage.trained_parameters());
  const NotedSeed noted = NotedSeedOf(row);
  seen.seed = noted.seed;
  seen.repeat = noted.repeat;
  return seen;
}

}  // namespace frostline::server
