// SPDX-License-Identifier: Apache-2.0
//
// File: model.h
//
// A model is an encoder with a head, or with one for each task. Weights and
// results are fp32; under autocast (device/autocast.h) the layers multiply in
// bf16, the head and the sums along the layers stay fp32.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_MODEL_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_MODEL_H_

#include <cstddef>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/batch.h"
#include "worker/trainer/model/encoder.h"
#include "worker/trainer/model/head.h"

namespace frostline::trainer {

// One thread at a time uses it. Copies share their weights.
class Model {
 public:
  Model(TransformerEncoder encoder, ModelHead head);
  // One or more, whose poolers are one.
  Model(TransformerEncoder encoder, std::vector<ModelHead> heads);
  // `values` has one tensor for each of ParametersOf(config, heads), in order.
  Model(const ModelConfig& config, const Heads& heads,
        const std::vector<at::Tensor>& values);

  const TransformerEncoder& encoder() const { return encoder_; }
  const ModelHead& head(std::size_t task = 0) const { return heads_[task]; }
  const Heads& heads() const { return specs_; }
  const ModelConfig& config() const { return encoder_.config(); }
  // They are in the order of ParametersOf. A change of a tensor reaches the
  // part that it belongs to.
  std::vector<Weight>& weights() { return weights_; }
  const std::vector<Weight>& weights() const { return weights_; }

  // Throws what LibTorch throws.
  Model To(at::Device device) const;
  at::Device device() const { return weights_.front().value.device(); }

  // Merges the encoder (encoder.h). Throws what LibTorch throws.
  Model Merged() const;

  // As the encoder's. Throws what LibTorch throws.
  void Prepare(const Kernels& kernels, std::optional<at::ScalarType> half) {
    encoder_.Prepare(kernels, half);
  }

  Expected<Done> Check(const Batch& batch) const;
  // Runs the prefix, unless the batch brings its boundary, the suffix and the
  // head. Throws what LibTorch throws.
  at::Tensor Forward(const Batch& batch, const Pass& pass) const;

 private:
  TransformerEncoder encoder_;
  std::vector<ModelHead> heads_;
  Heads specs_;
  std::vector<Weight> weights_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_MODEL_H_
