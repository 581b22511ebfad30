// SPDX-License-Identifier: Apache-2.0
//
// File: blocks.h
//
// The blocks of an encoder as its family computes them: embeddings, then
// layers.
//   B texts, N tokens, H hidden, F feed forward, A attention heads, D = H / A;
//   M tokens go through a layer: N, or 1 in the top one (Pass::first_token).
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_BLOCKS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_BLOCKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "worker/trainer/model/layers.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// How blocks are to keep weights that have no gradient.
struct Form {
  Kernels kernels;
  std::optional<at::ScalarType> half;  // in this type, too
};

// The blocks of one encoder. They share the weights they are made of. They are
// constant: any thread may run them, if LibTorch lets it. All functions throw
// what LibTorch throws.
class Blocks {
 public:
  // What layers need of a batch besides hidden states. Of a family that has no
  // use for them the others are undefined.
  struct Surroundings {
    const Batch* batch = nullptr;
    at::Tensor mask;        // [B, 1, 1, N] to be added to scores
    at::Tensor local_mask;  // [B, 1, N, N]
    Rotation rotation, local_rotation;
    at::Tensor distances;  // [2 S, H]
    at::Tensor places;     // [N, N] into distances
  };

  virtual ~Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  virtual at::Tensor Embed(const Batch& batch, const Pass& pass) const = 0;
  virtual Surroundings Around(const Batch& batch) const;
  virtual at::Tensor RunLayer(std::int64_t layer, const at::Tensor& hidden,
                              const Surroundings& around,
                              const Pass& pass) const = 0;

 protected:
  Blocks(const ModelConfig& config, const Form& form)
      : config_(config), form_(form) {}

  // What a layer is doing.
  struct Turn {
    std::int64_t layer;
    bool drops;
    const Surroundings& around;
    const Pass& pass;
    mutable std::int64_t dropped = 0;  // times, so far
  };
  Turn TurnOf(std::int64_t layer, const Surroundings& around,
              const Pass& pass) const;
  // Only those whose results are read.
  at::Tensor Asking(const at::Tensor& hidden, const Turn& turn) const;

  at::Tensor DropEmbedded(const at::Tensor& hidden, const Batch& batch,
                          const Pass& pass) const;
  at::Tensor Drop(const at::Tensor& x, double share, const Turn& turn) const;
  // Drops shares of attention, [B, A, M, N].
  at::Tensor DropShares(const at::Tensor& x, double share,
                        const Turn& turn) const;
  // Drops of what all texts of a batch share, as the first of them draws.
  at::Tensor DropShared(const at::Tensor& x, double share,
                        const Turn& turn) const;
  // Applies its adapter too.
  at::Tensor Map(const Linear& linear, const at::Tensor& x,
                 const Turn& turn) const;
  // Adds to `mapped` what the adapter of the map makes of x, if it has one.
  at::Tensor Adapted(const Linear& linear, at::Tensor mapped,
                     const at::Tensor& x, const Turn& turn) const;
  // Adds to x, which came of the map, what the adapter behind it makes of x.
  at::Tensor Behind(const Linear& linear, const at::Tensor& x) const;
  // Returns what queries [B, A, M, D] see of keys and values [B, A, N, D]: [B,
  // M, H].
  at::Tensor See(const at::Tensor& query, const at::Tensor& key,
                 const at::Tensor& value, const at::Tensor& mask,
                 const Turn& turn) const;
  // The map with what its form keeps.
  Linear Kept(Linear linear) const;

  const ModelConfig& config() const { return config_; }
  const Form& form() const { return form_; }

 private:
  const ModelConfig config_;
  const Form form_;
};

// The factory. `weights` are EncoderParametersOf(config).
std::shared_ptr<const Blocks> MakeBlocks(const ModelConfig& config,
                                         const std::vector<Weight>& weights,
                                         const Form& form);

// BERT, DistilBERT, RoBERTa and ELECTRA: norms behind attention and feed
// forward, and a table of positions.
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

// DeBERTa-v3: a token attends by what another is, and by how far away it is.
// Distances are rows of one table that all layers share, through each layer's
// own query and key; far ones share a row.
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

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_BLOCKS_H_
