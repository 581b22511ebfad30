// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/process/trainer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/descriptor.h"
#include "base/plain/json.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/process/message_line.h"
#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

// A word that a later agent may say: stop, and lose nothing.
StopReason ReasonOf(std::string_view word) {
  if (word == "pruned") return StopReason::kPruned;
  if (word == "cancelled") return StopReason::kCancelled;
  if (word == "drain") return StopReason::kDrain;
  if (word == "hang") return StopReason::kHang;
  return StopReason::kPreempt;
}

}  // namespace

Inbox::Inbox(int fd) : reader_([this, fd] { Read(fd); }) {}

Inbox::~Inbox() { reader_.join(); }

void Inbox::Read(int fd) {
  std::string buffer;
  std::array<char, 65536> chunk;
  while (!exiting_) {
    const ssize_t n = read(fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    buffer.append(chunk.data(), static_cast<std::size_t>(n));
    std::size_t end;
    while ((end = buffer.find('\n')) != std::string::npos) {
      Take(buffer.substr(0, end));
      buffer.erase(0, end + 1);
    }
    if (buffer.size() > kMaxLineBytes) Take(buffer);
  }
  if (!exiting_) Take(buffer);  // a last line without its newline
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void Inbox::Take(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  if (line.size() <= kMaxLineBytes && TakeMessage(line)) return;
  std::cerr << "frostline-trainer: no message of the trainer protocol: "
            << line.substr(0, 200) << std::endl;
  std::_Exit(1);
}

bool Inbox::TakeMessage(const std::string& line) {
  // One that asks for NaN is refused as a trial, by its name.
  const Expected<Json> json = Json::Parse(line, {.numbers = JsonNumbers::kAny});
  if (!json.ok()) return false;
  const JsonValue* type = json.value().root().Find("type");
  if (type == nullptr || !type->is(JsonKind::kString)) return false;
  const std::lock_guard lock(mutex_);
  if (type->text == "trial") {
    trials_.push_back(line);
    ++received_;
  } else if (type->text == "stop") {
    const JsonValue* reason = json.value().root().Find("reason");
    reason_ = ReasonOf(reason == nullptr ? "" : reason->text);
    stopped_ = received_;
  } else if (type->text == "exit") {
    exiting_ = true;
    ended_ = true;
  }
  changed_.notify_all();
  return true;
}

std::optional<std::string> Inbox::NextTrial() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || !trials_.empty(); });
  if (exiting_ || trials_.empty()) return std::nullopt;
  std::string trial = std::move(trials_.front());
  trials_.pop_front();
  ++current_;
  return trial;
}

StopReason Inbox::stop() const {
  if (exiting_) return StopReason::kPreempt;
  return stopped_ == current_ && current_ > 0 ? reason_.load()
                                              : StopReason::kNone;
}

Outbox::Outbox(int fd) : fd_(fcntl(fd, F_DUPFD_CLOEXEC, 3)) {
  broken_ = fd_ < 0 || dup2(STDERR_FILENO, fd) < 0;
  std::signal(SIGPIPE, SIG_IGN);  // a write then says EPIPE
}

Outbox::~Outbox() {
  if (fd_ >= 0) close(fd_);
}

void Outbox::Send(const std::string& line) {
  broken_ = broken_ || !WriteAll(fd_, line);
}

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
  parts_.environment.size_book = &size_book_;
}

void Trainer::Run() {
  parts_.outbox.Send(MessageLine("hello")
                         .Add("protocol", 1)
                         .Add("software", parts_.software)
                         .Take());
  while (const std::optional<std::string> line = parts_.inbox.NextTrial()) {
    const TrialEnd end = RunTrial(*line);
    parts_.outbox.Send(FinishLine(end, parts_.software));
    if (parts_.outbox.broken()) return;
  }
}

TrialEnd Trainer::RunTrial(const std::string& line) {
  AgentListener listener(parts_.inbox, parts_.outbox, precisions_);
  // Rows and tokens are made outside of LibTorch, and memory may end there.
  Expected<TrialEnd> end = CatchTorch([&]() -> Expected<TrialEnd> {
    ASSIGN_OR_FAULT(Json json,
                    Json::Parse(line, {.numbers = JsonNumbers::kAny}));
    ASSIGN_OR_FAULT(TrialMessage trial, ReadTrialMessage(json.root()));
    listener.takes_precision = trial.takes_precision;
    listener.takes_progress = trial.takes_progress;
    if (const auto why = WhyUnfit(trial, precisions_)) {
      return RefuseUnfit(*why);
    }
    return Train(trial, listener);
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
  Expected<TrialSetup> setup = parts_.trial_preparer.Prepare(trial, stop, log);
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
