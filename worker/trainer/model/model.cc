// SPDX-License-Identifier: Apache-2.0
//
// How each block computes is in blocks.h.
#include "worker/trainer/model/model.h"

#include <ATen/ops/full.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "worker/trainer/model/answers.h"
#include "worker/trainer/model/layers.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/recompute.h"

namespace frostline::trainer {

TransformerEncoder::TransformerEncoder(ModelConfig config,
                                       std::vector<Weight> weights)
    : config_(std::move(config)),
      weights_(std::move(weights)),
      blocks_(MakeBlocks(config_, weights_, {})) {}

TransformerEncoder TransformerEncoder::To(at::Device device) const {
  return TransformerEncoder(config_, MoveTo(weights_, device));
}

TransformerEncoder TransformerEncoder::Merged() const {
  const at::NoGradGuard no_graph;
  const WeightsByName found(weights_);
  ModelConfig plain = config_;
  plain.lora = {};
  std::vector<Weight> weights;
  for (ParameterSpec& spec : EncoderParametersOf(plain)) {
    at::Tensor value = found.Value(spec.name).detach();
    if (spec.role == Role::kWeight) {
      const Linear linear =
          found.LinearOf(spec.name.substr(0, spec.name.rfind(".weight")));
      if (linear.lora_a.defined()) {
        value = value + at::matmul(linear.lora_b, linear.lora_a) *
                            config_.lora.ScaleOf(linear.lora_a.size(0));
      }
    }
    weights.push_back({std::move(spec), std::move(value)});
  }
  return TransformerEncoder(std::move(plain), std::move(weights));
}

void TransformerEncoder::Prepare(const Kernels& kernels,
                                 std::optional<at::ScalarType> half) {
  blocks_ = MakeBlocks(config_, weights_, {kernels, half});
}

at::Tensor TransformerEncoder::Prefix(const Batch& batch, const Pass& pass,
                                      std::vector<at::Tensor>* states) const {
  std::optional<at::NoGradGuard> without_graph;
  if (pass.frozen_blocks > 0) without_graph.emplace();
  at::Tensor hidden = blocks_->Embed(batch, pass);  // [B, N, H]
  if (states != nullptr) states->push_back(hidden);
  return RunLayers(0, pass.frozen_blocks - 1, hidden, batch, pass, states);
}

at::Tensor TransformerEncoder::Suffix(const at::Tensor& boundary,
                                      const Batch& batch, const Pass& pass,
                                      std::vector<at::Tensor>* states) const {
  return RunLayers(std::max<std::int64_t>(0, pass.frozen_blocks - 1),
                   config_.layers, boundary, batch, pass, states);
}

at::Tensor TransformerEncoder::Run(const at::Tensor& boundary,
                                   const Batch& batch, const Pass& pass,
                                   std::int64_t from, std::int64_t to) const {
  const at::Tensor hidden =
      from == 0 ? blocks_->Embed(batch, pass) : boundary;  // [B, N, H]
  return RunLayers(std::max<std::int64_t>(0, from - 1), to - 1, hidden, batch,
                   pass, nullptr);
}

at::Tensor TransformerEncoder::ReadOn(const Batch& batch,
                                      TokenMemory& memory) const {
  const Pass pass;
  const Blocks::Surroundings around = blocks_->After(batch, memory);
  at::Tensor hidden = blocks_->Embed(batch, pass);  // [B, N, H]
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    hidden = blocks_->RunLayer(i, hidden, around, pass);
  }
  return hidden;
}

namespace {

// Layers with what they read beside hidden states, which lives as long.
class Layers {
 public:
  Layers(std::shared_ptr<const Blocks> blocks, const Batch& batch,
         const Pass& pass)
      : blocks_(std::move(blocks)),
        batch_(batch),
        pass_(pass),
        around_(blocks_->Around(batch_)) {}

  at::Tensor Run(std::int64_t layer, const at::Tensor& x) const {
    return blocks_->RunLayer(layer, x, around_, pass_);
  }

 private:
  const std::shared_ptr<const Blocks> blocks_;
  const Batch batch_;
  const Pass pass_;
  const Blocks::Surroundings around_;
};

}  // namespace

