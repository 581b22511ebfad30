// SPDX-License-Identifier: Apache-2.0
//
// File: torch_recordings.h
//
// The JSON of a recording, with the trainer's own reader. What is not there,
// or is of another kind, throws std::runtime_error and so fails that recording
// alone.
#ifndef FROSTLINE_TESTS_PARITY_FIGURES_TORCH_RECORDINGS_H_
#define FROSTLINE_TESTS_PARITY_FIGURES_TORCH_RECORDINGS_H_

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/plain/json.h"
#include "tests/parity/figures/figures.h"
#include "tests/worker/trainer/fixtures.h"

namespace frostline::test {

// A file; its values live as long as the object.
class RecordedJson {
 public:
  explicit RecordedJson(const std::filesystem::path& file);
  RecordedJson(const RecordedJson&) = delete;  // values point into it
  RecordedJson& operator=(const RecordedJson&) = delete;

  const JsonValue& root() const { return json_.root(); }

 private:
  std::string bytes_;
  Json json_;
};

bool Has(const JsonValue& object, const std::string& member);
const JsonValue& At(const JsonValue& object, const std::string& member);

double NumberOf(const JsonValue& value);
double NumberAt(const JsonValue& object, const std::string& member);
std::string TextAt(const JsonValue& object, const std::string& member);
std::string TextAt(const JsonValue& object, const std::string& member,
                   const std::string& otherwise);

// The elements of an array or the members of an object, in their order.
std::vector<const JsonValue*> Elements(const JsonValue& value);
std::set<std::string> TextsAt(const JsonValue& object,
                              const std::string& member);

// Models and batches of a recording, wherever it lies. Throws
// std::runtime_error with the fault, which fails that recording alone.
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
