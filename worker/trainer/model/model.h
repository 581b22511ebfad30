// SPDX-License-Identifier: Apache-2.0
//
// File: model.h
//
// A model is an encoder with a head, or with one for each task. Weights and
// results are fp32. Under autocast (device/device.h) the layers multiply in
// bf16 or fp16; the head and the sums along the layers stay fp32.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_MODEL_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/blocks.h"
#include "worker/trainer/model/family.h"
#include "worker/trainer/model/layers.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/safetensors.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {

// Embeddings and layers of any known family (family.h), equal to transformers
// within 1e-5 (tests/worker/trainer/model).
//
//   B texts, N tokens, H hidden.
//
// A pass is Prefix, then Suffix. With hard freezing the prefix never trains. It
// runs without a graph, and its result, the boundary, depends only on the
// pretrained weights and the text.
//
// One thread at a time uses it. Copies share their weights, so several heads
// may use one encoder.
class TransformerEncoder {
 public:
  // `weights` are EncoderParametersOf(config), in that order.
  TransformerEncoder(ModelConfig config, std::vector<Weight> weights);

  const ModelConfig& config() const { return config_; }
  const std::vector<Weight>& weights() const { return weights_; }

  // Returns the encoder on a device, with shared weights if it is already
  // there. This and all below throw what LibTorch throws: call them under
  // CatchTorch.
  TransformerEncoder To(at::Device device) const;
  // Returns the encoder with adapters added into the weights that they adapt.
  // Those are new tensors; the others are shared.
  TransformerEncoder Merged() const;

  // Keeps copies of the layers' maps without a gradient, and drops all others.
  // Copies in `half` save LibTorch's autocast from making them for each batch;
  // without autocast they are not used. Query, key and value are kept side by
  // side if `kernels` wants one product. Weights that have a copy must not
  // change before the next call.
  void Prepare(const Kernels& kernels, std::optional<at::ScalarType> half);

  // Run the leading blocks without a graph, and those after them. `states`, if
  // given, receives the hidden states, the embeddings first. With
  // `pass.first_token` the last of them is [B, 1, H].
  at::Tensor Prefix(const Batch& batch, const Pass& pass,
                    std::vector<at::Tensor>* states = nullptr) const;
  at::Tensor Suffix(const at::Tensor& boundary, const Batch& batch,
                    const Pass& pass,
                    std::vector<at::Tensor>* states = nullptr) const;
  // Runs blocks `from` to `to` - 1 on what those before gave. Block 0 is the
  // embeddings, which take nothing, and block 1 + i is layer i.
  at::Tensor Run(const at::Tensor& boundary, const Batch& batch,
                 const Pass& pass, std::int64_t from, std::int64_t to) const;

  // Reads what comes after `memory`, and adds it there (Blocks::After): whole
  // texts [B, N], then one token of each, [B, 1]. For decoders alone.
  at::Tensor ReadOn(const Batch& batch, TokenMemory& memory) const;

 private:
  // Runs layers `from` to `to` - 1.
  at::Tensor RunLayers(std::int64_t from, std::int64_t to,
                       const at::Tensor& boundary, const Batch& batch,
                       const Pass& pass, std::vector<at::Tensor>* states) const;

  ModelConfig config_;
  std::vector<Weight> weights_;
  std::shared_ptr<const Blocks> blocks_;
};

// A head that answers a task on an encoder: a pooler if the family has one,
// then the classifier or regression of transformers or another HeadKind, with C
// outputs.
//
// One thread at a time uses it. Copies share their weights.
class ModelHead {
 public:
  // `weights` are HeadParametersOf(config, spec), in that order.
  ModelHead(ModelConfig config, HeadSpec spec, std::vector<Weight> weights);

  const HeadSpec& spec() const { return spec_; }
  const std::vector<Weight>& weights() const { return weights_; }

  // Both throw what LibTorch throws.
  ModelHead To(at::Device device) const;

  // Turns hidden states [B, N, H] into [B, C] or [B, N, C]. For texts that are
  // read apart, into [B/2, C] or the scores [B/2].
  // For answers into [P, 2], what LikelihoodOf says of the P labels of the
  // batch, row by row.
  at::Tensor Logits(const at::Tensor& hidden, const Batch& batch,
                    const Pass& pass) const;

  // Of a decoder that tells next tokens by the table of its embeddings.
  void TakeTable(const TransformerEncoder& encoder);
  // The table that tells next tokens, [V, H]. REQUIRES: the task is kAnswers.
  const at::Tensor& table() const { return output_.weight; }

 private:
  class Drop;

  at::Tensor Answers(const at::Tensor& hidden, const Batch& batch) const;

  at::Tensor TextOf(const at::Tensor& hidden, const Batch& batch) const;
  at::Tensor Pooled(const at::Tensor& hidden, const Batch& batch,
                    Drop& drop) const;
  // Maps texts that are read as one, [B, (N,) H].
  at::Tensor Single(at::Tensor read, Drop& drop) const;
  // Maps pairs of texts, [B, H], the left ones first.
  at::Tensor Pair(const at::Tensor& texts, const Batch& batch,
                  Drop& drop) const;
  at::Tensor Compared(const at::Tensor& left, const at::Tensor& right) const;
  at::Tensor Mlp(const at::Tensor& read, const at::Tensor& noise,
                 const at::Tensor& lengths, Drop& drop) const;

  ModelConfig config_;
  HeadSpec spec_;
  HeadShape shape_;
  std::vector<Weight> weights_;
  // Handles on weights_.
  Linear pooler_;
  Linear dense_;  // pre_classifier, classifier.dense, a map of the (left) text
  Linear right_;  // undefined unless there are two maps
  Norm dense_norm_;
  Linear output_;  // classifier, classifier.out_proj
};

