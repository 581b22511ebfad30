// SPDX-License-Identifier: Apache-2.0
//
// File: bert_blocks.h
//
// BERT, DistilBERT, RoBERTa and ELECTRA: norms behind attention and feed
// forward, and a table of positions.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_BERT_BLOCKS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_BERT_BLOCKS_H_

#include <vector>

#include "worker/trainer/model/blocks.h"

namespace frostline::trainer {

class BertBlocks : public Blocks {
 public:
  BertBlocks(const ModelConfig& config, const WeightsByName& found,
             const Form& form);

  at::Tensor Embed(const Batch& batch, const Pass& pass) const override;
  at::Tensor RunLayer(std::int64_t layer, const at::Tensor& hidden,
                      const Surroundings& around,
                      const Pass& pass) const override;

 private:
  struct Layer {
    Linear query, key, value, attention_out;
    Norm attention_norm;
    Linear up, down;
    Norm norm;
    Linear joined = {};  // query, key and value, where it is kept
  };
  struct Projections {
    at::Tensor query, key, value;
  };

  Linear KeptTogether(Layer& layer) const;
  Projections Project(const Layer& layer, const at::Tensor& asking,
                      const at::Tensor& hidden, const Turn& turn) const;

  at::Tensor words_, positions_, types_;
  Norm embedding_norm_;
  Linear projection_;  // of ELECTRA whose tables are narrower
  std::vector<Layer> layers_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_BERT_BLOCKS_H_
