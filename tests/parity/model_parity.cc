// SPDX-License-Identifier: Apache-2.0
//
// Models against what transformers computed from the same files: logits,
// hidden states and losses within 1e-5, gradients within 1e-4.
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/parity/torch_recordings.h"
#include "worker/trainer/model/loss.h"

namespace frostline {
namespace {

namespace fs = std::filesystem;

constexpr double kForward = 1e-5;
constexpr double kBackward = 1e-4;

at::Tensor Loss(const Model& model, const Batch& batch) {
  return LossOf(model.head(), model.Forward(batch, {}), batch.labels, 0);
}

void CheckForward(const Model& model, const nlohmann::json& expected,
                  const Tensors& io, const std::string& b,
                  ParityResult& result) {
  const at::NoGradGuard no_graph;
  const Batch batch = BatchOf(io, b);
  OrThrow(model.Check(batch));
  result.Near(b + " logits", 0.0,
              Furthest(model.Forward(batch, {}), io.at(b + ".logits")),
              kForward);
  result.Near(b + " loss", expected.at("loss"),
              Loss(model, batch).item<double>(), kForward);
  std::vector<at::Tensor> states;
  const at::Tensor last =
      model.Suffix(model.Prefix(batch, {}, &states), batch, {}, &states);
  const at::Tensor tokens = batch.mask.unsqueeze(2);  // [B, N, 1]
  result.Near(b + " last hidden state", 0.0,
              Furthest(last * tokens, io.at(b + ".last_hidden_state") * tokens),
              kForward);
  const nlohmann::json& means = expected.at("hidden_abs_mean_valid");
  result.True(b + " as many hidden states", states.size() == means.size());
  for (std::size_t i = 0; i < std::min(states.size(), means.size()); ++i) {
    const at::Tensor kept =
        states[i].masked_select(tokens.eq(1)).to(at::kDouble);
    result.Near(b + " hidden state " + std::to_string(i), means.at(i),
                kept.abs().mean().item<double>(), kForward);
  }
}

void CheckGradients(Model& model, const nlohmann::json& expected,
                    const Batch& batch, const fs::path& folder,
                    ParityResult& result) {
  for (Parameter& each : model.parameters()) {
    each.value.set_requires_grad(true);
  }
  Loss(model, batch).backward();
  const bool summary = expected.contains("grads_b0");
  Tensors full;
  if (!summary) full = RecordedTensors(folder / "grads_b0.safetensors");
  const std::set<std::string> without = expected.at("no_grad_params");
  double squares = 0.0;
  for (const Parameter& each : model.parameters()) {
    const std::string& name = each.spec.name;
    const at::Tensor& gradient = each.value.grad();
    result.True(name + " has a gradient where theirs has one",
                gradient.defined() != without.contains(name));
    if (!gradient.defined() || without.contains(name)) continue;
    squares += gradient.to(at::kDouble).pow(2).sum().item<double>();
    if (summary) {
      CompareFigures(name + " gradient", expected.at("grads_b0").at(name),
                     gradient, kBackward, result);
    } else {
      result.Near(name + " gradient", 0.0, Furthest(gradient, full.at(name)),
                  kBackward);
    }
  }
  result.Near("norm of the gradients", expected.at("grad_norm"),
              std::sqrt(squares), kBackward);
}

void Check(const std::string& path, ParityResult& result) {
  const fs::path folder = fs::path(path).parent_path();
  const nlohmann::json expected = ReadJson(path);
  const Tensors io = RecordedTensors(folder / "io.safetensors");
  LoadedModel loaded = RecordedModel(folder);
  const LoadReport& report = loaded.report;
  result.True("every tensor has its place", report.initialized.empty() &&
                                                report.unused.empty() &&
                                                report.unexpected.empty());
  const nlohmann::json& batches = expected.at("batches");
  for (std::size_t i = 0; i < batches.size(); ++i) {
    CheckForward(loaded.model, batches.at(i), io, "b" + std::to_string(i),
                 result);
  }
  CheckGradients(loaded.model, expected, BatchOf(io, "b0"), folder, result);
}

const bool kRegistered =
    RegisterParity("model", R"((.*/)?models/[^/]+/expected\.json)", Check);

}  // namespace
}  // namespace frostline
