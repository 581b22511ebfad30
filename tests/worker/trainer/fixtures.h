// SPDX-License-Identifier: Apache-2.0
//
// File: fixtures.h
//
// The recorded models of tests/parity/data: tiny random ones, with what
// transformers computed from them.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_FIXTURES_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_FIXTURES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/plain/json.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

using Tensors = std::map<std::string, at::Tensor>;

// tests/parity/data/`name`. From here on LibTorch has one thread.
std::string FixturePath(const std::string& name);

// A JSON file, alive as long as the object.
class JsonFixture {
 public:
  explicit JsonFixture(const std::string& path);
  const JsonValue& operator[](const std::string& member) const;
  const JsonValue& root() const { return json_.root(); }

 private:
  std::string bytes_;
  Json json_;
};

std::vector<double> Numbers(const JsonValue& list);
std::vector<std::string> Texts(const JsonValue& list);

// All tensors of a .safetensors file; floats as fp32.
Tensors ReadTensors(const std::string& path);

// The batch whose tensors begin with `prefix`: "b0".
Batch BatchOf(const Tensors& tensors, const std::string& prefix);

// Gives the batch's texts noise, each of its own; by default the text in row i
// has the number i.
Batch Noisy(Batch batch, std::uint64_t seed);

// "models/bert-tok17" with the head that its name says.
LoadedModel LoadFixture(const std::string& name);
HeadSpec HeadOf(const std::string& name);

// The folder of the real MiniLM's weights: $FROSTLINE_MINILM, or where
// ./dev setup puts them; empty where they were not fetched.
std::string RealMiniLm();

// The largest difference between two tensors of one shape; infinite between
// others.
double Furthest(const at::Tensor& a, const at::Tensor& b);

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_FIXTURES_H_
