// SPDX-License-Identifier: Apache-2.0
//
// File: model.h
//
// Copies a trained model from a worker's folder on this machine. Its file
// SHA256SUMS names all others; what its own sum says tells this model from one
// that has taken its place, or that another machine has under this path.
//
//   ASSIGN_OR_RETURN(const ModelCopy copy, CopyModel(trial.usage().model(),
//                                                    "best"));
#ifndef FROSTLINE_CLI_COMMANDS_MODEL_H_
#define FROSTLINE_CLI_COMMANDS_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/commands/command.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

struct ModelCopy {
  std::string folder;
  std::vector<std::string> files;
  std::int64_t bytes = 0;
};

// Says whether this very model is on this machine.
bool IsHere(const v1::TrainedModel& model);

// Answers REQUEST_INVALID where `folder` has something in it or is no folder.
absl::Status CheckTarget(const std::string& folder);

// Fills `folder` at once or not at all: files are copied and their sums
// compared beside it, in `.NAME.frostline-part`, which takes its name at the
// end. What an interrupted copy left there goes first.
// REQUIRES: IsHere() and CheckTarget().
absl::StatusOr<ModelCopy> CopyModel(const v1::TrainedModel& model,
                                    const std::string& folder);

// What `frostline model export STUDY DIR` does.
absl::StatusOr<ExitCode> ExportBestModel(Session& session,
                                         const std::string& study,
                                         const std::string& folder);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_MODEL_H_
