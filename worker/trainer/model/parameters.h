// SPDX-License-Identifier: Apache-2.0
//
// File: parameters.h
//
// Lists every weight of a model by the name that transformers gives it, with
// its shape and its place.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_PARAMETERS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_PARAMETERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/model_config.h"

namespace frostline::trainer {

enum class Task : std::uint8_t {
  kSequence,    // a class for each text
  kRegression,  // a number for each text
  kTokens,      // a class for each token
  kPairCosine,  // two texts' likeness, each encoded alone
};

// A whole text is its first token (through the pooler, where the family has
// one), or the mean of its tokens. Only kPairCosine has the choice; of others a
// family may say it (ModelConfig::mean_classifier).
enum class Pooling : std::uint8_t { kFirst, kMean };

struct HeadSpec {
  Task task = Task::kSequence;
  std::int64_t outputs = 2;  // 1 for kRegression and kPairCosine
  Pooling pooling = Pooling::kFirst;
  double scale = 5.0;  // of a pair: two equal texts' score
};

// The head looks at no other token, so that the top layer needs no other
// either.
bool ReadsFirstToken(const ModelConfig& config, const HeadSpec& head);
// The mean of a text's tokens stands for it.
bool ReadsMean(const ModelConfig& config, const HeadSpec& head);

Expected<Done> CheckHead(const HeadSpec& head);

enum class Part : std::uint8_t {
  kEmbeddings,
  kAttention,
  kFeedForward,
  kPooler,
  kHead,
};

enum class Role : std::uint8_t {
  kEmbedding,
  kWeight,
  kBias,
  kNorm,
  kLoraA,  // "….query.lora_A.weight", [rank, inputs]
  kLoraB,  // "….query.lora_B.weight", [outputs, rank]
};

// Slices of a tensor may belong to single attention heads: rows, columns, or
// rows of each third.
enum class HeadAxis : std::uint8_t { kNone, kRows, kColumns, kThreeRows };

struct ParameterSpec {
  std::string name;  // "bert.encoder.layer.0.output.dense.bias"
  std::vector<std::int64_t> shape;
  Part part = Part::kHead;
  std::int64_t layer = -1;  // of kAttention and kFeedForward
  Role role = Role::kWeight;
  bool norm_bias = false;  // of kNorm: shift, not scale
  HeadAxis head_axis = HeadAxis::kNone;

  // The Trainer of transformers decays no bias and nothing of a LayerNorm.
  bool decays() const { return role != Role::kBias && role != Role::kNorm; }
  bool adapts() const { return role == Role::kLoraA || role == Role::kLoraB; }
};

// They come in depth order, adapters last.
std::vector<ParameterSpec> EncoderParametersOf(const ModelConfig& config);
// They are the pooler, where the head looks at one, and the head itself.
std::vector<ParameterSpec> HeadParametersOf(const ModelConfig& config,
                                            const HeadSpec& head);
// They come in depth order, then the head, then adapters, so that the others
// have the same places without them.
std::vector<ParameterSpec> ParametersOf(const ModelConfig& config,
                                        const HeadSpec& head);

// A layer's submodules have these names. A family has query, key and value, or
// the three in one map.
struct LayerNames {
  std::string query = {}, key = {}, value = {}, qkv = {};
  std::string attention_out, attention_norm;
  std::string up, down, norm;
};
LayerNames LayerNamesOf(const ModelConfig& config, std::int64_t layer);

// The linear maps of a layer, each of which may have an adapter.
struct LayerMap {
  LoraPart part;
  std::string name;
  std::int64_t outputs;
  std::int64_t inputs;
};
std::vector<LayerMap> LayerMapsOf(const ModelConfig& config,
                                  std::int64_t layer);

// Returns kMisuse for adapters of `config` that are as large as what they
// adapt, or of maps that its layers have not.
Expected<Done> CheckAdapters(const ModelConfig& config);

std::string LoraANameOf(const std::string& linear);
std::string LoraBNameOf(const std::string& linear);

// BERT and DeBERTa have one, where the head looks at it.
bool HasPooler(const ModelConfig& config, const HeadSpec& head);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_PARAMETERS_H_
