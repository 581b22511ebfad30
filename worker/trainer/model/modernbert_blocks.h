// SPDX-License-Identifier: Apache-2.0
//
// File: modernbert_blocks.h
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_MODERNBERT_BLOCKS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_MODERNBERT_BLOCKS_H_

#include <vector>

#include "worker/trainer/model/blocks.h"

namespace frostline::trainer {

class ModernBertBlocks : public Blocks {
 public:
  ModernBertBlocks(const ModelConfig& config, const WeightsByName& found,
                   const Form& form);

  at::Tensor Embed(const Batch& batch, const Pass& pass) const override;
  Surroundings Around(const Batch& batch) const override;
  at::Tensor RunLayer(std::int64_t layer, const at::Tensor& hidden,
                      const Surroundings& around,
                      const Pass& pass) const override;

 private:
  struct Layer {
    Norm attention_norm;  // of the first layer undefined
    Linear qkv, attention_out;
    Norm norm;
    Linear up, down;
    bool local;
  };

  at::Tensor Attend(const Layer& layer, const at::Tensor& hidden,
                    const Turn& turn) const;
  at::Tensor FeedForward(const Layer& layer, const at::Tensor& hidden,
                         const Turn& turn) const;

  at::Tensor words_;
  Norm embedding_norm_;
  Norm last_norm_;
  std::vector<Layer> layers_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_MODERNBERT_BLOCKS_H_
