// SPDX-License-Identifier: Apache-2.0
//
// What training tells of itself between evaluations.
#include <string>
#include <utility>

#include "worker/trainer/trial/fine_tuning.h"
#include "worker/trainer/trial/progress.h"

namespace frostline::trainer {
namespace {

// A report has 64 metrics; an evaluation at the same step brings its own.
constexpr std::size_t kMostTold = 50;

// All of a kind or none: half of the modules would look like all of them.
void AddIfTheyFit(const std::string& prefix,
                  const std::map<std::string, double>& by_module,
                  Metrics& told) {
  if (told.size() + by_module.size() > kMostTold) return;
  for (const auto& [module, value] : by_module) told[prefix + module] = value;
}

}  // namespace

bool FineTuning::ReportsStep(std::int64_t step) const {
  const std::int64_t every = settings_.report_every_steps;
  return every > 0 && step % every == 0;
}

void FineTuning::LogSkip(const StepResult& step) {
  const auto scale = static_cast<std::int64_t>(stepper_->loss_scale()->value());
  listener_.Log("step " + std::to_string(step.step) +
                " was skipped: its gradients overflowed in fp16; the loss is "
                "scaled by " +
                std::to_string(scale) + " from here on");
}

void FineTuning::CollectTraining(const StepNorms& norms) {
  training_ = {
      {"step_loss", progress_.step_loss_sum /
                        static_cast<double>(progress_.step_loss_steps)},
      {"grad_norm", last_step_.grad_norm},
      {"rate_factor", last_step_.factor}};
  if (stepper_->loss_scale()) {
    training_["loss_scale"] = stepper_->loss_scale()->value();
  }
  progress_.step_loss_sum = 0.0;
  progress_.step_loss_steps = 0;
  std::map<std::string, double> rates;
  for (const auto& [module, rate] :
       ThawedRates(rates_, thawed_, model_->config().layers)) {
    if (rate > 0.0) rates[module] = rate * last_step_.factor;
  }
  AddIfTheyFit("grad_norm.", norms.gradients, training_);
  AddIfTheyFit("update_norm.", norms.updates, training_);
  AddIfTheyFit("rate.", rates, training_);
}

void FineTuning::ReportTraining() {
  if (training_.empty() || EvaluationIsDue()) return;
  shown_ = environment_.seconds();
  listener_.NotePace(PaceNow());
  listener_.Report(stepper_->steps(), total_steps_,
                   std::exchange(training_, {}));
}

}  // namespace frostline::trainer
