// SPDX-License-Identifier: Apache-2.0
//
// File: parameters.h
//
// Lists every weight of a model by the name that transformers gives it, with
// its shape and its place.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_PARAMETERS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_PARAMETERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/model_config.h"

namespace frostline::trainer {

enum class Task : std::uint8_t {
  kSequence,    // a class for each text
  kRegression,  // a number for each text
  kTokens,      // a class for each token
  kAnswers,     // the next token after each token before one of an answer
};

// Returns whether each token has a label, else each text.
inline bool LabelsTokens(Task task) {
  return task == Task::kTokens || task == Task::kAnswers;
}

// What a head computes from a text u, or from a pair's u and v.
enum class HeadKind : std::uint8_t {
  kLinear,        // the family's own, as in transformers
  kMlp,           // linear, GELU, dropout, linear
  kInnerProduct,  // of a map of u and another of v: a number, or the score of
                  // the second of two classes; the first one's is 0
  kCosine,        // of one map of u and v, times `scale`, at least 0
  kFeatures,      // linear over u, v, |u - v| and u * v
  kTwoMapCosine,  // kCosine of a map of u and another of v
};

// How a whole text becomes one vector: by its first token (through the pooler,
// if the family has one), or by the mean or the largest of its tokens. kUsual
// is kFirst, unless the family's own head takes the mean
// (ModelConfig::mean_classifier), and kLast for a decoder.
enum class Pooling : std::uint8_t { kUsual, kFirst, kMean, kMax, kLast };

// What a head is: its task, its kind and its size.
struct HeadSpec {
  Task task = Task::kSequence;
  std::int64_t outputs = 2;  // 1 for kRegression and kAnswers
  HeadKind kind = HeadKind::kLinear;
  Pooling pooling = Pooling::kUsual;
  double scale = 5.0;                  // of kCosine and kTwoMapCosine
  bool reads_apart = false;            // each text of a pair; kLinear and kMlp
  std::int64_t hidden = 0;             // of kMlp; 0: as the encoder's
  std::optional<double> dropout = {};  // of kMlp; else the model's
  std::string name = {};               // of the task; empty: there is one
  bool chooses = false;  // of kAnswers: among those that each example gives

  bool compares() const {
    return kind != HeadKind::kLinear && kind != HeadKind::kMlp;
  }
  bool is_cosine() const {
    return kind == HeadKind::kCosine || kind == HeadKind::kTwoMapCosine;
  }
  bool has_two_maps() const {
    return kind == HeadKind::kInnerProduct || kind == HeadKind::kTwoMapCosine;
  }
  // Returns whether each of two texts is encoded alone.
  bool apart() const { return reads_apart || compares(); }
};

// The heads on one encoder: one, or one with a name for each task.
class Heads {
 public:
  Heads(HeadSpec only) : all_{std::move(only)} {}  // NOLINT: as it was
  explicit Heads(std::vector<HeadSpec> all) : all_(std::move(all)) {}

  std::size_t size() const { return all_.size(); }
  const HeadSpec& operator[](std::size_t i) const { return all_[i]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<HeadSpec> all_;
};

Pooling PoolingOf(const ModelConfig& config, const HeadSpec& head);
// Returns whether no head reads a token but the first, so that the top layer
// needs no other.
bool ReadsFirstToken(const ModelConfig& config, const Heads& heads);

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
  kDown,   // "….dense.adapter.down.weight", [size, H]
  kUp,     // "….dense.adapter.up.weight", [H, size]
  kAdapterBias,
};

// Which slices of a tensor belong to single attention heads: rows, columns, or
// rows of each third.
enum class HeadAxis : std::uint8_t { kNone, kRows, kColumns, kThreeRows };

// One weight of a model: its name, its shape and its place.
struct ParameterSpec {
  std::string name;  // "bert.encoder.layer.0.output.dense.bias"
  std::vector<std::int64_t> shape;
  Part part = Part::kHead;
  std::int64_t layer = -1;  // of kAttention and kFeedForward
  Role role = Role::kWeight;
  bool norm_bias = false;  // in kNorm: shift, not scale
  HeadAxis head_axis = HeadAxis::kNone;
  std::string task = {};  // of kHead, if there are several

  // The Trainer of transformers decays no bias and nothing of a LayerNorm.
  bool decays() const { return !is_bias() && role != Role::kNorm; }
  bool adapts() const { return role >= Role::kLoraA; }
  bool is_bias() const {
    return role == Role::kBias || role == Role::kAdapterBias || norm_bias;
  }
};

// Returns the encoder's weights in depth order, adapters last.
std::vector<ParameterSpec> EncoderParametersOf(const ModelConfig& config);
// Returns the weights of the pooler, if a head reads it, and of the heads.
std::vector<ParameterSpec> HeadParametersOf(const ModelConfig& config,
                                            const Heads& heads);
// Returns the prefix of the names of a head's own weights: "heads.sst.".
std::string PrefixOf(const HeadSpec& head);
// Returns all weights in depth order: encoder, heads, then adapters, so that
// the others have the same places without adapters.
std::vector<ParameterSpec> ParametersOf(const ModelConfig& config,
                                        const Heads& heads);

// The names of a layer's submodules. A family has query, key and value, or the
// three in one map.
struct LayerNames {
  std::string query = {}, key = {}, value = {}, qkv = {};
  std::string query_norm = {}, key_norm = {};  // of a decoder
  std::string attention_out, attention_norm;
  std::string gate = {};  // of a decoder
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

// Returns kMisuse if adapters of `config` are as large as what they adapt, or
// adapt maps that its layers do not have.
Expected<Done> CheckAdapters(const ModelConfig& config);

std::string LoraANameOf(const std::string& linear);
std::string LoraBNameOf(const std::string& linear);

// Returns whether there is a pooler: BERT and DeBERTa have one, if a head reads
// it.
bool HasPooler(const ModelConfig& config, const Heads& heads);

// A list of weights by name and shape, written one after the other.
class ParameterLister {
 public:
  // `specs` outlives it.
  explicit ParameterLister(std::vector<ParameterSpec>& specs)
      : specs_(&specs) {}

  // Says which part the weights that follow belong to.
  void At(Part part, std::int64_t layer);

  void Embedding(const std::string& name, std::int64_t rows,
                 std::int64_t width);
  void Norm(const std::string& name, std::int64_t width, bool bias = true);
  // With kRows the bias is sliced like the weight, with kColumns it is not.
  void Linear(const std::string& name, std::int64_t outputs,
              std::int64_t inputs, HeadAxis axis = HeadAxis::kNone,
              bool bias = true);
  // Lists the low-rank adapter of the linear map `name`.
  void Adapter(const std::string& name, std::int64_t outputs,
               std::int64_t inputs, std::int64_t rank);
  // Lists the bottleneck after the linear map `name`, which has `width`
  // outputs.
  void Bottleneck(const std::string& name, std::int64_t width,
                  std::int64_t size);

 private:
  void Add(std::string name, std::vector<std::int64_t> shape, Role role);

  std::vector<ParameterSpec>* specs_;
  Part part_ = Part::kEmbeddings;
  std::int64_t layer_ = -1;
};

// Names in weight files: with or without the encoder's prefix, "gamma" and
// "beta" as in TensorFlow, and remains of pretraining.

// Returns the name that ParametersOf has for `stored`.
std::string CurrentName(std::string_view stored, const ModelConfig& config);

// Returns whether the weight needs no warning, as heads of pretraining and
// buffers. `name` is one of CurrentName.
bool IsLeftover(std::string_view name, const ModelConfig& config);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_PARAMETERS_H_
