// SPDX-License-Identifier: Apache-2.0
//
// File: head.h
//
// Answers a task on an encoder: a pooler where the family has one, and the
// classifier, regression or projection of transformers, with C outputs.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_HEAD_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_HEAD_H_

#include <vector>

#include "worker/trainer/model/batch.h"
#include "worker/trainer/model/family.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/model/weights.h"

namespace frostline::trainer {

// One thread at a time uses it. Copies share their weights.
class ModelHead {
 public:
  // `weights` are HeadParametersOf(config, spec), in that order.
  ModelHead(ModelConfig config, HeadSpec spec, std::vector<Weight> weights);

  const HeadSpec& spec() const { return spec_; }
  const std::vector<Weight>& weights() const { return weights_; }

  // Both throw what LibTorch throws.
  ModelHead To(at::Device device) const;

  // Turns hidden states [B, N, H] into [B, C], [B, N, C], or the scores [B/2].
  at::Tensor Logits(const at::Tensor& hidden, const Batch& batch,
                    const Pass& pass) const;

 private:
  at::Tensor TextOf(const at::Tensor& hidden, const Batch& batch) const;
  // Of projected texts, the right ones behind the left ones.
  at::Tensor Likeness(const at::Tensor& texts) const;

  ModelConfig config_;
  HeadSpec spec_;
  HeadShape shape_;
  std::vector<Weight> weights_;
  // They are handles on weights_.
  Linear pooler_;
  Linear dense_;  // pre_classifier, classifier.dense, projection
  Norm dense_norm_;
  Linear output_;  // classifier, classifier.out_proj
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_HEAD_H_