at::Tensor TransformerEncoder::RunLayers(
    std::int64_t from, std::int64_t to, const at::Tensor& boundary,
    const Batch& batch, const Pass& pass,
    std::vector<at::Tensor>* states) const {
  at::Tensor hidden = boundary;  // [B, N, H]
  if (from >= to) return hidden;
  const bool twice = config_.recomputes && pass.training;
  const auto layers = std::make_shared<const Layers>(blocks_, batch, pass);
  for (std::int64_t i = from; i < to; ++i) {
    const auto run = [layers, i](const at::Tensor& x) {
      return layers->Run(i, x);  // [B, N, H]
    };
    hidden = twice ? Recomputed(hidden, run) : run(hidden);
    if (states != nullptr) states->push_back(hidden);
  }
  return hidden;
}

// The head, in the order in which data flow.
//   B texts, N tokens, H hidden, C outputs.

// The dropout of a head. Each use is a place of its own.
class ModelHead::Drop {
 public:
  Drop(const ModelHead& head, const Batch& batch, bool training)
      : batch_(batch), training_(training) {
    const ModelConfig& config = head.config_;
    share = LabelsTokens(head.spec_.task) ? config.token_dropout
                                          : config.sequence_dropout;
  }

  at::Tensor operator()(const at::Tensor& x, double of) {
    return Of(x, of, batch_);
  }
  at::Tensor operator()(const at::Tensor& x) { return Of(x, share, batch_); }
  // Drops numbers of an x whose rows are not the batch's.
  at::Tensor Of(const at::Tensor& x, double of, const Batch& rows) {
    ++site_.turn;
    return Dropout(x, training_ ? of : 0.0, rows, site_);
  }

  double share;  // before the map to outputs

 private:
  const Batch& batch_;
  const bool training_;
  DropSite site_;  // that of the embeddings is the first
};

ModelHead::ModelHead(ModelConfig config, HeadSpec spec,
                     std::vector<Weight> weights)
    : config_(std::move(config)),
      spec_(std::move(spec)),
      shape_(RulesOf(config_.family).HeadOf(config_, spec_)),
      weights_(std::move(weights)) {
  const WeightsByName found(weights_);
  const auto own = [&](const std::string& name) {
    return found.LinearOf(PrefixOf(spec_) + name);
  };
  if (!shape_.pooler.empty()) pooler_ = found.LinearOf(shape_.pooler);
  switch (spec_.kind) {
    case HeadKind::kLinear:
      if (shape_.output.empty()) return;  // TakeTable
      output_ = own(spec_.apart() ? "pair.output" : shape_.output);
      if (spec_.apart()) return;
      if (!shape_.dense.empty()) dense_ = own(shape_.dense);
      if (!shape_.dense_norm.empty()) {
        dense_norm_ = found.NormOf(PrefixOf(spec_) + shape_.dense_norm);
      }
      return;
    case HeadKind::kMlp:
      dense_ = own("mlp.dense");
      output_ = own("mlp.output");
      return;
    case HeadKind::kInnerProduct:
    case HeadKind::kTwoMapCosine:
      dense_ = own("left_projection");
      right_ = own("right_projection");
      return;
    case HeadKind::kCosine:
      dense_ = own("projection");
      return;
    case HeadKind::kFeatures:
      output_ = own("features.output");
      return;
  }
}

ModelHead ModelHead::To(at::Device device) const {
  return ModelHead(config_, spec_, MoveTo(weights_, device));
}

at::Tensor ModelHead::TextOf(const at::Tensor& hidden,
                             const Batch& batch) const {
  const Pooling pooling = PoolingOf(config_, spec_);
  if (pooling == Pooling::kFirst) return hidden.select(1, 0);  // [B, H]
  if (pooling == Pooling::kLast) {
    const at::Tensor last = batch.mask.sum(1) - 1;  // [B]; padding is behind
    return hidden
        .take_along_dim(last.view({-1, 1, 1}).expand({-1, 1, hidden.size(2)}),
                        1)
        .squeeze(1);  // [B, H]
  }
  const at::Tensor there = batch.mask.unsqueeze(2);  // [B, N, 1]
  if (pooling == Pooling::kMax) {
    return hidden
        .masked_fill(there.eq(0), -std::numeric_limits<double>::infinity())
        .amax(1);  // [B, H]
  }
  const at::Tensor mask = there.to(hidden.scalar_type());       // [B, N, 1]
  return (hidden * mask).sum(1) / mask.sum(1).clamp_min(1e-9);  // [B, H]
}

