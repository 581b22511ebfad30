// SPDX-License-Identifier: Apache-2.0
//
// frostline-demo-trainer: a trainer for frostline-worker --exec, small and
// whole. It reads trials on standard input and answers on standard output, as
// docs/reference/trainer-protocol.md says.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "worker/demo_trainer/fine_tuning.h"
#include "worker/demo_trainer/trial.h"

namespace frostline::demo_trainer {
namespace {

using nlohmann::json;

constexpr char kSoftware[] = "frostline-demo-trainer " FROSTLINE_VERSION;

void Say(const json& message) {
  std::cout << message.dump() << '\n' << std::flush;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

// One process: makes the task once, then trains trials until it is told to go.
class Trainer {
 public:
  int Run();

 private:
  void RunTrial(const json& message);
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

// Python's json writes NaN, which is in no JSON: that trial fails alone.
bool IsMeantAsTrial(const std::string& line) {
  return line.starts_with('{') && line.find("\"trial\"") != std::string::npos;
}

int Trainer::Run() {
  Say({{"type", "hello"}, {"protocol", 1}, {"software", kSoftware}});
  while (!exiting_) {
    const auto line = input_.Next(-1);
    if (!line.has_value()) return 0;
    const json message = json::parse(*line, nullptr, false);
    if (!message.is_object() && IsMeantAsTrial(*line)) {
      Fail("the trial is no JSON: a number in it may be NaN or infinite");
      continue;
    }
    if (!message.is_object()) {
      std::cerr << "no message: " << *line << '\n' << std::flush;
      return 1;
    }
    const std::string type = message.value("type", "");
    if (type == "trial") RunTrial(message);
    exiting_ = exiting_ || type == "exit";
  }
  return 0;
}

void Trainer::RunTrial(const json& message) {
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
  json report = {{"type", "report"},
                 {"step", training.epochs()},
                 {"total_steps", trial.epochs},
                 {"metrics",
                  {{"accuracy", Accuracy(training.network(), task_.validation)},
                   {"train_loss", loss}}}};
  if (trial.takes_progress) {
    report["phase"] = "training";
    report["epoch"] = training.epochs();
    report["total_epochs"] = trial.epochs;
  }
  Say(report);
}

bool Trainer::Begin(const Trial& trial, FineTuning* training) {
  if (trial.resume_path.empty()) return true;
  const auto bytes = ReadCheckpoint(trial.resume_path);
  return bytes.has_value() && training->Restore(*bytes);
}

// Also true when the agent is gone: nobody would hear the rest.
bool Trainer::IsStopped(double pause_s) {
  int millis = static_cast<int>(pause_s * 1000.0);
  while (const auto line = input_.Next(millis)) {
    const json message = json::parse(*line, nullptr, false);
    const std::string type =
        message.is_object() ? message.value("type", "") : "";
    exiting_ = exiting_ || type == "exit";
    if (type == "stop") stop_reason_ = message.value("reason", "");
    millis = 0;
  }
  return !stop_reason_.empty() || exiting_ || input_.ended();
}

void Trainer::Stop(const Trial& trial, const FineTuning& training) {
  const bool comes_back = stop_reason_ == "preempt" || stop_reason_ == "drain";
  const std::string bytes = training.Save();
  const std::string id = "epoch-" + std::to_string(training.epochs());
  if (comes_back && WriteCheckpoint(trial.folder, id, bytes)) {
    Say({{"type", "checkpoint"},
         {"id", id},
         {"step", training.epochs()},
         {"bytes", bytes.size()}});
  }
  const double accuracy = Accuracy(training.network(), task_.validation);
  Say({{"type", "finish"},
       {"state", "stopped"},
       {"metrics", {{"accuracy", accuracy}}}});
}

void Trainer::Finish(const char* state, const FineTuning& training,
                     double seconds) {
  const double examples = static_cast<double>(task_.train.size()) *
                          static_cast<double>(training.epochs());
  const double accuracy = Accuracy(training.network(), task_.validation);
  Say({{"type", "finish"},
       {"state", state},
       {"metrics",
        {{"accuracy", accuracy},
         {"train_seconds", seconds},
         {"trained_parameters", training.trained_parameters()}}},
       {"usage",
        {{"train_seconds", seconds},
         {"trained_parameters", training.trained_parameters()},
         {"flops_spent", examples * training.flops_per_example()},
         {"flops_skipped", examples * training.flops_skipped_per_example()},
         {"steps", training.steps()},
         {"device", "cpu"},
         {"precision", "fp64"},
         {"freeze", {{"mode", "hard"}}},
         {"software", kSoftware}}}});
}

void Trainer::Fail(const std::string& cause) {
  Say({{"type", "finish"}, {"state", "failed"}, {"cause", cause}});
}

// It is this worker's fault, and another may have what is missing here.
void Trainer::FailHere(const std::string& cause) {
  Say({{"type", "finish"},
       {"state", "failed"},
       {"class", "infrastructure"},
       {"cause", cause}});
}

}  // namespace
}  // namespace frostline::demo_trainer

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--version") {
    std::puts(frostline::demo_trainer::kSoftware);
    return 0;
  }
  if (argc > 1 || isatty(STDIN_FILENO) != 0) {
    std::fputs(
        "A trainer for frostline-worker: --exec frostline-demo-trainer.\n"
        "It takes no options; trials come on standard input, as\n"
        "docs/reference/trainer-protocol.md says.\n",
        stderr);
    return 2;
  }
  // A scheduler that wants the node back sends it to every process of a job;
  // when to stop is said by the agent, after which there is a checkpoint.
  std::signal(SIGTERM, SIG_IGN);
  return frostline::demo_trainer::Trainer().Run();
}
