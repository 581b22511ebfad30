// SPDX-License-Identifier: Apache-2.0
//
// File: options.h
#ifndef FROSTLINE_WORKER_TRAINER_PROCESS_OPTIONS_H_
#define FROSTLINE_WORKER_TRAINER_PROCESS_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/plain/result.h"
#include "worker/trainer/predict/predict.h"

namespace frostline::trainer {

// Takes an option that says what to answer, such as --rows FILE or --column
// text=review. False when it is none of those; kMisuse for its value.
Expected<bool> TakePredictOption(const std::string& option,
                                 const std::string& value,
                                 PredictRequest& request);

// Returns kMisuse when the model, the rows or the output is not named.
Expected<Done> CheckPredictRequest(const PredictRequest& request);

struct TrainerOptions {
  enum class Action { kTrain, kPredict, kSelfCheck, kVersion, kHelp };

  Action action = Action::kTrain;
  std::string registry;  // a folder
  std::string device = "auto";
  int threads = 0;  // 0: OMP_NUM_THREADS, else all cores
  double checkpoint_seconds = 300.0;
  std::string prefix_folder;       // of stored activations; empty: none
  std::uint64_t prefix_bytes = 0;  // 0: a tenth of its file system
  // Where it may write besides, for Contain(); empty: it is not contained.
  std::string write_folder;
  // How much of a GPU's memory frozen layers' results may take; absent: a
  // quarter of what is free.
  std::optional<std::uint64_t> resident_bytes;
  PredictRequest predict;  // of kPredict
};

// `arguments` lack the program's name. Returns kMisuse for what is not known,
// out of range, or missing; $FROSTLINE_REGISTRY stands in for --registry.
Expected<TrainerOptions> ReadOptions(std::span<const std::string> arguments);

extern const char kTrainerHelp[];

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PROCESS_OPTIONS_H_
