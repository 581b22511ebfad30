// SPDX-License-Identifier: Apache-2.0
//
// Training, step by step, against what transformers and torch.optim recorded:
// losses, norms, final losses and final weights within 1e-4.
//
// Recordings name rates by our modules ("rates", with "mode"), or, the older
// ones, by theirs ("lr", with "frozen").
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/parity/torch_recordings.h"
#include "worker/trainer/train/stepper.h"

namespace frostline {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kWithin = 1e-4;
constexpr double kFactorWithin = 1e-12;

ModuleRates RatesOf(const json& recorded) {
  if (recorded.contains("rates")) return recorded.at("rates");
  const std::set<std::string> frozen = recorded.at("frozen");
  ModuleRates rates;
  for (const auto& [theirs, rate] : recorded.at("lr").items()) {
    std::string ours = theirs;
    if (theirs == "emb") ours = "embeddings";
    if (theirs.starts_with('l')) ours = "layer." + theirs.substr(1);
    rates[ours] = frozen.contains(theirs) ? 0.0 : rate.get<double>();
  }
  return rates;
}

FreezeSemantics SemanticsOf(const json& recorded) {
  // A rate of 0 without freezing is what lr0 means.
  const bool lr0 = recorded.contains("mode") ? recorded.at("mode") == "lr0"
                                             : recorded.at("frozen").empty();
  return {.mode = lr0 ? FreezeMode::kLr0 : FreezeMode::kHard,
          .prefix_dropout = PrefixDropout::kHf};
}

StepOptions OptionsOf(const json& recorded) {
  static const std::map<std::string, OptimizerKind> kinds = {
      {"adamw", OptimizerKind::kAdamW},
      {"adam", OptimizerKind::kAdam},
      {"sgd", OptimizerKind::kSgd}};
  static const std::map<std::string, ScheduleKind> schedules = {
      {"linear", ScheduleKind::kLinear},
      {"constant", ScheduleKind::kConstant},
      {"cosine", ScheduleKind::kCosine}};
  const json& optimizer =
      recorded.at(recorded.contains("adamw") ? "adamw" : "optimizer");
  StepOptions options;
  options.optimizer.kind = kinds.at(optimizer.value("kind", "adamw"));
  options.optimizer.beta1 = optimizer.at("betas").at(0);
  options.optimizer.beta2 = optimizer.at("betas").at(1);
  options.optimizer.epsilon = optimizer.at("eps");
  options.optimizer.weight_decay = optimizer.at("weight_decay");
  options.schedule.kind = schedules.at(recorded.value("schedule", "linear"));
  options.schedule.warmup_steps = recorded.at("warmup_steps");
  options.schedule.total_steps = recorded.at("total_steps");
  options.clip_norm = recorded.at("clip");
  options.label_smoothing = recorded.value("label_smoothing", 0.0);
  return options;
}

// A step is a batch, or a list of those that are accumulated.
std::vector<Batch> PartsOf(const json& step, const Tensors& batches) {
  const std::vector<int> indices = step.is_array()
                                       ? step.get<std::vector<int>>()
                                       : std::vector<int>{step.get<int>()};
  std::vector<Batch> parts;
  for (const int i : indices) {
    parts.push_back(BatchOf(batches, "b" + std::to_string(i)));
  }
  return parts;
}

void CompareSteps(Stepper& stepper, const json& recorded,
                  const Tensors& batches, ParityResult& result) {
  const json& steps = recorded.at("steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::vector<Batch> parts =
        PartsOf(recorded.at("order").at(i), batches);
    const StepResult step = OrThrow(stepper.Step(parts));
    const std::string at = "step " + std::to_string(i + 1) + " ";
    result.Near(at + "loss", steps[i].at("loss"), step.loss, kWithin);
    result.Near(at + "norm", steps[i].at("grad_norm"), step.grad_norm, kWithin);
    result.Near(at + "factor", steps[i].at("lr_factor"), step.factor,
                kFactorWithin);
  }
  const json& losses = recorded.at("final_eval_loss");
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const Batch batch = BatchOf(batches, "b" + std::to_string(i));
    result.Near("final loss " + std::to_string(i), losses[i],
                OrThrow(stepper.Predict(batch)).loss, kWithin);
  }
}

void CompareWeights(const Stepper& stepper, const Model& start,
                    const json& recorded, ParityResult& result) {
  const std::set<std::string> undetermined = recorded.at("undetermined");
  const json& final_weights = recorded.at("final_weights");
  for (std::size_t i = 0; i < start.parameters().size(); ++i) {
    const Parameter& now = stepper.model().parameters()[i];
    const std::string& name = now.spec.name;
    if (undetermined.contains(name)) continue;
    const at::Tensor value = now.value.detach();
    const at::Tensor moved = value - start.parameters()[i].value;
    CompareFigures(name, final_weights.at(name), value, kWithin, result);
    result.Near(name + " moved", final_weights.at(name).at("delta_abs_sum"),
                moved.to(at::kDouble).abs().sum().item<double>(), kWithin);
    if (!stepper.plan().parameters[i].trains()) {
      result.True(name + " stays, bit for bit",
                  value.equal(start.parameters()[i].value));
    }
  }
}

void Check(const std::string& path, ParityResult& result) {
  const fs::path root = fs::path(path).parent_path().parent_path();
  const json recorded = ReadJson(path);
  const fs::path folder = root / recorded.at("model").get<std::string>();
  const Tensors batches =
      RecordedTensors(root / recorded.at("batches").get<std::string>());
  Model model = RecordedModel(folder).model;
  const Model start = RecordedModel(folder).model;
  const FreezePlan plan = OrThrow(MakeFreezePlan(
      model.config(), model.head(), RatesOf(recorded), SemanticsOf(recorded)));
  Stepper stepper = OrThrow(Stepper::Make(model, plan, OptionsOf(recorded)));
  CompareSteps(stepper, recorded, batches, result);
  CompareWeights(stepper, start, recorded, result);
}

const bool kRegistered =
    RegisterParity("trajectory", R"((.*/)?trajectories/[^/]+\.json)", Check);

}  // namespace
}  // namespace frostline
