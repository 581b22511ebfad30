// SPDX-License-Identifier: Apache-2.0
//
// frostline-trainer: the process that holds LibTorch. The bill of materials;
// what it does with it is process/trainer.h.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "worker/trainer/device/device.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/prefix/boundaries.h"
#include "worker/trainer/prefix/boundary_maker.h"
#include "worker/trainer/prefix/prefix_store.h"
#include "worker/trainer/process/containment.h"
#include "worker/trainer/process/message_line.h"
#include "worker/trainer/process/options.h"
#include "worker/trainer/process/trainer.h"
#include "worker/trainer/self_check.h"
#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {
namespace {

// The exit codes are those of base/error.h, which this folder does not
// include: it must build where there is no Abseil.
constexpr int kOk = 0;
constexpr int kFailure = 1;
constexpr int kUsage = 2;
constexpr int kRequeueMe = 75;  // nothing is wrong with the trial

std::string Software() {
  return "frostline-trainer " FROSTLINE_VERSION ", LibTorch " + TorchVersion();
}

int Complain(const Fault& fault, int code) {
  std::cerr << "frostline-trainer: " << FaultText(fault) << '\n' << std::flush;
  return code;
}

double SteadySeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Of all threads of this process. A trainer runs one trial at a time.
double ProcessorSeconds() {
  timespec used{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return 0.0;
  return static_cast<double>(used.tv_sec) +
         static_cast<double>(used.tv_nsec) * 1e-9;
}

// LibTorch's own default may be 1, or every thread of a shared node.
void SetThreads(int wanted) {
  int threads = wanted;
  if (const char* given = std::getenv("OMP_NUM_THREADS");
      threads == 0 && given) {
    threads = std::atoi(given);
  }
  if (threads <= 0) {
    threads = static_cast<int>(std::thread::hardware_concurrency());
  }
  if (threads > 0) at::set_num_threads(threads);
}

// Trials do without a folder that cannot be had, and take longer.
std::optional<PrefixStore> OpenPrefixes(const TrainerOptions& options) {
  if (options.prefix_folder.empty()) return std::nullopt;
  Expected<PrefixStore> store =
      PrefixStore::Open(options.prefix_folder, options.prefix_bytes);
  if (store.ok()) return std::move(store).value();
  std::cerr << "frostline-trainer: nothing of frozen layers is kept: "
            << FaultText(store.fault()) << '\n'
            << std::flush;
  return std::nullopt;
}

// A processor keeps none unless told to: the store's pages are in its memory.
std::optional<ResidentRows> KeepOnDevice(const TrainerOptions& options,
                                         const Device& device) {
  constexpr std::uint64_t kUnknown = std::uint64_t{4} << 30U;
  const std::uint64_t usual =
      device.is_cpu() ? 0 : device.FreeMemoryBytes().value_or(kUnknown) / 4;
  const std::uint64_t bytes = options.resident_bytes.value_or(usual);
  if (bytes == 0) return std::nullopt;
  return ResidentRows(device.torch(), bytes);
}

int CheckAndPrint(const std::string& device) {
  const SelfCheck check = RunSelfCheck(device);
  std::cout << ToJson(check) << "\n";
  return check.ok ? kOk : kFailure;
}

void SayContained(const std::vector<std::string>& writable) {
  std::cerr << "frostline-trainer: " << Contain(writable) << '\n' << std::flush;
}

// The driver of a GPU may have to start a program before it can be used, so the
// threads that it has by then are not contained.
bool ContainsAtOnce(const std::string& device) {
  std::error_code error;
  return device == "cpu" || !std::filesystem::exists("/dev/nvidiactl", error);
}

// Opens the device, and contains the process before or after.
Expected<Device> OpenContained(const std::string& name,
                               const std::vector<std::string>& writable) {
  const bool at_once = ContainsAtOnce(name);
  if (at_once && !writable.empty()) SayContained(writable);
  Expected<Device> device = Device::Open(name);
  if (!at_once && !writable.empty()) SayContained(writable);
  return device;
}

// No agent listens: a signal ends it as it ends any program.
int AnswerRows(const TrainerOptions& options) {
  Outbox outbox(STDOUT_FILENO);  // first: a library may print
  const std::filesystem::path folder =
      std::filesystem::path(options.predict.output).parent_path();
  Expected<Device> device =
      OpenContained(options.device, {folder.empty() ? "." : folder.string()});
  if (!device.ok()) return Complain(device.fault(), kFailure);
  SetThreads(options.threads);
  const Expected<PredictReport> report =
      Predict(options.predict, device.value());
  if (!report.ok()) return Complain(report.fault(), kFailure);
  const auto examples = static_cast<std::int64_t>(report.value().examples);
  outbox.Send(MessageLine("predicted")
                  .Add("examples", examples)
                  .Add("metrics", report.value().metrics)
                  .Take());
  return outbox.broken() ? kFailure : kOk;
}

int Train(const TrainerOptions& options) {
  // A scheduler that wants the node back sends it to every process of a job;
  // when to stop is said by the agent, after which there is a checkpoint.
  std::signal(SIGTERM, SIG_IGN);
  std::vector<std::string> writable;
  if (!options.write_folder.empty()) writable.push_back(options.write_folder);
  if (!writable.empty() && !options.prefix_folder.empty()) {
    writable.push_back(options.prefix_folder);
  }
  Expected<Device> device = OpenContained(options.device, writable);
  if (!device.ok()) return Complain(device.fault(), kRequeueMe);
  SetThreads(options.threads);
  KeepFreedMemory();
  Outbox outbox(STDOUT_FILENO);  // first: the check may make a library print
  const SelfCheck check = RunSelfCheck(options.device);
  std::cerr << ToJson(check) << '\n' << std::flush;
  if (!check.ok) return kRequeueMe;
  Expected<TrialPreparer> trial_preparer =
      TrialPreparer::Open(options.registry, device.value());
  if (!trial_preparer.ok()) return Complain(trial_preparer.fault(), kRequeueMe);
  const std::optional<PrefixStore> prefixes = OpenPrefixes(options);
  std::optional<ResidentRows> resident = KeepOnDevice(options, device.value());
  Inbox inbox(STDIN_FILENO);
  Trainer({inbox,
           outbox,
           trial_preparer.value(),
           {.device = device.value(),
            .seconds = SteadySeconds,
            .checkpoint_seconds = options.checkpoint_seconds,
            .prefixes = prefixes ? &*prefixes : nullptr,
            .kernels = KernelFingerprint(device.value()),
            .resident = resident ? &*resident : nullptr,
            .processor_seconds = ProcessorSeconds},
           Software()})
      .Run();
  // The reader may wait for an agent that will say no more.
  if (outbox.broken()) std::_Exit(kFailure);
  return kOk;
}

int Main(const std::vector<std::string>& arguments) {
  const Expected<TrainerOptions> options = ReadOptions(arguments);
  if (!options.ok()) {
    // As every program of Frostline says it.
    std::cerr << "error[FL-1016]: what was asked is incomplete, or not "
                 "understood\n  because: "
              << options.fault().cause << "\n  fix: " << options.fault().fix
              << '\n'
              << std::flush;
    return kUsage;
  }
  switch (options.value().action) {
    case TrainerOptions::Action::kSelfCheck:
      SetThreads(options.value().threads);
      return CheckAndPrint(options.value().device);
    case TrainerOptions::Action::kVersion:
      std::cout << Software() << "\n";
      return kOk;
    case TrainerOptions::Action::kHelp:
      std::cout << kTrainerHelp;
      return kOk;
    case TrainerOptions::Action::kPredict:
      return AnswerRows(options.value());
    case TrainerOptions::Action::kTrain:
      return Train(options.value());
  }
  return kUsage;
}

}  // namespace
}  // namespace frostline::trainer

int main(int argc, char** argv) {
  return frostline::trainer::Main({argv + 1, argv + argc});
}
