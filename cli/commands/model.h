// SPDX-License-Identifier: Apache-2.0
//
// File: model.h
//
// Copies a trained model from a worker's folder on this machine. The model's
// file SHA256SUMS lists all other files. The hash of that file identifies the
// model, so another model at the same path is noticed.
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

// Returns whether exactly this model is on this machine.
bool IsHere(const v1::TrainedModel& model);

// Returns REQUEST_INVALID when `folder` is not empty or is not a folder.
absl::Status CheckTarget(const std::string& folder);

// Copies the model into `folder`, completely or not at all. The files are
// copied and checked in `.NAME.frostline-part` beside it, which is renamed at
// the end. Remains of an interrupted copy are removed first. REQUIRES: IsHere()
// and CheckTarget().
absl::StatusOr<ModelCopy> CopyModel(const v1::TrainedModel& model,
                                    const std::string& folder);

// Runs `frostline model export STUDY DIR`.
absl::StatusOr<ExitCode> ExportBestModel(Session& session,
                                         const std::string& study,
                                         const std::string& folder);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_MODEL_H_