at::Tensor ModelHead::Pooled(const at::Tensor& hidden, const Batch& batch,
                             Drop& drop) const {
  at::Tensor read =
      spec_.task == Task::kTokens ? hidden : TextOf(hidden, batch);
  if (!pooler_.weight.defined()) return read;  // [B, (N,) H]
  return Activate(Apply(pooler_, drop(read, shape_.pooler_dropout)),
                  shape_.pooler_activation);  // [B, H]
}

void ModelHead::TakeTable(const TransformerEncoder& encoder) {
  if (spec_.task != Task::kAnswers || !config_.tied) return;
  output_.weight = encoder.weights().front().value;  // [V, H]
}

at::Tensor ModelHead::Answers(const at::Tensor& hidden,
                              const Batch& batch) const {
  const at::Tensor all =
      batch.labels.defined()
          ? batch.labels.reshape(-1)
          : at::full({batch.ids.numel()}, kIgnoredLabel, batch.ids.options());
  const at::Tensor places = all.ne(kIgnoredLabel).nonzero().squeeze(1);  // [P]
  return LikelihoodOf(
      hidden.reshape({-1, hidden.size(2)}).index_select(0, places),
      output_.weight, all.index_select(0, places));  // [P, 2]
}

at::Tensor ModelHead::Logits(const at::Tensor& hidden, const Batch& batch,
                             const Pass& pass) const {
  if (spec_.task == Task::kAnswers) return Answers(hidden, batch);
  // Scores rounded to bf16 would tie with each other. The head is small enough
  // for fp32.
  const c10::impl::ExcludeDispatchKeyGuard in_fp32(
      c10::autocast_dispatch_keyset);
  Drop drop(*this, batch, pass.training);
  const at::Tensor read = Pooled(hidden, batch, drop);  // [B, (N,) H]
  if (spec_.apart()) return Pair(read, batch, drop);
  if (spec_.kind == HeadKind::kMlp) {
    return Mlp(read, batch.noise, batch.lengths, drop);  // [B, (N,) C]
  }
  return Single(read, drop);  // [B, (N,) C]
}

at::Tensor ModelHead::Single(at::Tensor read, Drop& drop) const {
  if (dense_.weight.defined()) {
    if (shape_.drops_before_dense) read = drop(read);
    read = Activate(Apply(dense_, read), shape_.dense_activation);
  }
  if (dense_norm_.weight.defined())
    read = Normalize(read, dense_norm_, config_);
  return Apply(output_, drop(read));
}

at::Tensor ModelHead::Mlp(const at::Tensor& read, const at::Tensor& noise,
                          const at::Tensor& lengths, Drop& drop) const {
  Batch rows;  // of a pair the left text draws
  rows.noise = noise;
  rows.lengths = lengths;
  const at::Tensor middle = Activate(Apply(dense_, read), Activation::kGelu);
  return Apply(output_,
               drop.Of(middle, spec_.dropout.value_or(drop.share), rows));
}

at::Tensor ModelHead::Pair(const at::Tensor& texts, const Batch& batch,
                           Drop& drop) const {
  const std::int64_t pairs = texts.size(0) / 2;
  const auto left = [pairs](const at::Tensor& x) {
    return x.defined() ? x.narrow(0, 0, pairs) : x;
  };
  if (spec_.kind == HeadKind::kMlp) {
    return Mlp(at::cat({left(texts), texts.narrow(0, pairs, pairs)}, 1),
               left(batch.noise), left(batch.lengths), drop);  // [B/2, C]
  }
  const at::Tensor read = drop(texts);  // [B, H]
  return Compared(left(read), read.narrow(0, pairs, pairs));
}

// Compares two sides of [B/2, H] each.
at::Tensor ModelHead::Compared(const at::Tensor& left,
                               const at::Tensor& right) const {
  switch (spec_.kind) {
    case HeadKind::kCosine:
    case HeadKind::kTwoMapCosine: {
      const Linear& other = spec_.has_two_maps() ? right_ : dense_;
      return spec_.scale * at::relu(at::cosine_similarity(Apply(dense_, left),
                                                          Apply(other, right)));
    }
    case HeadKind::kInnerProduct: {
      const at::Tensor score =
          (Apply(dense_, left) * Apply(right_, right)).sum(1);  // [B/2]
      if (spec_.task == Task::kRegression) return score;
      return at::stack({at::zeros_like(score), score}, 1);  // [B/2, 2]
    }
    case HeadKind::kFeatures:
      return Apply(output_,
                   at::cat({left, right, (left - right).abs(), left * right},
                           1));  // [B/2, C]
    case HeadKind::kLinear:
    case HeadKind::kMlp:
      break;
  }
  return Apply(output_, at::cat({left, right}, 1));  // [B/2, C]
}

