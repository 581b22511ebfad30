// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint.h
//
// A checkpoint is there as a whole or not at all.
#ifndef FROSTLINE_WORKER_DEMO_TRAINER_CHECKPOINT_H_
#define FROSTLINE_WORKER_DEMO_TRAINER_CHECKPOINT_H_

#include <optional>
#include <string>

namespace frostline::demo_trainer {

bool WriteCheckpoint(const std::string& folder, const std::string& id,
                     const std::string& bytes);
std::optional<std::string> ReadCheckpoint(const std::string& path);

}  // namespace frostline::demo_trainer

#endif  // FROSTLINE_WORKER_DEMO_TRAINER_CHECKPOINT_H_
