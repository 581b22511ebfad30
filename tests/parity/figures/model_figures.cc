// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/parity/figures/torch_figures.h"
#include "tests/parity/figures/torch_recordings.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/model.h"

namespace frostline::test {
namespace {

namespace fs = std::filesystem;

at::Tensor Here(const at::Tensor& tensor) { return tensor.to(at::kCPU); }

at::Tensor Loss(const trainer::Model& model, const at::Tensor& logits,
                const trainer::Batch& batch) {
  return trainer::LossOf(model.head().spec(), logits, batch.labels, 0);
}

// What a model computes of one batch, which is checked in main memory.
class OneBatch {
 public:
  OneBatch(const trainer::Model& model, const trainer::Tensors& io,
           const std::string& name, const trainer::Device& device)
      : model_(model),
        io_(io),
        name_(name),
        batch_(trainer::BatchOf(io, name)) {
    OrThrow(model.Check(batch_));
    there_ = trainer::MoveTo(batch_, device.torch());
  }

  void AddForward(const JsonValue& expected, Figures& figures) const {
    const at::Tensor logits = model_.Forward(there_, {});
    Add("logits", 0.0,
        trainer::Furthest(Here(logits), io_.at(name_ + ".logits")), figures);
    Add("loss", NumberAt(expected, "loss"),
        Loss(model_, logits, there_).item<double>(), figures);
  }

  void AddPadded(const JsonValue& expected, std::int64_t tokens,
                 Figures& figures) const {
    const trainer::Batch wide = trainer::PadTo(tokens, there_, model_.config());
    const at::Tensor logits = model_.Forward(wide, {});
    at::Tensor seen = Here(logits);
    at::Tensor recorded = io_.at(name_ + ".logits");
    if (seen.dim() == 3) {                                // of tokens
      const at::Tensor there = batch_.mask.unsqueeze(2);  // [B, N, 1]
      seen = seen.narrow(1, 0, there.size(1)) * there;
      recorded = recorded * there;
    }
    Add("logits when padded", 0.0, trainer::Furthest(seen, recorded), figures);
    Add("loss when padded", NumberAt(expected, "loss"),
        Loss(model_, logits, wide).item<double>(), figures);
  }

  void AddStates(const JsonValue& expected, Figures& figures) const {
    std::vector<at::Tensor> states;
    const at::Tensor last = model_.encoder().Suffix(
        model_.encoder().Prefix(there_, {}, &states), there_, {}, &states);
    const at::Tensor tokens = batch_.mask.unsqueeze(2);  // [B, N, 1]
    Add("last hidden state", 0.0,
        trainer::Furthest(Here(last) * tokens,
                          io_.at(name_ + ".last_hidden_state") * tokens),
        figures);
    const std::vector<const JsonValue*> means =
        Elements(At(expected, "hidden_abs_mean_valid"));
    figures.push_back({FigureKind::kExact, name_ + " hidden states",
                       static_cast<double>(means.size()),
                       static_cast<double>(states.size())});
    for (std::size_t i = 0; i < std::min(states.size(), means.size()); ++i) {
      const at::Tensor kept =
          Here(states[i]).masked_select(tokens.eq(1)).to(at::kDouble);
      Add("hidden state " + std::to_string(i), NumberOf(*means[i]),
          kept.abs().mean().item<double>(), figures);
    }
  }

 private:
  void Add(const std::string& what, double expected, double actual,
           Figures& figures) const {
    figures.push_back(
        {FigureKind::kForward, name_ + " " + what, expected, actual});
  }