namespace {

bool IsOfHead(const ParameterSpec& spec) {
  return spec.part == Part::kPooler || spec.part == Part::kHead;
}

// Returns the weights of the head `wanted`, or of the encoder if it is null.
// `values` has the order of ParametersOf(config, heads).
std::vector<Weight> Chosen(const ModelConfig& config, const Heads& heads,
                           const std::vector<at::Tensor>& values,
                           const HeadSpec* wanted) {
  std::vector<Weight> chosen;
  std::vector<ParameterSpec> specs = ParametersOf(config, heads);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool fits = wanted == nullptr ? !IsOfHead(specs[i])
                                        : IsOfHead(specs[i]) &&
                                              (specs[i].part == Part::kPooler ||
                                               specs[i].task == wanted->name);
    if (fits) chosen.push_back({std::move(specs[i]), values[i]});
  }
  return chosen;
}

std::vector<ModelHead> HeadsOf(const ModelConfig& config, const Heads& heads,
                               const std::vector<at::Tensor>& values) {
  std::vector<ModelHead> made;
  for (const HeadSpec& head : heads) {
    made.emplace_back(config, head, Chosen(config, heads, values, &head));
  }
  return made;
}

Heads SpecsOf(const std::vector<ModelHead>& heads) {
  std::vector<HeadSpec> specs;
  for (const ModelHead& head : heads) specs.push_back(head.spec());
  return Heads(std::move(specs));
}

}  // namespace

Model::Model(TransformerEncoder encoder, ModelHead head)
    : Model(std::move(encoder), std::vector<ModelHead>{std::move(head)}) {}

Model::Model(TransformerEncoder encoder, std::vector<ModelHead> heads)
    : encoder_(std::move(encoder)),
      heads_(std::move(heads)),
      specs_(SpecsOf(heads_)) {
  for (ModelHead& head : heads_) head.TakeTable(encoder_);
  std::set<std::string> seen;
  const auto add = [&](const std::vector<Weight>& weights, bool adapters,
                       bool poolers) {
    for (const Weight& each : weights) {
      const bool pools = each.spec.part == Part::kPooler;
      if (each.spec.adapts() != adapters || pools != poolers) continue;
      if (seen.insert(each.spec.name).second) weights_.push_back(each);
    }
  };
  add(encoder_.weights(), false, false);
  for (const bool poolers : {true, false}) {
    for (const ModelHead& head : heads_) add(head.weights(), false, poolers);
  }
  add(encoder_.weights(), true, false);
}

Model::Model(const ModelConfig& config, const Heads& heads,
             const std::vector<at::Tensor>& values)
    : Model(TransformerEncoder(config, Chosen(config, heads, values, nullptr)),
            HeadsOf(config, heads, values)) {}

Model Model::To(at::Device device) const {
  std::vector<ModelHead> moved;
  for (const ModelHead& head : heads_) moved.push_back(head.To(device));
  return Model(encoder_.To(device), std::move(moved));
}

Model Model::Merged() const { return Model(encoder_.Merged(), heads_); }

Expected<Done> Model::Check(const Batch& batch) const {
  return CheckBatch(batch, config(), head(batch.task).spec());
}

at::Tensor Model::Forward(const Batch& batch, const Pass& pass) const {
  Pass own = pass;
  own.first_token = ReadsFirstToken(config(), specs_);
  const at::Tensor boundary = batch.boundary.defined()
                                  ? batch.boundary
                                  : encoder_.Prefix(batch, own);  // [B, N, H]
  return head(batch.task)
      .Logits(encoder_.Suffix(boundary, batch, own), batch, own);
}

std::int64_t CountLabels(const at::Tensor& labels) {
  if (labels.scalar_type() != at::kLong) return labels.numel();
  return labels.ne(kIgnoredLabel).sum().item<std::int64_t>();
}

