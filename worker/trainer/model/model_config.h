// SPDX-License-Identifier: Apache-2.0
//
// File: model_config.h
//
// A config.json has these under the names of its family. Multilingual BERT is
// BERT, XLM-R is RoBERTa.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_MODEL_CONFIG_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_MODEL_CONFIG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/lora.h"

namespace frostline::trainer {

enum class Family : std::uint8_t { kBert, kDistilBert, kRoberta };

// kGelu is exact, kGeluTanh its approximation ("gelu_new").
enum class Activation : std::uint8_t { kGelu, kGeluTanh, kRelu };

struct ModelConfig {
  Family family = Family::kBert;
  std::string model_type;  // "xlm-roberta"
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;        // 768
  std::int64_t layers = 0;        // 12
  std::int64_t heads = 0;         // 12
  std::int64_t feed_forward = 0;  // 3072
  std::int64_t positions = 0;     // rows of the table
  std::int64_t types = 0;         // 0: no token types
  std::int64_t pad_id = 0;
  Activation activation = Activation::kGelu;
  double norm_epsilon = 1e-12;
  double hidden_dropout = 0.1;
  double attention_dropout = 0.1;
  double sequence_dropout = 0.1;  // before the head of a sequence
  double token_dropout = 0.1;     // before the head of tokens
  double initializer_range = 0.02;
  std::vector<std::string> labels;  // by class; may be empty
  LoraSpec lora;                    // of a trial; no config.json has one

  std::int64_t head_size() const { return hidden / heads; }
  // RoBERTa counts positions from behind its padding id.
  std::int64_t first_position() const {
    return family == Family::kRoberta ? pad_id + 1 : 0;
  }
  std::int64_t longest_text() const { return positions - first_position(); }
};

// Returns kUnsupported for a model, an activation or a kind of position that is
// not imitated exactly, kInconsistent for numbers that make no model.
Expected<ModelConfig> ReadModelConfig(std::string_view json);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_MODEL_CONFIG_H_
