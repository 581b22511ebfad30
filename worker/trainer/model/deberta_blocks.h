// SPDX-License-Identifier: Apache-2.0
//
// File: deberta_blocks.h
//
// DeBERTa-v3: a token attends by what another is, and by how far away it is.
// Distances are rows of one table that all layers share, through each layer's
// own query and key; far ones share a row.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_DEBERTA_BLOCKS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_DEBERTA_BLOCKS_H_

#include <vector>

#include "worker/trainer/model/blocks.h"

namespace frostline::trainer {

class DebertaBlocks : public Blocks {
 public:
  DebertaBlocks(const ModelConfig& config, const WeightsByName& found,
                const Form& form);

  at::Tensor Embed(const Batch& batch, const Pass& pass) const override;
  Surroundings Around(const Batch& batch) const override;
  at::Tensor RunLayer(std::int64_t layer, const at::Tensor& hidden,
                      const Surroundings& around,
                      const Pass& pass) const override;

 private:
  struct Layer {
    Linear query, key, value, attention_out;
    Norm attention_norm;
    Linear up, down;
    Norm norm;
  };

  at::Tensor Attend(const Layer& layer, const at::Tensor& hidden,
                    const Turn& turn) const;

  at::Tensor words_;
  Norm embedding_norm_;
  at::Tensor distances_;
  Norm distance_norm_;
  std::vector<Layer> layers_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_DEBERTA_BLOCKS_H_
