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

// How blocks keep weights that have no gradient.
struct Form {
  Kernels kernels;
  std::optional<at::ScalarType> half;  // also in this type
};

// What the layers of a decoder keep of the tokens that they have read, so that
// one more token costs one more. Its texts stay those of the first batch.
struct TokenMemory {
  std::vector<at::Tensor> keys, values;  // by layer, [B, K, T, D]
  at::Tensor there;                      // [B, T] int64, 0 for padding, else 1
  at::Tensor lengths;                    // [B] int64, tokens so far
};

// The blocks of one encoder. They share the weights that they are made of. They
// never change, so any thread may run them if LibTorch allows it. All functions
// throw what LibTorch throws.
class Blocks {
 public:
  // What layers need from a batch besides hidden states. What the family does
  // not use is undefined.
  struct Surroundings {
    const Batch* batch = nullptr;
    at::Tensor mask;        // [B, 1, 1, N] to be added to scores
    at::Tensor local_mask;  // [B, 1, N, N]
    Rotation rotation, local_rotation;
    at::Tensor distances;           // [2 S, H]
    at::Tensor places;              // [N, N] into distances
    TokenMemory* memory = nullptr;  // of a decoder that goes on from it
  };

  virtual ~Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  virtual at::Tensor Embed(const Batch& batch, const Pass& pass) const = 0;
  virtual Surroundings Around(const Batch& batch) const;
  // The same for what comes after `memory`, which outlives it: whole texts
  // where that is empty, else one token of each text, [B, 1]. A decoder's
  // alone.
  virtual Surroundings After(const Batch& batch, TokenMemory& memory) const;
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
  // Returns the tokens whose results are read.
  at::Tensor Asking(const at::Tensor& hidden, const Turn& turn) const;

  at::Tensor DropEmbedded(const at::Tensor& hidden, const Batch& batch,
                          const Pass& pass) const;
  at::Tensor Drop(const at::Tensor& x, double share, const Turn& turn) const;
  // Drops shares of attention, [B, A, M, N].
  at::Tensor DropShares(const at::Tensor& x, double share,
                        const Turn& turn) const;
  // Drops numbers that all texts of a batch share, by the noise of the first
  // text.
  at::Tensor DropShared(const at::Tensor& x, double share,
                        const Turn& turn) const;
  // Applies the map and its adapter.
  at::Tensor Map(const Linear& linear, const at::Tensor& x,
                 const Turn& turn) const;
  // Adds to `mapped` what the map's low-rank adapter makes of x, if it has one.
  at::Tensor Adapted(const Linear& linear, at::Tensor mapped,
                     const at::Tensor& x, const Turn& turn) const;
  // Adds to x, the map's output, what the bottleneck after the map makes of it.
  at::Tensor Behind(const Linear& linear, const at::Tensor& x) const;
  // Returns what queries [B, A, M, D] see of keys and values [B, A, N, D]: [B,
  // M, H].
  at::Tensor See(const at::Tensor& query, const at::Tensor& key,
                 const at::Tensor& value, const at::Tensor& mask,
                 const Turn& turn) const;
  // Returns the map with the copies that the form keeps.
  Linear Kept(Linear linear) const;

  const ModelConfig& config() const { return config_; }
  const Form& form() const { return form_; }

 private:
  const ModelConfig config_;
  const Form form_;
};

// Returns the blocks of the config's family. `weights` are
// EncoderParametersOf(config).
std::shared_ptr<const Blocks> MakeBlocks(const ModelConfig& config,
                                         const std::vector<Weight>& weights,
                                         const Form& form);

// BERT, DistilBERT, RoBERTa and ELECTRA: norms after attention and feed
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
    Linear joined = {};  // query, key and value, if kept so
  };
  struct Projections {
    at::Tensor query, key, value;
  };

  Linear KeptTogether(Layer& layer) const;
  Projections Project(const Layer& layer, const at::Tensor& asking,
                      const at::Tensor& hidden, const Turn& turn) const;

  at::Tensor words_, positions_, types_;
  Norm embedding_norm_;
  Linear projection_;  // in ELECTRA with narrower tables
  std::vector<Layer> layers_;
};

// DeBERTa-v3: a token attends to another by its content and by its distance.
// Distances are rows of one table that all layers share, seen through each
// layer's own query and key. Far distances share a row.
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

// ModernBERT: rotary positions, local attention in most layers, and a gated
// feed forward.
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
    Norm attention_norm;  // undefined in the first layer
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

// Decoders like Llama's: norms before attention and feed forward, rotary
// positions, a token sees none after it, K heads of keys and values for A of
// queries.
class LlamaBlocks : public Blocks {
 public:
  LlamaBlocks(const ModelConfig& config, const WeightsByName& found,
              const Form& form);

  at::Tensor Embed(const Batch& batch, const Pass& pass) const override;
  Surroundings Around(const Batch& batch) const override;
  Surroundings After(const Batch& batch, TokenMemory& memory) const override;
  at::Tensor RunLayer(std::int64_t layer, const at::Tensor& hidden,
                      const Surroundings& around,
                      const Pass& pass) const override;

 private:
  struct Layer {
    Norm attention_norm;
    Linear query, key, value;
    Norm query_norm, key_norm;  // undefined unless the family has them
    Linear attention_out;
    Norm norm;
    Linear gate, up, down;
  };

  at::Tensor Attend(const Layer& layer, const at::Tensor& hidden,
                    const Turn& turn) const;
  at::Tensor FeedForward(const Layer& layer, const at::Tensor& hidden,
                         const Turn& turn) const;
  // Returns each of [B, K, N, D] as often as queries share it: [B, A, N, D].
  at::Tensor ForQueries(const at::Tensor& x) const;

  at::Tensor words_;
  Norm last_norm_;
  std::vector<Layer> layers_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_BLOCKS_H_
