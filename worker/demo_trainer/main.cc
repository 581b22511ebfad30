// SPDX-License-Identifier: Apache-2.0
//
// frostline-demo-trainer: a trainer for frostline-worker --exec, small and
// whole. It reads trials on standard input and answers on standard output, as
// docs/reference/trainer-protocol.md says. It reports `accuracy`, to be
// maximized, and `train_loss`; at the end also `train_seconds` and
// `trained_parameters`. A trial takes about 20 ms.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>

#include "base/plain/json.h"
#include "worker/demo_trainer/fine_tuning.h"
#include "worker/demo_trainer/trial.h"

namespace frostline::demo_trainer {
namespace {

constexpr char kSoftware[] = "frostline-demo-trainer " FROSTLINE_VERSION;

void Say(const JsonObject& message) {
  std::cout << message.Text() << '\n' << std::flush;
}

JsonObject Message(const char* type) {
  return JsonObject().PutText("type", type);
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

// The trainer: makes the task once, then trains trials until it is told to
// exit.
class Trainer {
 public:
  int Run();

 private:
  void RunTrial(const JsonValue& message);
  bool Begin(const Trial& trial, FineTuning* training);
  void Report(const Trial& trial, const FineTuning& training, double loss);
  bool IsStopped(double pause_s);
  void Stop(const Trial& trial, const FineTuning& training);
  void Finish(const char* state, const FineTuning& training, double seconds);
  void Fail(const std::string& cause);
  void FailHere(const std::string& cause);

  LineInput input_{STDIN_FILENO};
  Task task_ = MakeTask();
  std::string stop_reason_;
  bool exiting_ = false;
};

// Says whether a malformed line was meant as a trial. Python's json may write
// NaN, which is no JSON: only that trial fails then.
bool IsMeantAsTrial(const std::string& line) {
  return line.starts_with('{') && line.find("\"trial\"") != std::string::npos;
}

int Trainer::Run() {
  Say(Message("hello").Put("protocol", "1").PutText("software", kSoftware));
  while (!exiting_) {
    const auto line = input_.Next(-1);
    if (!line.has_value()) return 0;
    const Expected<Json> json = Json::Parse(*line);
    if (!json.ok() && IsMeantAsTrial(*line)) {
      Fail("the trial is no JSON: a number in it may be NaN or infinite");
      continue;
    }
    if (!json.ok() || !json.value().root().is(JsonKind::kObject)) {
      std::cerr << "no message: " << *line << '\n' << std::flush;
      return 1;
    }
    const JsonValue& message = json.value().root();
    const std::string type = TextAt(message, "type");
    if (type == "trial") RunTrial(message);
    exiting_ = exiting_ || type == "exit";
  }
  return 0;
}

void Trainer::RunTrial(const JsonValue& message) {
  Trial trial;
  const std::string stranger = ForeignModel(message);
  if (!stranger.empty()) return FailHere(stranger);
  const std::string mistake = ReadTrial(message, &trial);
  if (!mistake.empty()) return Fail(mistake);
  stop_reason_.clear();
  FineTuning training(task_.pretrained, task_.train, trial.settings);
  if (!Begin(trial, &training)) return Fail("the checkpoint is not readable");
  double seconds = 0.0;
  while (training.epochs() < trial.epochs) {
    const auto start = std::chrono::steady_clock::now();
    const double loss = training.Epoch();
    seconds += SecondsSince(start);
    if (!std::isfinite(loss)) return Finish("infeasible", training, seconds);
    Report(trial, training, loss);
    if (IsStopped(trial.pause_s)) return Stop(trial, training);
  }
  Finish("succeeded", training, seconds);
}

void Trainer::Report(const Trial& trial, const FineTuning& training,
                     double loss) {
  const double accuracy = Accuracy(training.network(), task_.validation);
  const std::string epochs = std::to_string(training.epochs());
  const std::string total = std::to_string(trial.epochs);
  JsonObject report = Message("report");
  report.Put("step", epochs)
      .Put("total_steps", total)
      .Put("metrics", JsonObject()
                          .Put("accuracy", JsonNumber(accuracy))
                          .Put("train_loss", JsonNumber(loss))
                          .Text());
  if (trial.takes_progress) {
    report.PutText("phase", "training")
        .Put("epoch", epochs)
        .Put("total_epochs", total);
  }
  Say(report);
}

bool Trainer::Begin(const Trial& trial, FineTuning* training) {
  if (trial.resume_path.empty()) return true;
  const auto bytes = ReadCheckpoint(trial.resume_path);
  return bytes.has_value() && training->Restore(*bytes);
}

// Waits, and returns whether a stop came. It is true as well when the agent is
// gone, as nobody would read the rest.
bool Trainer::IsStopped(double pause_s) {
  int millis = static_cast<int>(pause_s * 1000.0);
  while (const auto line = input_.Next(millis)) {
    const Expected<Json> json = Json::Parse(*line);
    const JsonValue message = json.ok() ? json.value().root() : JsonValue();
    const std::string type = TextAt(message, "type");
    exiting_ = exiting_ || type == "exit";
    if (type == "stop") stop_reason_ = TextAt(message, "reason");
    millis = 0;
  }
  return !stop_reason_.empty() || exiting_ || input_.ended();
}

void Trainer::Stop(const Trial& trial, const FineTuning& training) {
  const bool comes_back = stop_reason_ == "preempt" || stop_reason_ == "drain";
  const std::string bytes = training.Save();
  const std::string id = "epoch-" + std::to_string(training.epochs());
  if (comes_back && WriteCheckpoint(trial.folder, id, bytes)) {
    Say(Message("checkpoint")
            .PutText("id", id)
            .Put("step", std::to_string(training.epochs()))
            .Put("bytes", std::to_string(bytes.size())));
  }
  const double accuracy = Accuracy(training.network(), task_.validation);
  Say(Message("finish")
          .PutText("state", "stopped")
          .Put("metrics",
               JsonObject().Put("accuracy", JsonNumber(accuracy)).Text()));
}

void Trainer::Finish(const char* state, const FineTuning& training,
                     double seconds) {
  const double examples = static_cast<double>(task_.train.size()) *
                          static_cast<double>(training.epochs());
  const double accuracy = Accuracy(training.network(), task_.validation);
  const std::string trained = std::to_string(training.trained_parameters());
  const double spent = examples * training.flops_per_example();
  const double skipped = examples * training.flops_skipped_per_example();
  Say(Message("finish")
          .PutText("state", state)
          .Put("metrics", JsonObject()
                              .Put("accuracy", JsonNumber(accuracy))
                              .Put("train_seconds", JsonNumber(seconds))
                              .Put("trained_parameters", trained)
                              .Text())
          .Put("usage",
               JsonObject()
                   .Put("train_seconds", JsonNumber(seconds))
                   .Put("trained_parameters", trained)
                   .Put("flops_spent", JsonNumber(spent))
                   .Put("flops_skipped", JsonNumber(skipped))
                   .Put("steps", std::to_string(training.steps()))
                   .PutText("device", "cpu")
                   .PutText("precision", "fp64")
                   .Put("freeze", JsonObject().PutText("mode", "hard").Text())
                   .PutText("software", kSoftware)
                   .Text()));
}

void Trainer::Fail(const std::string& cause) {
  Say(Message("finish").PutText("state", "failed").PutText("cause", cause));
}

// Fails the trial as this worker's fault, so that another worker, which may
// have what is missing here, takes it.
void Trainer::FailHere(const std::string& cause) {
  Say(Message("finish")
          .PutText("state", "failed")
          .PutText("class", "infrastructure")
          .PutText("cause", cause));
}

}  // namespace
}  // namespace frostline::demo_trainer

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--version") {
    std::puts(frostline::demo_trainer::kSoftware);
    return 0;
  }
  if (argc > 1 || isatty(STDIN_FILENO) != 0) {
    // As every program of Frostline says it.
    std::fprintf(
        stderr,
        "error[FL-1016]: what was asked is incomplete, or not understood\n"
        "  because: %s\n"
        "  fix: start `frostline worker --exec frostline-demo-trainer`, which "
        "writes trials to it\n",
        argc > 1 ? "frostline-demo-trainer takes no options"
                 : "trials come on standard input, and it is a terminal");
    return 2;
  }
  // A scheduler that needs the node sends it to every process of a job. It is
  // the agent that says when to stop; then there is a checkpoint.
  std::signal(SIGTERM, SIG_IGN);
  return frostline::demo_trainer::Trainer().Run();
}
