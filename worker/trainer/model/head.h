// SPDX-License-Identifier: Apache-2.0
//
// File: head.h
//
// Answers a task on an encoder: a pooler where the family has one, and the
// classifier or regression of transformers, or another HeadKind, with C
// outputs.
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

  // Turns hidden states [B, N, H] into [B, C], or [B, N, C]; of texts that are
  // read apart, into [B/2, C], or the scores [B/2].
  at::Tensor Logits(const at::Tensor& hidden, const Batch& batch,
                    const Pass& pass) const;

 private:
  class Drop;

  at::Tensor TextOf(const at::Tensor& hidden, const Batch& batch) const;
  at::Tensor Pooled(const at::Tensor& hidden, const Batch& batch,
                    Drop& drop) const;
  // Of texts read as one, [B, (N,) H].
  at::Tensor Single(at::Tensor read, Drop& drop) const;
  // Of texts, the right ones behind the left ones, [B, H].
  at::Tensor Pair(const at::Tensor& texts, const Batch& batch,
                  Drop& drop) const;
  at::Tensor Compared(const at::Tensor& left, const at::Tensor& right) const;
  at::Tensor Mlp(const at::Tensor& read, const at::Tensor& noise,
                 const at::Tensor& lengths, Drop& drop) const;

  ModelConfig config_;
  HeadSpec spec_;
  HeadShape shape_;
  std::vector<Weight> weights_;
  // They are handles on weights_.
  Linear pooler_;
  Linear dense_;  // pre_classifier, classifier.dense, a map of the (left) text
  Linear right_;  // where there are two maps
  Norm dense_norm_;
  Linear output_;  // classifier, classifier.out_proj
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_HEAD_H_
