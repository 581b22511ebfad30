// SPDX-License-Identifier: Apache-2.0
#include "cli/process/local_fleet.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "cli/term/text_file.h"

namespace frostline::cli {
namespace {

constexpr Duration kStartBound = std::chrono::seconds(20);
constexpr Duration kStopGrace = std::chrono::seconds(10);
constexpr Duration kFleetPollInterval = std::chrono::milliseconds(20);
constexpr int kLogLines = 10;
constexpr std::size_t kFirstOutput = 16 * 1024;

std::string LogOf(const std::string& folder, const std::string& name) {
  return absl::StrCat(folder, "/", absl::StrReplaceAll(name, {{" ", "-"}}),
                      ".log");
}

// Quotes a path as one word for --exec, which splits words like a shell.
std::string Quote(const std::string& path) {
  return absl::StrCat("'", absl::StrReplaceAll(path, {{"'", "'\\''"}}), "'");
}

absl::Status Ended(const ChildProcess& child) {
  return MakeError(ErrorId::kTrainerExited,
                   absl::StrCat("the ", child.spec().name, " ",
                                child.HowItEnded(), "; its last words:\n",
                                LastLines(child.spec().log_file, kLogLines)),
                   "read its log, mend what it says, and start it again");
}

}  // namespace

std::string ListenAddressIn(const std::string& output) {
  const std::string words = "listening on ";
  const std::size_t found = output.find(words);
  if (found == std::string::npos) return "";
  const std::size_t start = found + words.size();
  const std::size_t end = output.find('\n', start);
  return end == std::string::npos ? "" : output.substr(start, end - start);
}

absl::StatusOr<std::vector<std::string>> SyntheticTrainer() {
  ASSIGN_OR_RETURN(const std::string trainer,
                   SiblingProgram("frostline-demo-trainer"));
  return std::vector<std::string>{"--exec", Quote(trainer)};
}

absl::StatusOr<std::vector<std::string>> RealTrainer(
    const std::string& registry) {
  // The worker finds it by itself, and would say so in its log alone.
  RETURN_IF_ERROR(SiblingProgram("frostline-trainer").status());
  return std::vector<std::string>{"--registry", registry};
}

absl::Status LocalFleet::Start(const std::string& name,
                               const std::string& program,
                               const std::vector<std::string>& arguments) {
  ChildSpec spec;
  spec.name = name;
  spec.log_file = LogOf(folder_, name);
  ASSIGN_OR_RETURN(const std::string path, SiblingProgram(program));
  spec.arguments = {path};
  spec.arguments.insert(spec.arguments.end(), arguments.begin(),
                        arguments.end());
  ASSIGN_OR_RETURN(auto child, ChildProcess::Start(spec));
  children_.push_back(std::move(child));
  return absl::OkStatus();
}

absl::Status LocalFleet::StartCoordinator(StopSignals& signals) {
  const std::string log = LogOf(folder_, "coordinator");
  std::remove(log.c_str());  // an earlier run's address is not ours
  RETURN_IF_ERROR(Start("coordinator", "frostline-coordinator",
                        {"--data", folder_, "--listen", "127.0.0.1:0"}));
  const SystemClock clock;
  const SteadyTime end = clock.Steady() + kStartBound;
  while (clock.Steady() < end) {
    RETURN_IF_ERROR(signals.Pause(kFleetPollInterval));
    RETURN_IF_ERROR(Check());
    ASSIGN_OR_RETURN(const std::string output, ReadTextFile(log, kFirstOutput));
    address_ = ListenAddressIn(output);
    if (!address_.empty()) return absl::OkStatus();
  }
  return MakeError(ErrorId::kCoordinatorAway,
                   absl::StrCat("the coordinator did not listen within 20 s:\n",
                                LastLines(log, kLogLines)),
                   "read its log, mend what it says, and start it again");
}

absl::Status LocalFleet::StartWorkers(int count,
                                      const std::vector<std::string>& trainer) {
  // Each would take all cores for itself. What the user has set stays.
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int share = std::max(1, cores / std::max(1, count));
  setenv("OMP_NUM_THREADS", absl::StrCat(share).c_str(), /*overwrite=*/0);
  for (int i = 1; i <= count; ++i) {
    std::vector<std::string> arguments = {
        "--connect", address_,
        "--id",      absl::StrCat("local-", i),
        "--run-dir", absl::StrCat(folder_, "/runs-", i)};
    arguments.insert(arguments.end(), trainer.begin(), trainer.end());
    RETURN_IF_ERROR(
        Start(absl::StrCat("worker ", i), "frostline-worker", arguments));
  }
  return absl::OkStatus();
}

absl::Status LocalFleet::Check() {
  for (const auto& child : children_) {
    if (!child->IsRunning()) return Ended(*child);
  }
  return absl::OkStatus();
}

void LocalFleet::Stop() {
  for (std::size_t i = 1; i < children_.size(); ++i) {
    children_[i]->Signal(SIGTERM);  // all at once; each is waited for below
  }
  while (!children_.empty()) {
    children_.back()->Stop(kStopGrace);
    children_.pop_back();
  }
}

}  // namespace frostline::cli
