// SPDX-License-Identifier: Apache-2.0
//
// File: torch_recordings.h
//
// Models and batches of a recording, wherever it lies. Throws
// std::runtime_error with the fault, which fails that recording alone.
#ifndef FROSTLINE_TESTS_PARITY_FIGURES_TORCH_RECORDINGS_H_
#define FROSTLINE_TESTS_PARITY_FIGURES_TORCH_RECORDINGS_H_

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/parity/figures/figures.h"
#include "tests/parity/figures/recorded_json.h"
#include "tests/worker/trainer/fixtures.h"

namespace frostline::test {

template <typename T>
T OrThrow(Expected<T> outcome) {
  if (outcome.ok()) return std::move(outcome).value();
  throw std::runtime_error(outcome.fault().cause);
}

trainer::Tensors RecordedTensors(const std::filesystem::path& file);

// The model of a folder with the head that its expected.json names. From here
// on LibTorch has one thread, as when it was recorded.
trainer::LoadedModel RecordedModel(const std::filesystem::path& folder);

// Adds sum, sum of magnitudes and the first few numbers of a tensor, where not
// all is recorded.
void AddSummary(FigureKind kind, const std::string& name,
                const JsonValue& recorded, const at::Tensor& tensor,
                Figures& figures);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_PARITY_FIGURES_TORCH_RECORDINGS_H_
