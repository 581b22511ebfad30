// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/process/trainer.h"

#include <utility>
#include <vector>

#include "base/plain/json.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/process/message_line.h"
#include "worker/trainer/trial/fault_text.h"

namespace frostline::trainer {
namespace {

class AgentListener : public TrialListener {
 public:
  AgentListener(const Inbox& inbox, Outbox& outbox,
                const std::vector<std::string>& precisions)
      : inbox_(inbox), outbox_(outbox), precisions_(precisions) {}

  StopReason stop() const override {
    return outbox_.broken() ? StopReason::kCancelled : inbox_.stop();
  }
  void Report(std::int64_t step, std::int64_t total_steps,
              const Metrics& metrics) override {
    told_step_ = step;
    MessageLine line("report");
    line.Add("step", step)
        .Add("total_steps", total_steps)
        .Add("metrics", metrics);
    Send(line);
  }
  void NotePace(const TrialPace& pace) override { pace_ = pace; }
  void EnterPhase(const TrialPace& pace) override {
    pace_ = pace;
    if (!takes_progress) return;
    MessageLine line("report");
    // A newer one is not to be told without what was measured at it.
    line.Add("step", told_step_);
    Send(line);
  }
  void Begun(std::int64_t step, Precision precision) override {
    if (!takes_precision) return;
    told_step_ = step;
    MessageLine line("report");
    line.Add("step", step)
        .Add("precision", NameOf(precision))
        .Add("precisions", precisions_);
    Send(line);
  }
  void Saved(const std::string& name, std::int64_t step,
             std::int64_t bytes) override {
    outbox_.Send(MessageLine("checkpoint")
                     .Add("id", name)
                     .Add("step", step)
                     .Add("bytes", bytes)
                     .Take());
  }
  void Log(const std::string& line) override {
    outbox_.Send(MessageLine("log").Add("text", line).Take());
  }

  bool takes_precision = false;
  bool takes_progress = false;

 private:
  void Send(MessageLine& report) {
    if (takes_progress) report.Add(pace_);
    outbox_.Send(report.Take());
  }

  const Inbox& inbox_;
  Outbox& outbox_;
  const std::vector<std::string>& precisions_;
  TrialPace pace_;
  std::int64_t told_step_ = 0;
};

std::vector<std::string> PrecisionsOf(const Device& device) {
  std::vector<std::string> precisions = {"fp32"};
  if (device.does_bf16_well()) precisions.emplace_back("bf16");
  if (device.does_fp16_well()) precisions.emplace_back("fp16");
  return precisions;
}

TrialEnd Failed(const Fault& fault) {
  TrialEnd end;
  end.state = TrialState::kFailed;
  end.cause = FaultText(fault);
  end.failure = ClassOf(fault.kind);
  return end;
}

// Nothing was trained, so there is nothing to save, whatever the reason.
TrialEnd StoppedWhileLoading() {
  TrialEnd end;
  end.state = TrialState::kStopped;
  end.metrics = {{"train_seconds", 0.0}, {"steps", 0.0}};
  return end;
}

}  // namespace

Trainer::Trainer(const TrainerParts& parts)
    : parts_(parts), precisions_(PrecisionsOf(parts.environment.device)) {
  parts_.environment.companies = &companies_;
}

void Trainer::Run() {
  parts_.outbox.Send(MessageLine("hello")
                         .Add("protocol", 1)
                         .Add("software", parts_.software)
                         .Take());
  while (const std::optional<std::string> line = parts_.inbox.NextTrial()) {
    const TrialEnd end = RunTrial(*line);
    if (end.failure == FailureClass::kOutOfMemory) {
      if (parts_.environment.resident != nullptr) {
        parts_.environment.resident->Clear();
      }
      parts_.environment.device.ReleaseCachedMemory();
    }
    parts_.outbox.Send(FinishLine(end, parts_.software));
    if (parts_.outbox.broken()) return;
  }
}

TrialEnd Trainer::RunTrial(const std::string& line) {
  AgentListener listener(parts_.inbox, parts_.outbox, precisions_);
  // Rows and tokens are made outside of LibTorch, and memory may end there.
  Expected<TrialEnd> end = CatchTorch([&]() -> Expected<TrialEnd> {
    Expected<Json> json = Json::Parse(line, kMaxJsonValues, JsonNumbers::kAny);
    if (!json.ok()) return json.fault();
    Expected<TrialMessage> trial = ReadTrialMessage(json.value().root());
    if (!trial.ok()) return trial.fault();
    listener.takes_precision = trial.value().takes_precision;
    listener.takes_progress = trial.value().takes_progress;
    if (const auto why = WhyUnfit(trial.value(), precisions_)) {
      return RefuseUnfit(*why);
    }
    return Train(trial.value(), listener);
  });
  return end.ok() ? std::move(end).value() : Failed(end.fault());
}

TrialEnd Trainer::RefuseUnfit(const Fault& why) const {
  TrialEnd end = Failed(why);
  end.failure = FailureClass::kUnfit;
  end.precisions = precisions_;
  return end;
}

TrialEnd Trainer::Train(const TrialMessage& trial, TrialListener& listener) {
  listener.EnterPhase(TrialPace());  // it loads
  std::vector<std::string> log;
  const StopSign stop(
      [&listener] { return listener.stop() != StopReason::kNone; });
  Expected<TrialSetup> setup = parts_.workbench.Prepare(trial, stop, log);
  for (const std::string& each : log) listener.Log(each);
  if (!setup.ok() && setup.fault().kind == FaultKind::kStopped) {
    listener.Log("stopped while data and weights were loaded");
    return StoppedWhileLoading();
  }
  if (!setup.ok()) return Failed(setup.fault());
  return FineTuning(trial, std::move(setup).value(), parts_.environment,
                    listener)
      .Run();
}

}  // namespace frostline::trainer
