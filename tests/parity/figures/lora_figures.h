// SPDX-License-Identifier: Apache-2.0
//
// File: lora_figures.h
//
// What a recorded training has more when it trains adapters or biases: where
// adapters began, gradients at the end, and the weights into which those of
// peft are merged.
#ifndef FROSTLINE_TESTS_PARITY_FIGURES_LORA_FIGURES_H_
#define FROSTLINE_TESTS_PARITY_FIGURES_LORA_FIGURES_H_

#include <filesystem>

#include "tests/parity/figures/figures.h"
#include "tests/parity/figures/recorded_json.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::test {

// The model of a folder with a recording's adapters, all tensors its own;
// without adapters where it has none. `root` is above models/.
trainer::Model ModelToTrain(const std::filesystem::path& root,
                            const JsonValue& recorded);

// Adds the figures of the batch `first`, on the processor; none for a recording
// in which all weights train.
void AddLoraFigures(trainer::Stepper& stepper, trainer::Model& model,
                    const JsonValue& recorded, const trainer::Batch& first,
                    Figures& figures);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_PARITY_FIGURES_LORA_FIGURES_H_
