// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_world.h
//
// Coordinator, workers and frostline-trainer together, with a tiny model and
// small sets, and the command line beside them.
#ifndef FROSTLINE_TESTS_FLOW_TRAINER_WORLD_H_
#define FROSTLINE_TESTS_FLOW_TRAINER_WORLD_H_

#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tests/flow/real_world.h"
#include "tests/support/status_matchers.h"
#include "tests/worker/trainer/tiny_registry.h"

namespace frostline::test {

class TrainerWorld : public ::testing::Test {
 protected:
  TrainerWorld() {
    trainer::WriteTinyRegistry(world_.folder().path().string());
  }

  void StartWorker(const std::string& id, const std::string& exec = "") {
    std::vector<std::string> options = {
        "--registry", world_.folder().path().string(), "--run-dir",
        world_.folder().File("runs")};
    if (!exec.empty()) options.insert(options.end(), {"--exec", exec});
    world_.StartWorkerWith(id, options);
  }

  std::vector<v1::Trial> Finished(const std::string& study, int count) {
    for (int i = 0; i < 1200; ++i) {
      const auto now = world_.GetStudy(study);
      if (now.ok() && now->counts().budget_used() >= count) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    auto trials = world_.ListTrials(study);
    EXPECT_OK(trials.status());
    return *std::move(trials);
  }

  // Its exit code; what was said is in said_.
  int Frostline(const std::string& arguments) {
    const std::string command = RealWorld::Binary("frostline") + " " +
                                arguments + " --connect " + world_.address() +
                                " </dev/null 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    said_.clear();
    std::array<char, 4096> buffer{};
    for (std::size_t size = 0;
         (size = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      said_.append(buffer.data(), size);
    }
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  RealWorld world_;
  std::string said_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FLOW_TRAINER_WORLD_H_