double WeighLabels(const at::Tensor& labels, const at::Tensor& class_weights) {
  if (!class_weights.defined()) {
    return static_cast<double>(CountLabels(labels));
  }
  const at::Tensor counted =
      labels.masked_select(labels.ne(kIgnoredLabel));  // [labels]
  return class_weights.index_select(0, counted).sum().item<double>();
}

at::Tensor LossOf(const HeadSpec& head, const at::Tensor& logits,
                  const at::Tensor& labels, double smoothing,
                  const at::Tensor& class_weights) {
  if (head.task == Task::kRegression) {
    return at::mse_loss(logits.reshape(-1), labels);  // []
  }
  if (head.task == Task::kAnswers) return logits.select(1, 0).mean().neg();
  return at::cross_entropy_loss(
      logits.reshape({-1, head.outputs}), labels.reshape(-1), class_weights,
      at::Reduction::Mean, kIgnoredLabel, smoothing);  // []
}

namespace {

at::ScalarType ScalarOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return at::kFloat;
    case Dtype::kF16:
      return at::kHalf;
    case Dtype::kBF16:
      return at::kBFloat16;
    case Dtype::kI64:
      return at::kLong;
    case Dtype::kI32:
      return at::kInt;
    case Dtype::kU8:
      return at::kByte;
    case Dtype::kBool:
      return at::kBool;
  }
  return at::kFloat;
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dimension);
  }
  return text + "]";
}

bool IsReplaceable(const ParameterSpec& spec) {
  return spec.part == Part::kHead || spec.part == Part::kPooler;
}

}  // namespace

Expected<ModelFolder> ModelFolder::Open(const std::string& folder,
                                        SavedAdapters adapters) {
  ASSIGN_OR_FAULT(std::string json,
                  ReadWholeFile(folder + "/config.json", kMaxConfigBytes));
  ASSIGN_OR_FAULT(ModelConfig config, ReadModelConfig(json, adapters));
  ASSIGN_OR_FAULT(WeightFiles files, WeightFiles::Open(folder));
  ModelFolder opened(std::move(files));
  opened.config_ = std::move(config);
  opened.config_json_ = std::move(json);
  RETURN_IF_FAULT(opened.FindPlaces());
  return opened;
}

Expected<Done> ModelFolder::FindPlaces() {
  for (const auto& [stored, place] : files_.places()) {
    const std::string name = CurrentName(stored, config_);
    if (!places_.emplace(name, place).second) {
      return Fault{FaultKind::kInconsistent,
                   "the weights have \"" + name + "\" under two names",
                   "save the model again with a current transformers"};
    }
  }
  LoadReport none;
  for (const ParameterSpec& spec : EncoderParametersOf(config_)) {
    RETURN_IF_FAULT(PlaceOf(spec, none));
  }
  return Done{};
}

Expected<std::optional<WeightFiles::Place>> ModelFolder::PlaceOf(
    const ParameterSpec& spec, LoadReport& report) const {
  const auto found = places_.find(spec.name);
  if (found == places_.end()) {
    if (!IsReplaceable(spec)) {
      return Fault{FaultKind::kInconsistent,
                   "the weights lack \"" + spec.name + "\"",
                   "see that config.json and the weights are of one model"};
    }
    report.missing.push_back(spec.name);
    return std::optional<Place>();
  }
  const StoredTensor& tensor = *found->second.tensor;
  if (tensor.shape != spec.shape) {
    if (spec.part != Part::kHead) {
      return Fault{FaultKind::kInconsistent,
                   "\"" + spec.name + "\" has the shape " +
                       ShapeText(tensor.shape) + "; config.json says " +
                       ShapeText(spec.shape),
                   "see that config.json and the weights are of one model"};
    }
    report.reshaped.push_back(spec.name);
    return std::optional<Place>();
  }
  if (tensor.dtype != Dtype::kF32 && tensor.dtype != Dtype::kF16 &&
      tensor.dtype != Dtype::kBF16) {
    return Fault{FaultKind::kUnsupported,
                 "\"" + spec.name + "\" is of the dtype " +
                     std::string(NameOf(tensor.dtype)),
                 "take weights that are F32, F16 or BF16"};
  }
  return std::optional<Place>(found->second);
}

