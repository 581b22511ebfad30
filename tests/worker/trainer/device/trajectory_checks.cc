// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/device/trajectory_checks.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/train/stepper.h"

namespace frostline {
namespace {

// The recordings' names of the modules, and ours.
constexpr std::pair<const char*, const char*> kModules[] = {
    {"emb", "embeddings"},
    {"l0", "layer.0"},
    {"l1", "layer.1"},
    {"l2", "layer.2"},
    {"head", "head"}};

// Ways of freezing by module, with AdamW; their letters.
bool IsKnown(const std::string& name) {
  for (const char* kind : {"_a_", "_b_", "_c_", "_d_"}) {
    if (name.find(kind) != std::string::npos) return true;
  }
  return false;
}

std::set<std::string> Set(const JsonValue& list) {
  const std::vector<std::string> texts = Texts(list);
  return {texts.begin(), texts.end()};
}

FreezePlan PlanOf(const JsonFixture& recorded, const Model& model) {
  const std::set<std::string> frozen = Set(recorded["frozen"]);
  ModuleRates rates;
  for (const auto& [theirs, ours] : kModules) {
    rates[ours] =
        frozen.contains(theirs) ? 0.0 : recorded["lr"].Find(theirs)->number;
  }
  const FreezeSemantics semantics = {
      .mode = frozen.empty() ? FreezeMode::kLr0 : FreezeMode::kHard,
      .prefix_dropout = PrefixDropout::kHf};
  return MakeFreezePlan(model.config(), model.head(), rates, semantics).value();
}

StepOptions OptionsOf(const JsonFixture& recorded) {
  StepOptions options;
  options.optimizer.weight_decay =
      recorded["adamw"].Find("weight_decay")->number;
  options.schedule.warmup_steps = *recorded["warmup_steps"].Index();
  options.schedule.total_steps = *recorded["total_steps"].Index();
  options.clip_norm = recorded["clip"].number;
  return options;
}

double OffWeights(const JsonFixture& recorded, const Model& model) {
  const std::set<std::string> undetermined = Set(recorded["undetermined"]);
  double off = 0.0;
  for (const Parameter& each : model.parameters()) {
    if (undetermined.contains(each.spec.name)) continue;
    const JsonValue& weights = *recorded["final_weights"].Find(each.spec.name);
    const at::Tensor value =
        each.value.detach().to(at::kCPU).to(at::kDouble).reshape(-1);
    off = std::max(off, std::abs(value.sum().item<double>() -
                                 weights.Find("sum")->number));
    off = std::max(off, std::abs(value.abs().sum().item<double>() -
                                 weights.Find("abs_sum")->number));
  }
  return off;
}

}  // namespace

void CheckTrajectory(const std::string& name, const Device& device,
                     const Limits& limits, Verdicts& verdicts) {
  const std::string what = "trajectories/" + name;
  if (!IsKnown(name)) {
    return verdicts.Skip(what, "a kind that is not read here");
  }
  const JsonFixture recorded(FixturePath(what + ".json"));
  const Tensors batches =
      ReadTensors(FixturePath("trajectories/batches.safetensors"));
  const auto batch_at = [&](double index) {
    return BatchOf(batches, "b" + std::to_string(static_cast<int>(index)));
  };
  Model model =
      LoadFixture(std::string(recorded["model"].text)).model.To(device.torch());
  Stepper stepper =
      Stepper::Make(model, PlanOf(recorded, model), OptionsOf(recorded))
          .value();
  double off = 0.0;
  const JsonValue* step = recorded["steps"].first;
  for (const double index : Numbers(recorded["order"])) {
    const Batch batch = batch_at(index);
    const Outcome<StepResult> result = stepper.Step({&batch, 1});
    if (!result.ok()) return verdicts.True(what, false, result.fault().cause);
    off = std::max(off,
                   std::abs(result.value().loss - step->Find("loss")->number));
    off = std::max(off, std::abs(result.value().grad_norm -
                                 step->Find("grad_norm")->number));
    step = step->next;
  }
  verdicts.Near(what + " losses and norms", off, limits.backward);
  off = 0.0;
  double index = 0.0;
  for (const double loss : Numbers(recorded["final_eval_loss"])) {
    const Prediction now = stepper.Predict(batch_at(index++)).value();
    off = std::max(off, std::abs(now.loss - loss));
  }
  verdicts.Near(what + " losses afterwards", off, limits.backward);
  verdicts.Near(what + " weights", OffWeights(recorded, model),
                limits.backward);
}

}  // namespace frostline
