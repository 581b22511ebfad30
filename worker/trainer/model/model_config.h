// SPDX-License-Identifier: Apache-2.0
//
// File: model_config.h
//
// A config.json has these under the names of its family. Multilingual BERT is
// BERT, XLM-R and DistilRoBERTa are RoBERTa.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_MODEL_CONFIG_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_MODEL_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/bottleneck.h"
#include "worker/trainer/model/lora.h"

namespace frostline::trainer {

enum class Family : std::uint8_t {
  kBert,
  kDistilBert,
  kRoberta,
  kElectra,
  kModernBert,
  kDebertaV3,
};

// kGelu is exact, kGeluTanh its approximation ("gelu_new").
enum class Activation : std::uint8_t { kGelu, kGeluTanh, kRelu, kTanh };

struct ModelConfig {
  Family family = Family::kBert;
  std::string model_type;  // "xlm-roberta"
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;        // 768
  std::int64_t embedding = 0;     // of the tables; 0: as wide as `hidden`
  std::int64_t layers = 0;        // 12
  std::int64_t heads = 0;         // 12
  std::int64_t feed_forward = 0;  // 3072
  std::int64_t positions = 0;     // rows of the table
  std::int64_t types = 0;         // 0: no token types
  bool gated = false;             // the feed forward has a second half
  std::int64_t pad_id = 0;
  Activation activation = Activation::kGelu;
  double norm_epsilon = 1e-12;
  double hidden_dropout = 0.1;
  std::optional<double> embedding_dropout;  // else the hidden one
  double attention_dropout = 0.1;
  double sequence_dropout = 0.1;  // before the head of a sequence
  double token_dropout = 0.1;     // before the head of tokens
  double pooler_dropout = 0.0;    // before the pooler
  Activation head_activation = Activation::kGelu;  // where it is a setting
  bool mean_classifier = false;  // a whole text is the mean of its tokens
  // Of rotary positions: their base, that of local layers, which layers are
  // local, and how many tokens to each side those see.
  double theta = 0.0;
  double local_theta = 0.0;
  std::vector<bool> local_layers;
  std::int64_t window = 0;
  // Of attention by distance: how many have a row to each side, of which the
  // far ones share some; 0 buckets share none.
  std::int64_t farthest = 0;
  std::int64_t buckets = 0;
  double initializer_range = 0.02;
  std::vector<std::string> labels;  // by class; may be empty
  // Of a trial; no config.json that is read has one.
  LoraSpec lora;
  BottleneckSpec bottleneck;

  // Adapters train instead of the weights of embeddings and layers.
  bool adapted() const { return lora.any() || bottleneck.any(); }
  std::int64_t head_size() const { return hidden / heads; }
  std::int64_t table_width() const {
    return embedding == 0 ? hidden : embedding;
  }
  // Half of the rows of distances; 0 without.
  std::int64_t span() const { return buckets > 0 ? buckets : farthest; }
  double dropout_of_embeddings() const {
    return embedding_dropout.value_or(hidden_dropout);
  }
  // RoBERTa counts positions from behind its padding id.
  std::int64_t first_position() const {
    return family == Family::kRoberta ? pad_id + 1 : 0;
  }
  std::int64_t longest_text() const { return positions - first_position(); }
};

// Bottleneck adapters that an exported folder has beside its weights.
enum class SavedAdapters : std::uint8_t {
  kRefuse,  // a trial cannot train them further
  kTake,
};

// Returns kUnsupported for a model, an activation or a kind of position that is
// not imitated exactly, kInconsistent for numbers that make no model.
Expected<ModelConfig> ReadModelConfig(
    std::string_view json, SavedAdapters adapters = SavedAdapters::kRefuse);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_MODEL_CONFIG_H_