Expected<TransformerEncoder> ModelFolder::ReadEncoder(
    const StopSign& stop) const {
  return CatchTorch([&]() -> Expected<TransformerEncoder> {
    std::vector<Weight> weights;
    for (ParameterSpec& spec : EncoderParametersOf(config_)) {
      RETURN_IF_FAULT(stop.Check());
      const Place& place = places_.at(spec.name);
      ASSIGN_OR_FAULT(at::Tensor value,
                      ReadTensor(files_.file(place), *place.tensor));
      weights.push_back({std::move(spec), std::move(value)});
    }
    return TransformerEncoder(config_, std::move(weights));
  });
}

Expected<LoadedHead> ModelFolder::ReadHead(const HeadSpec& spec,
                                           std::uint64_t seed) const {
  RETURN_IF_FAULT(CheckHead(spec));
  if (spec.task == Task::kAnswers && !config_.decoder) {
    return Fault{FaultKind::kMisuse,
                 "the task is answers, and a model of the type " +
                     config_.model_type + " tells no next tokens",
                 "take a decoder: Llama 3, SmolLM2, Qwen2, Qwen2.5 or Qwen3"};
  }
  return CatchTorch([&]() -> Expected<LoadedHead> {
    LoadReport report;
    at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(seed);
    std::vector<Weight> weights;
    for (ParameterSpec& each : HeadParametersOf(config_, spec)) {
      ASSIGN_OR_FAULT(std::optional<Place> place, PlaceOf(each, report));
      if (!place) {
        report.initialized.push_back(each.name);
        at::Tensor drawn = DrawWeight(each, config_, chance);
        weights.push_back({std::move(each), std::move(drawn)});
        continue;
      }
      ASSIGN_OR_FAULT(at::Tensor value,
                      ReadTensor(files_.file(*place), *place->tensor));
      weights.push_back({std::move(each), std::move(value)});
    }
    ReportTheRest(spec, report);
    return LoadedHead{ModelHead(config_, spec, std::move(weights)),
                      std::move(report)};
  });
}

void ModelFolder::ReportTheRest(const HeadSpec& head,
                                LoadReport& report) const {
  std::map<std::string, Place> rest = places_;
  for (const ParameterSpec& spec : ParametersOf(config_, head)) {
    rest.erase(spec.name);
  }
  for (const auto& [name, place] : rest) {
    const bool known = IsLeftover(name, config_);
    (known ? report.unused : report.unexpected).push_back(place.tensor->name);
  }
}

Expected<at::Tensor> ReadTensor(const Safetensors& file,
                                const StoredTensor& stored) {
  return CatchTorch([&]() -> Expected<at::Tensor> {
    at::Tensor tensor = at::empty(stored.shape, ScalarOf(stored.dtype));
    RETURN_IF_FAULT(file.Read(stored, tensor.mutable_data_ptr()));
    return tensor.is_floating_point() ? tensor.to(at::kFloat) : tensor;
  });
}

Model TrainableCopy(const LoadedModel& loaded, const ModelConfig& config,
                    const std::vector<bool>& trains, std::uint64_t seed) {
  const std::set<std::string> drawn(loaded.report.initialized.begin(),
                                    loaded.report.initialized.end());
  const Heads& heads = loaded.model.heads();
  at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(seed);
  std::vector<at::Tensor> values;
  for (const Weight& each : loaded.model.weights()) {
    const at::Tensor value = each.value.detach();
    if (drawn.contains(each.spec.name)) {
      values.push_back(
          DrawWeight(each.spec, config, chance).to(value.device()));
    } else {
      values.push_back(trains[values.size()] ? value.clone() : value);
    }
  }
  // Adapters are drawn last, so that the head is drawn the same without them.
  for (const ParameterSpec& spec : ParametersOf(config, heads)) {
    if (!spec.adapts()) continue;
    values.push_back(
        DrawWeight(spec, config, chance).to(loaded.model.device()));
  }
  return Model(config, heads, values);
}

Expected<LoadedModel> LoadModel(const std::string& folder, const HeadSpec& head,
                                std::uint64_t seed) {
  RETURN_IF_FAULT(CheckHead(head));
  ASSIGN_OR_FAULT(ModelFolder opened, ModelFolder::Open(folder));
  ASSIGN_OR_FAULT(LoadedHead top, opened.ReadHead(head, seed));
  ASSIGN_OR_FAULT(TransformerEncoder encoder, opened.ReadEncoder());
  return LoadedModel{Model(std::move(encoder), std::move(top.head)),
                     std::move(top.report), opened.config_json()};
}

}  // namespace frostline::trainer
