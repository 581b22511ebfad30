// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step/plain_steps.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/nn/functional.h>
#include <torch/nn/modules.h>
#include <torch/nn/utils/clip_grad.h>

#include "tests/bench/step/our_steps.h"

namespace frostline::bench {
namespace {

namespace nn = torch::nn;
using torch::Tensor;

nn::LayerNorm NormOf(const Shape& shape) {
  return nn::LayerNorm(nn::LayerNormOptions({shape.hidden}).eps(1e-12));
}

struct LayerImpl : nn::Module {
  explicit LayerImpl(const Shape& shape)
      : heads(shape.heads), share(shape.dropout) {
    const std::int64_t h = shape.hidden;
    query = register_module("query", nn::Linear(h, h));
    key = register_module("key", nn::Linear(h, h));
    value = register_module("value", nn::Linear(h, h));
    out = register_module("out", nn::Linear(h, h));
    attention_norm = register_module("attention_norm", NormOf(shape));
    up = register_module("up", nn::Linear(h, shape.wide()));
    down = register_module("down", nn::Linear(shape.wide(), h));
    norm = register_module("norm", NormOf(shape));
    dropout = register_module("dropout", nn::Dropout(shape.dropout));
  }

  Tensor Split(const Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
  }

  Tensor forward(const Tensor& x, const Tensor& mask) {
    const Tensor seen = at::scaled_dot_product_attention(
        Split(query(x)), Split(key(x)), Split(value(x)), mask,
        is_training() ? share : 0.0);
    const Tensor attended = out(seen.transpose(1, 2).reshape(x.sizes()));
    const Tensor middle = attention_norm(x + dropout(attended));
    return norm(middle + dropout(down(nn::functional::gelu(up(middle)))));
  }

  std::int64_t heads;
  double share;
  nn::Linear query{nullptr}, key{nullptr}, value{nullptr}, out{nullptr};
  nn::Linear up{nullptr}, down{nullptr};
  nn::LayerNorm attention_norm{nullptr}, norm{nullptr};
  nn::Dropout dropout{nullptr};
};
TORCH_MODULE(Layer);

// Registers its parts in the order of ParametersOf.
struct BertImpl : nn::Module {
  explicit BertImpl(const Shape& shape) {
    words =
        register_module("words", nn::Embedding(shape.vocabulary, shape.hidden));
    places =
        register_module("places", nn::Embedding(shape.positions, shape.hidden));
    types = register_module("types", nn::Embedding(2, shape.hidden));
    norm = register_module("norm", NormOf(shape));
    layers = register_module("layers", nn::ModuleList());
    for (std::int64_t i = 0; i < shape.layers; ++i) {
      layers->push_back(Layer(shape));
    }
    pooler = register_module("pooler", nn::Linear(shape.hidden, shape.hidden));
    classifier = register_module("classifier", nn::Linear(shape.hidden, 2));
    dropout = register_module("dropout", nn::Dropout(shape.dropout));
  }

  Tensor forward(const trainer::Batch& batch) {
    const Tensor at_place =
        torch::arange(batch.ids.size(1), batch.ids.options());
    Tensor hidden =
        dropout(norm(words(batch.ids) + types(batch.types) + places(at_place)));
    const Tensor mask =
        batch.mask.to(torch::kBool).unsqueeze(1).unsqueeze(2);  // [B, 1, 1, N]
    for (const auto& layer : *layers) {
      hidden = layer->as<LayerImpl>()->forward(hidden, mask);
    }
    return classifier(dropout(torch::tanh(pooler(hidden.select(1, 0)))));
  }

  nn::Embedding words{nullptr}, places{nullptr}, types{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::ModuleList layers{nullptr};
  nn::Linear pooler{nullptr}, classifier{nullptr};
  nn::Dropout dropout{nullptr};
};
TORCH_MODULE(Bert);

struct Moving {
  Tensor value, first, second, steps;
  double rate = kRate;
  bool decays = true;
};

using Tensors = std::vector<Tensor>;

// What torch.optim.AdamW(fused=True) does for one group.
void MoveGroup(std::vector<Moving>& all, double rate, bool decays) {
  Tensors values, gradients, first, second, steps;
  for (Moving& each : all) {
    if (each.rate != rate || each.decays != decays) continue;
    if (!each.value.grad().defined()) continue;
    values.push_back(each.value);
    gradients.push_back(each.value.grad());
    first.push_back(each.first);
    second.push_back(each.second);
    steps.push_back(each.steps.add_(1));
  }
  if (values.empty()) return;
  at::_fused_adamw_(values, gradients, first, second, {}, steps, rate, 0.9,
                    0.999, decays ? kDecay : 0.0, 1e-8, false, false);
}

}  // namespace

struct PlainSteps::Parts {
  explicit Parts(const Shape& shape) : model(shape), batch(DrawnBatch(shape)) {
    const torch::NoGradGuard no_graph;
    const Tensors drawn = DrawnWeights(shape);
    Tensors values = model->parameters();
    TORCH_CHECK(drawn.size() == values.size(), "other parameters than ours");
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i].copy_(drawn[i]);
      Moving each;
      each.value = values[i];
      each.first = torch::zeros_like(values[i]);
      each.second = torch::zeros_like(values[i]);
      each.steps = torch::zeros({});
      each.decays = values[i].dim() > 1;
      moving.push_back(std::move(each));
    }
  }

  Bert model;
  trainer::Batch batch;
  std::vector<Moving> moving;
};

PlainSteps::PlainSteps(const Shape& shape)
    : parts_(std::make_unique<Parts>(shape)) {}

PlainSteps::~PlainSteps() = default;

void PlainSteps::Take(const Freeze& freeze) {
  constexpr std::size_t kOfEmbeddings = 5;
  constexpr std::size_t kOfLayer = 16;
  const std::size_t frozen =
      freeze.how == Frozen::kNothing
          ? 0
          : kOfEmbeddings + kOfLayer * static_cast<std::size_t>(freeze.k);
  for (std::size_t i = 0; i < parts_->moving.size(); ++i) {
    Moving& each = parts_->moving[i];
    each.rate = i < frozen ? 0.0 : kRate;
    each.value.set_requires_grad(freeze.how != Frozen::kHard || i >= frozen);
    each.value.mutable_grad().reset();
  }
}

void PlainSteps::Step() {
  parts_->model->train();
  const Tensor logits = parts_->model->forward(parts_->batch);
  nn::functional::cross_entropy(logits, parts_->batch.labels).backward();
  Tensors clipped;
  for (const Moving& each : parts_->moving) {
    if (each.value.grad().defined()) clipped.push_back(each.value);
  }
  nn::utils::clip_grad_norm_(clipped, 1.0);
  const torch::NoGradGuard no_graph;
  for (const bool decays : {true, false}) {
    MoveGroup(parts_->moving, kRate, decays);
    MoveGroup(parts_->moving, 0.0, decays);
  }
  for (Moving& each : parts_->moving) each.value.mutable_grad().reset();
}

std::vector<double> PlainSteps::Logits() {
  const torch::NoGradGuard no_graph;
  parts_->model->eval();
  const Tensor logits =
      parts_->model->forward(parts_->batch).flatten().to(torch::kDouble);
  const double* numbers = logits.const_data_ptr<double>();
  return {numbers, numbers + logits.numel()};
}

}  // namespace frostline::bench