// An encoder with its heads. One thread at a time uses it. Copies share their
// weights.
class Model {
 public:
  Model(TransformerEncoder encoder, ModelHead head);
  // Takes one head or more, which share one pooler.
  Model(TransformerEncoder encoder, std::vector<ModelHead> heads);
  // `values` has one tensor for each of ParametersOf(config, heads), in order.
  Model(const ModelConfig& config, const Heads& heads,
        const std::vector<at::Tensor>& values);

  const TransformerEncoder& encoder() const { return encoder_; }
  const ModelHead& head(std::size_t task = 0) const { return heads_[task]; }
  const Heads& heads() const { return specs_; }
  const ModelConfig& config() const { return encoder_.config(); }
  // Returns the weights in the order of ParametersOf. A change of a tensor
  // reaches the part that it belongs to.
  std::vector<Weight>& weights() { return weights_; }
  const std::vector<Weight>& weights() const { return weights_; }

  // Throws what LibTorch throws.
  Model To(at::Device device) const;
  at::Device device() const { return weights_.front().value.device(); }

  // Returns the model with a merged encoder. Throws what LibTorch throws.
  Model Merged() const;

  // Prepares the encoder. Throws what LibTorch throws.
  void Prepare(const Kernels& kernels, std::optional<at::ScalarType> half) {
    encoder_.Prepare(kernels, half);
  }

  Expected<Done> Check(const Batch& batch) const;
  // Runs the prefix, unless the batch brings its boundary, the suffix and the
  // head. Throws what LibTorch throws.
  at::Tensor Forward(const Batch& batch, const Pass& pass) const;

 private:
  TransformerEncoder encoder_;
  std::vector<ModelHead> heads_;
  Heads specs_;
  std::vector<Weight> weights_;
};

// The loss, as in transformers: cross-entropy over classes, or the mean squared
// error of numbers.

std::int64_t CountLabels(const at::Tensor& labels);  // without kIgnoredLabel
// Returns the sum of the labels' weights. Without `class_weights` each weighs
// 1. Both are on one device.
double WeighLabels(const at::Tensor& labels, const at::Tensor& class_weights);

// Returns the mean loss over the labels that count, weighted by their classes.
// There must be at least one. `smoothing`, in [0, 1), spreads that share of a
// class's target evenly over all classes. `class_weights` are fp32, where the
// logits are. Throws what LibTorch throws.
at::Tensor LossOf(const HeadSpec& head, const at::Tensor& logits,
                  const at::Tensor& labels, double smoothing,
                  const at::Tensor& class_weights = {});

// Loading: a folder as transformers saves a model (config.json,
// model.safetensors). Its encoder is read once, and any number of heads after
// it.

// What was wrong or superfluous in the weights of a folder. Names are those of
// the model; in `unexpected`, those of the file.
struct LoadReport {
  std::vector<std::string> missing;      // of the head or pooler
  std::vector<std::string> reshaped;     // of the head: for another task
  std::vector<std::string> initialized;  // both of these, drawn anew
  std::vector<std::string> unused;  // known heads and buffers of other tasks
  std::vector<std::string> unexpected;  // anything else that has no place
};

// A head that was read or drawn.
struct LoadedHead {
  ModelHead head;
  LoadReport report;  // on the whole folder
};

// A folder with a saved model, open for reading. It can be moved. One thread at
// a time uses it.
class ModelFolder {
 public:
  // Opens a folder. A weight of the encoder that is missing, of another shape
  // or of an unknown dtype is a fault, before any memory is taken.
  static Expected<ModelFolder> Open(
      const std::string& folder,
      SavedAdapters adapters = SavedAdapters::kRefuse);

  const ModelConfig& config() const { return config_; }
  const std::string& config_json() const { return config_json_; }

  // Reads the encoder in fp32, and asks `stop` before each tensor. This and
  // ReadHead throw only for want of memory.
  Expected<TransformerEncoder> ReadEncoder(const StopSign& stop = {}) const;
  // Reads a head. What is missing, or has another shape in the head itself, is
  // drawn from `seed` as transformers draws it.
  Expected<LoadedHead> ReadHead(const HeadSpec& spec, std::uint64_t seed) const;

 private:
  using Place = WeightFiles::Place;

  explicit ModelFolder(WeightFiles files) : files_(std::move(files)) {}

  Expected<Done> FindPlaces();
  // Returns nothing if the weight must be drawn anew, or a fault if it must not
  // be.
  Expected<std::optional<Place>> PlaceOf(const ParameterSpec& spec,
                                         LoadReport& report) const;
  void ReportTheRest(const HeadSpec& spec, LoadReport& report) const;

  WeightFiles files_;
  ModelConfig config_;
  std::string config_json_;
  std::map<std::string, Place> places_;  // by current names
};

// Reads a tensor into its own memory: floats as fp32, others as they are.
Expected<at::Tensor> ReadTensor(const Safetensors& file,
                                const StoredTensor& tensor);

// A model that was read from a folder.
struct LoadedModel {
  Model model;
  LoadReport report;
  std::string config_json;  // as it was read
};

// Reads a model. Weights become fp32, and those that the head lacks are drawn
// from `seed`. Throws only for want of memory.
Expected<LoadedModel> LoadModel(const std::string& folder, const HeadSpec& head,
                                std::uint64_t seed);

// Returns a model to train once. Weights that `trains` marks (by their place in
// ParametersOf) are copies; the others are shared with `loaded` and must not
// change. What was drawn for `loaded`, and adapters, are drawn anew from
// `seed`. `config` is that of `loaded`, except for dropout and adapters. Throws
// what LibTorch throws.
Model TrainableCopy(const LoadedModel& loaded, const ModelConfig& config,
                    const std::vector<bool>& trains, std::uint64_t seed);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_MODEL_H_