  const trainer::Model& model_;
  const trainer::Tensors& io_;
  std::string name_;
  trainer::Batch batch_;
  trainer::Batch there_;  // on the device
};

// Adds the gradients of a model whose weights all train.
void AddGradients(const trainer::Model& model, const JsonValue& expected,
                  const trainer::Batch& batch, const fs::path& folder,
                  Figures& figures) {
  Loss(model, model.Forward(batch, {}), batch).backward();
  const JsonValue* summary = expected.Find("grads_b0");
  trainer::Tensors full;
  if (summary == nullptr) {
    full = RecordedTensors(folder / "grads_b0.safetensors");
  }
  const std::set<std::string> without = TextsAt(expected, "no_grad_params");
  double squares = 0.0;
  for (const trainer::Weight& each : model.weights()) {
    const std::string& name = each.spec.name;
    const bool has = each.value.grad().defined();
    figures.push_back({FigureKind::kExact, name + " has a gradient",
                       without.contains(name) ? 0.0 : 1.0, has ? 1.0 : 0.0});
    if (!has || without.contains(name)) continue;
    const at::Tensor gradient = Here(each.value.grad());
    squares += gradient.to(at::kDouble).pow(2).sum().item<double>();
    if (summary == nullptr) {
      figures.push_back({FigureKind::kGradient, name + " gradient", 0.0,
                         trainer::Furthest(gradient, full.at(name))});
    } else {
      AddSummary(FigureKind::kGradient, name + " gradient", At(*summary, name),
                 gradient, figures);
    }
  }
  figures.push_back({FigureKind::kNorm, "norm of the gradients",
                     NumberAt(expected, "grad_norm"), std::sqrt(squares)});
}

}  // namespace

Figures ModelFigures(const fs::path& expected, const trainer::Device& device,
                     const trainer::Kernels& kernels) {
  const fs::path folder = expected.parent_path();
  const RecordedJson recorded(expected);
  const trainer::Tensors io = RecordedTensors(folder / "io.safetensors");
  const trainer::LoadedModel loaded = RecordedModel(folder);
  const trainer::LoadReport& report = loaded.report;
  const std::size_t astray = report.initialized.size() + report.unused.size() +
                             report.unexpected.size();
  Figures figures = {{FigureKind::kExact, "tensors without a place", 0.0,
                      static_cast<double>(astray)}};
  trainer::Model model = loaded.model.To(device.torch());
  model.Prepare(kernels, std::nullopt);
  int index = 0;
  for (const JsonValue* each : Elements(At(recorded.root(), "batches"))) {
    const at::NoGradGuard no_graph;
    const OneBatch batch(model, io, "b" + std::to_string(index++), device);
    batch.AddForward(*each, figures);
    if (kernels.pad_to > 1) batch.AddPadded(*each, kernels.pad_to, figures);
    batch.AddStates(*each, figures);
  }
  for (trainer::Weight& each : model.weights()) {
    each.value.set_requires_grad(true);
  }
  model.Prepare(kernels, std::nullopt);
  const trainer::Batch first = trainer::PadTo(
      kernels.pad_to, trainer::BatchOf(io, "b0"), model.config());
  AddGradients(model, recorded.root(), trainer::MoveTo(first, device.torch()),
               folder, figures);
  return figures;
}

Figures RoundedFigures(const fs::path& expected,
                       const trainer::Device& device) {
  const at::NoGradGuard no_graph;
  const fs::path folder = expected.parent_path();
  const trainer::Tensors io = RecordedTensors(folder / "io.safetensors");
  const trainer::Model model = RecordedModel(folder).model.To(device.torch());
  const at::Tensor& logits = io.at("b0.logits");
  const double largest = std::max(1.0, logits.abs().max().item<double>());
  const trainer::Batch batch =
      trainer::MoveTo(trainer::BatchOf(io, "b0"), device.torch());
  // What transformers errs itself, where it is recorded, is no fault of ours.
  const RecordedJson recorded(expected);
  const JsonValue* const error = recorded.root().Find("bf16_error");
  const double theirs = error == nullptr ? 0.0 : error->number;
  Figures figures;
  for (const auto& [name, kind] : {std::pair("bf16", FigureKind::kBf16),
                                   std::pair("fp16", FigureKind::kFp16),
                                   std::pair("tf32", FigureKind::kTf32)}) {
    const auto precision = device.Choose(name);
    if (!precision.ok()) continue;  // a processor has no TF32
    device.Multiply(precision.value());
    const trainer::Autocast autocast(precision.value(), device.torch());
    const at::Tensor rounded = Here(model.Forward(batch, {}));
    const double off = trainer::Furthest(rounded, logits) / largest;
    figures.push_back({kind, std::string("b0 ") + NameOf(kind), 0.0,
                       std::max(0.0, off - theirs)});
  }
  device.Multiply(trainer::Precision::kFp32);
  return figures;
}

}  // namespace frostline::test
