// SPDX-License-Identifier: Apache-2.0
//
// File: study_memory.h
//
// What a study's trials will take of memory, before there is one: from the
// shapes of its model, which this machine's registry has.
#ifndef FROSTLINE_CLI_COMMANDS_STUDY_MEMORY_H_
#define FROSTLINE_CLI_COMMANDS_STUDY_MEMORY_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "cli/study_file/study_file.h"
#include "frostline/v1/study.pb.h"
#include "worker/registry/memory.h"

namespace frostline::cli {

// What trains of the model at some point of the space: all that can, or no more
// than must.
enum class HowMuch { kMost, kLeast };
registry::TrainedModules TrainedOf(const v1::StudySpec& spec, HowMuch how);

// Fails with TRAINER_MISMATCH where peak_memory_mib is bounded below what the
// weights alone take at the least point. OK where the registry lacks the model.
absl::Status CheckStudyMemory(const StudyFile& study,
                              const std::string& folder);

// Returns a sentence for a dry run; empty where the registry lacks the model.
absl::StatusOr<std::string> RenderStudyMemory(const v1::StudySpec& spec,
                                              const std::string& folder,
                                              int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STUDY_MEMORY_H_
