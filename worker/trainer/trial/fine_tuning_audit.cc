// SPDX-License-Identifier: Apache-2.0
//
// Trains a sample of the trials that froze virtually both ways, and compares.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {
namespace {

constexpr char kPrefix[] = "virtual_audit.";
constexpr double kAuditLifeSeconds = 60.0;

// Hands stops in, and signs of life out; the second run's metrics and steps are
// not the trial's.
class AuditListener : public TrialListener {
 public:
  AuditListener(TrialListener& listener, const TrialEnvironment& environment)
      : listener_(listener),
        environment_(environment),
        shown_(environment.seconds()) {}

  StopReason stop() const override { return listener_.stop(); }
  void Report(std::int64_t step, std::int64_t total_steps,
              const Metrics& /*metrics*/) override {
    const double now = environment_.seconds();
    if (now - shown_ < kAuditLifeSeconds) return;
    shown_ = now;
    Log("step " + std::to_string(step) + " of " + std::to_string(total_steps));
  }
  void Begun(std::int64_t /*step*/, Precision /*precision*/) override {}
  void Saved(const std::string& /*name*/, std::int64_t /*step*/,
             std::int64_t /*bytes*/) override {}
  void Log(const std::string& line) override {
    listener_.Log("audit of virtual freezing: " + line);
  }

 private:
  TrialListener& listener_;
  const TrialEnvironment& environment_;
  double shown_;
};

double Furthest(const std::vector<at::Tensor>& ours,
                const std::vector<at::Tensor>& theirs) {
  double most = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    most = std::max(most, (ours[i] - theirs[i]).abs().max().item<double>());
  }
  return most;
}

}  // namespace

// By the trial's own words, so that an attempt that goes on decides the same.
bool FineTuning::AuditIsDue() const {
  if (!virtually_frozen_ || settings_.virtual_audit == 0.0) return false;
  const auto drawn = static_cast<double>(
      std::stoul(trial_.identity.substr(0, 8), nullptr, 16));
  return drawn < settings_.virtual_audit * 4294967296.0;
}

Expected<Done> FineTuning::Audit(Metrics& metrics) {
  TrialMessage plain = trial_;
  plain.training.virtual_tau = 0.0;
  plain.training.virtual_audit = 0.0;
  plain.training.export_model = false;
  plain.training.report_example_outcomes = false;
  plain.resume_path.clear();
  plain.resume_step = 0;
  TrialSetup setup = setup_;
  for (TaskSetup& task : setup.tasks) {
    task.others.clear();
    task.predicted.clear();
  }
  TrialEnvironment environment = environment_;
  environment.checkpoint_seconds = std::numeric_limits<double>::infinity();
  AuditListener listener(listener_, environment);
  FineTuning other(plain, std::move(setup), environment, listener);
  const TrialEnd end = other.Run();
  if (end.state != TrialState::kSucceeded) {
    if (end.state != TrialState::kStopped) listener.Log(end.cause);
    return Done{};
  }
  std::vector<at::Tensor> ours;
  std::vector<at::Tensor> theirs;
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const EvaluationSet& set = setup_.tasks[i].validation;
    ASSIGN_OR_FAULT(const auto here, Evaluate(i, set, &ours));
    ASSIGN_OR_FAULT(const auto there, other.Evaluate(i, set, &theirs));
    if (!here || !there) return Done{};  // stopped
  }
  return CatchTorch([&]() -> Expected<Done> {
    metrics[std::string(kPrefix) + "logits"] = Furthest(ours, theirs);
    for (const auto& [name, value] : other.progress_.last) {
      metrics[kPrefix + name] = std::abs(value - progress_.last.at(name));
    }
    return Done{};
  });
}

}  // namespace frostline::trainer
