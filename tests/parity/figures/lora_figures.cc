// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/figures/lora_figures.h"

#include <string>
#include <vector>

#include "tests/parity/figures/torch_recordings.h"
#include "worker/trainer/model/model.h"

namespace frostline::test {
namespace {

trainer::LoraSpec SpecOf(const JsonValue& lora) {
  trainer::LoraSpec spec;
  spec.rank = static_cast<std::int64_t>(NumberAt(lora, "rank"));
  spec.alpha = NumberAt(lora, "alpha");
  spec.parts.clear();
  for (const std::string& name : TextsAt(lora, "modules")) {
    const std::optional<trainer::LoraPart> part = trainer::LoraPartOf(name);
    if (!part) throw std::runtime_error("no part is called " + name);
    spec.parts.insert(*part);
  }
  return spec;
}

}  // namespace

trainer::Model ModelToTrain(const std::filesystem::path& root,
                            const JsonValue& recorded) {
  const trainer::LoadedModel loaded =
      RecordedModel(root / TextAt(recorded, "model"));
  const JsonValue* lora = recorded.Find("lora");
  const JsonValue* adapters = recorded.Find("adapters");
  if (lora == nullptr && adapters == nullptr) return loaded.model;
  trainer::ModelConfig config = loaded.model.config();
  if (lora != nullptr) config.lora = SpecOf(*lora);
  if (adapters != nullptr) {
    config.bottleneck = {static_cast<std::int64_t>(NumberAt(*adapters, "size")),
                         TextAt(*adapters, "activation") == "relu"};
  }
  const std::vector<bool> all(loaded.model.weights().size(), true);
  trainer::Model model = trainer::TrainableCopy(loaded, config, all, 1);
  trainer::Tensors start = RecordedTensors(
      root / TextAt(lora != nullptr ? *lora : *adapters, "start"));
  for (trainer::Weight& each : model.weights()) {
    if (!each.spec.adapts() || each.spec.role == trainer::Role::kLoraB) {
      continue;
    }
    each.value.copy_(start.at(each.spec.name));
    start.erase(each.spec.name);
  }
  if (!start.empty()) {
    throw std::runtime_error("no adapter is called " + start.begin()->first);
  }
  return model;
}

void AddLoraFigures(trainer::Stepper& stepper, trainer::Model& model,
                    const JsonValue& recorded, const trainer::Batch& first,
                    Figures& figures) {
  if (!Has(recorded, "final_grads")) return;
  const trainer::Batch batch = trainer::MoveTo(first, model.device());
  const trainer::Pass pass = trainer::TrainingPass(stepper.plan());
  trainer::LossOf(model.head().spec(), model.Forward(batch, pass), batch.labels,
                  stepper.options().label_smoothing)
      .backward();
  const JsonValue& gradients = At(recorded, "final_grads");
  for (trainer::Weight& each : model.weights()) {
    const std::string& name = each.spec.name;
    const bool has = each.value.grad().defined();
    figures.push_back({FigureKind::kExact, name + " has a gradient",
                       Has(gradients, name) ? 1.0 : 0.0, has ? 1.0 : 0.0});
    if (!has || !Has(gradients, name)) continue;
    AddSummary(FigureKind::kGradient, name + " gradient", At(gradients, name),
               each.value.grad(), figures);
    each.value.mutable_grad().reset();
  }
  if (!Has(recorded, "merged_weights")) return;
  const trainer::Model merged = model.Merged();
  std::size_t found = 0;
  const JsonValue& weights = At(recorded, "merged_weights");
  for (const trainer::Weight& each : merged.weights()) {
    const std::string& name = each.spec.name;
    if (!Has(weights, name)) continue;
    ++found;
    AddSummary(FigureKind::kWeight, name + " merged", At(weights, name),
               each.value, figures);
  }
  figures.push_back({FigureKind::kExact, "merged weights",
                     static_cast<double>(Elements(weights).size()),
                     static_cast<double>(found)});
  const at::NoGradGuard no_graph;
  figures.push_back(
      {FigureKind::kForward, "logits of the merged model", 0.0,
       trainer::Furthest(merged.Forward(batch, {}), model.Forward(batch, {}))});
}

}  // namespace frostline::test
