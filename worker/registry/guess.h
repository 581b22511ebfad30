// SPDX-License-Identifier: Apache-2.0
//
// File: guess.h
//
// Guesses which column is what from names that data sets mostly use, then from
// what is in the columns; in doubt it asks.
#ifndef FROSTLINE_WORKER_REGISTRY_GUESS_H_
#define FROSTLINE_WORKER_REGISTRY_GUESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/registry/table_look.h"
#include "worker/trainer/data/dataset_reader.h"
#include "worker/trainer/data/task_name.h"

namespace frostline::registry {

struct RoleGuess {
  trainer::TaskName task;
  trainer::ColumnMap columns;        // from roles to columns
  std::vector<std::string> guessed;  // the roles that nobody had named
};

enum class Labels {
  kNeeded,   // to train on
  kIfThere,  // to measure answers: a column that is called so, or none
};

// `said` are the columns that a person named, `task` the task or "". A column
// that is not there is an error that names the nearest.
absl::StatusOr<RoleGuess> GuessRoles(const std::string& path,
                                     const TableLook& look,
                                     const trainer::ColumnMap& said,
                                     const std::string& task,
                                     Labels labels = Labels::kNeeded);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_GUESS_H_
