// SPDX-License-Identifier: Apache-2.0
//
// File: torch_figures.h
//
// Runs a recorded model or a recorded training on a device, which is given its
// work as `kernels` say. Where a recording lies decides nothing; what it is
// made of is in docs/reference/parity.md.
// Throws std::runtime_error for one that is broken, and what LibTorch throws.
#ifndef FROSTLINE_TESTS_PARITY_FIGURES_TORCH_FIGURES_H_
#define FROSTLINE_TESTS_PARITY_FIGURES_TORCH_FIGURES_H_

#include <filesystem>

#include "tests/parity/figures/figures.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/layers.h"

namespace frostline::test {

// models/NAME/expected.json: logits, hidden states, losses, gradients. Where
// texts are padded, logits once more, of tokens that are there.
Figures ModelFigures(const std::filesystem::path& expected,
                     const trainer::Device& device,
                     const trainer::Kernels& kernels);

// The same model's logits in bf16, in fp16, and with TF32 where the device has
// it. Our promise, not the recording's: what was recorded is fp32.
Figures RoundedFigures(const std::filesystem::path& expected,
                       const trainer::Device& device);

// trajectories/NAME.json: the losses, norms and factors of every step, the
// losses and weights at the end.
Figures TrajectoryFigures(const std::filesystem::path& trajectory,
                          const trainer::Device& device,
                          const trainer::Kernels& kernels);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_PARITY_FIGURES_TORCH_FIGURES_H_
