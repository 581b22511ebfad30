// SPDX-License-Identifier: Apache-2.0
//
// Killed anywhere, a trial that goes on from a checkpoint ends in the same bits
// as one that was left alone.
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/record.h"
#include "tests/worker/trainer/process/trainer_under_test.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const char kSuffix[] = ".safetensors";

std::int64_t StepOf(const std::string& name) {
  return std::stoll(name.substr(std::string("step-").size()));
}

class Resume : public ::testing::Test {
 protected:
  Resume() {
    world_.Write();
    start_.arguments = {"--checkpoint-every", "0s"};
  }

  // Everything that a checkpoint must bring back: dice, moments, thawing,
  // accumulation in the middle of an epoch, the state of early stopping.
  nlohmann::json Trial() {
    nlohmann::json trial = world_.Trial();
    trial["training"] = {
        {"epochs", 3},
        {"batch_size", 6},
        {"max_length", 32},
        {"accumulation", 2},
        {"schedule", "cosine"},
        {"warmup_steps", 2},
        {"weight_decay", 0.01},
        {"evaluate_every_steps", 5},
        {"unfreeze_every_steps", 2},
        {"report_example_outcomes", true},
        {"early_stopping", {{"metric", "loss"}, {"patience", 50}}},
        {"extra", {{"dropout", 0.1}, {"export", true}}}};
    return trial;
  }

  // What must be equal: numbers, outcomes, the exported weights.
  nlohmann::json ResultOf(const nlohmann::json& trial,
                          const nlohmann::json& finish) {
    const std::string folder = trial["folder"];
    return {
        {"state", finish["state"]},
        {"metrics", Numbers(finish)},
        {"examples", finish["examples"]},
        {"flops", finish["usage"]["flops_spent"]},
        {"weights", Sha256Of(ReadBytes(folder + "/model/model.safetensors"))}};
  }

  nlohmann::json Uninterrupted() {
    const nlohmann::json trial = Trial();
    TrainerUnderTest trainer(world_.registry(), start_);
    return ResultOf(trial, trainer.Train(trial).finish);
  }

  // The trial again, from this file.
  nlohmann::json From(const std::string& path, std::int64_t step) {
    nlohmann::json trial = Trial();
    trial["attempt"] = 2;
    trial["resume_from"] = {{"id", "c"}, {"step", step}, {"path", path}};
    return trial;
  }

  // The file of the highest step; of those that have their name.
  static std::string NewestIn(const std::string& folder) {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (!name.ends_with(kSuffix)) continue;
      if (newest.empty() || StepOf(name) > StepOf(newest)) newest = name;
    }
    return newest;
  }

  // Kills the process a moment after it has announced some checkpoints; gives
  // the name of the newest that was announced, or "" when the trial ended
  // before it died.
  std::string TrainAndKill(const nlohmann::json& trial, std::mt19937_64& dice) {
    TrainerUnderTest trainer(world_.registry(), start_);
    trainer.Send(trial);
    std::string announced;
    for (std::uint64_t left = 1 + dice() % 4; left > 0;) {
      const auto message = trainer.Read();
      if (!message || (*message)["type"] == "finish") return "";
      if ((*message)["type"] != "checkpoint") continue;
      announced = (*message)["id"];
      --left;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(dice() % 9000));
    trainer.Signal(SIGKILL);
    trainer.Wait();
    while (const auto message = trainer.Read()) {
      if ((*message)["type"] == "finish") return "";
      if ((*message)["type"] == "checkpoint") announced = (*message)["id"];
    }
    return announced;
  }

  // Until so many were made in a folder that is watched.
  static void WaitForFiles(int watch, int count) {
    alignas(inotify_event) char events[4096];
    while (count > 0) {
      const ssize_t bytes = read(watch, events, sizeof events);
      ASSERT_GT(bytes, 0);
      for (const char* at = events; at < events + bytes; --count) {
        const auto* event = reinterpret_cast<const inotify_event*>(at);
        at += sizeof(inotify_event) + event->len;
      }
    }
  }

  // Until an attempt lives to its end. `from_disk`: goes on from the newest
  // file in the folder, else from the newest that was announced.
  nlohmann::json TrainThroughKills(bool from_disk, std::mt19937_64& dice,
                                   int& kills) {
    nlohmann::json trial = Trial();
    for (int i = 0; i < 4; ++i) {
      const std::string announced = TrainAndKill(trial, dice);
      if (announced.empty()) {  // it was faster; this does not count
        trial["folder"] = world_.NewFolder();
        break;
      }
      ++kills;
      const std::string folder = trial["folder"];
      const std::string name = from_disk ? NewestIn(folder) : announced;
      EXPECT_GE(StepOf(NewestIn(folder)), StepOf(announced));
      trial = From(folder + "/" + name, StepOf(name));
    }
    TrainerUnderTest trainer(world_.registry(), start_);
    const Conversation last = trainer.Train(trial);
    EXPECT_THAT(last.Log(), Not(HasSubstr("begins anew")));
    return ResultOf(trial, last.finish);
  }

  SmallWorld world_;
  TrainerStart start_;
};

// Two at a time: most of the time goes into starting.
TEST_F(Resume, IsBitEqualHoweverOftenItIsKilled) {
  const nlohmann::json whole = Uninterrupted();
  ASSERT_EQ(whole["state"], "succeeded");
  std::atomic<int> all_kills = 0;
  const auto strike = [&](bool from_disk) {
    std::mt19937_64 dice(from_disk ? 20 : 26);
    int kills = 0;
    for (int round = 0; kills < 10 && round < 8; ++round) {
      EXPECT_EQ(TrainThroughKills(from_disk, dice, kills), whole)
          << "round " << round << (from_disk ? " from disk" : "");
    }
    EXPECT_GE(kills, 10);
    all_kills += kills;
  };
  std::thread other(strike, true);
  strike(false);
  other.join();
  Record record;
  record["kills"] = all_kills;
}

// Struck while the file is being written: as soon as the kernel says that it
// was made.
TEST_F(Resume, AKillDuringACheckpointLeavesTheOneBefore) {
  const nlohmann::json whole = Uninterrupted();
  int struck = 0;
  for (int i = 0; i < 36 && struck < 3; ++i) {
    const nlohmann::json trial = Trial();
    const std::string folder = trial["folder"];
    const int watch = inotify_init1(IN_CLOEXEC);
    inotify_add_watch(watch, folder.c_str(), IN_CREATE);
    TrainerUnderTest trainer(world_.registry(), start_);
    trainer.Send(trial);
    WaitForFiles(watch, 2 + i % 4);
    trainer.Signal(SIGKILL);
    trainer.Wait();
    close(watch);
    const auto files = std::filesystem::directory_iterator(folder);
    struck += std::any_of(begin(files), end(files), [](const auto& entry) {
      return entry.is_regular_file() &&
             !entry.path().string().ends_with(kSuffix);
    });
    const std::string newest = NewestIn(folder);
    TrainerUnderTest next(world_.registry(), start_);
    const nlohmann::json again = From(folder + "/" + newest, StepOf(newest));
    const Conversation heard = next.Train(again);
    EXPECT_THAT(heard.Log(), HasSubstr("goes on from step"));
    EXPECT_EQ(ResultOf(again, heard.finish), whole);
  }
  EXPECT_GT(struck, 0) << "no kill met a file that was being written";
}

// A stop after the last step, while the test split is evaluated.
TEST_F(Resume, AfterTheLastStepBringsBackOutcomesAndTheEarlyEnd) {
  world_.AddData("tested", "format: tsv",
                 {{"train", Reviews(48, 1)},
                  {"validation", Reviews(20, 2)},
                  {"test", Reviews(12'000, 3)}});
  world_.Write();
  nlohmann::json trial = Trial();
  trial["data"] = {{"id", "tested"}, {"test_split", "test"}};
  trial["training"]["early_stopping"] = {
      {"metric", "loss"}, {"patience", 1}, {"min_delta", 1e9}};
  trial["training"]["extra"]["export"] = false;
  TrainerUnderTest trainer(world_.registry());
  const nlohmann::json whole = trainer.Train(trial).finish;
  ASSERT_EQ(whole["metrics"]["steps"], 10);  // ended early
  trainer.Send(trial);
  while (trainer.Read().value().value("step", 0) != 10) continue;
  trainer.Send({{"type", "stop"}, {"reason", "preempt"}});
  const Conversation stopped = trainer.ReadToFinish();
  ASSERT_EQ(stopped.finish["state"], "stopped");
  const std::string folder = trial["folder"];
  trial["resume_from"] = {{"step", 10},
                          {"path", folder + "/step-10.safetensors"}};
  const nlohmann::json rest = trainer.Train(trial).finish;
  EXPECT_EQ(Numbers(rest), Numbers(whole));
  EXPECT_EQ(rest["examples"], whole["examples"]);
}

// The newest checkpoint of `donor`, in a form that must not be trusted.
TEST_F(Resume, ASpoiltCheckpointMeansToBeginAnew) {
  const nlohmann::json trial = Trial();
  TrainerUnderTest trainer(world_.registry(), start_);
  const nlohmann::json whole = ResultOf(trial, trainer.Train(trial).finish);
  for (const std::string how :
       {"cut", "a flipped bit", "no safetensors", "the model", "gone",
        "another seed", "other rates", "other rows"}) {
    SCOPED_TRACE(how);
    nlohmann::json donor = Trial();
    if (how == "another seed") donor["seed"] = 8;
    if (how == "other rates") donor["rates"]["layer.2"] = 5e-4;
    if (how == "other rows") donor["data"]["train_rows"] = 40;
    trainer.Train(donor);
    const std::string folder = donor["folder"];
    const std::string name = NewestIn(folder);
    const std::string path = folder + "/" + name;
    std::string bytes = ReadBytes(path);
    if (how == "cut") bytes.resize(bytes.size() - 1);
    if (how == "a flipped bit") bytes[bytes.size() / 2] ^= 16;
    if (how == "no safetensors") bytes = "once upon a time";
    if (how == "the model") {
      bytes = ReadBytes(world_.ModelFile("m", "model.safetensors"));
    }
    WriteBytes(path, bytes);
    if (how == "gone") std::filesystem::remove(path);
    const nlohmann::json again = From(path, StepOf(name));
    const Conversation heard = trainer.Train(again);
    EXPECT_THAT(heard.Log(), HasSubstr("begins anew: FL-50"));
    EXPECT_EQ(ResultOf(again, heard.finish), whole);
  }
}

TEST_F(Resume, AFullDiskCostsTheCheckpointAlone) {
  nlohmann::json trial = Trial();
  trial["training"]["extra"]["export"] = false;
  TrainerUnderTest healthy(world_.registry(), start_);
  const nlohmann::json whole = healthy.Train(trial).finish;
  start_.file_size = 100'000;  // a checkpoint has about 400,000 bytes
  TrainerUnderTest trainer(world_.registry(), start_);
  trial["folder"] = world_.NewFolder();
  const Conversation heard = trainer.Train(trial);
  EXPECT_EQ(Numbers(heard.finish), Numbers(whole));
  EXPECT_THAT(heard.Log(), HasSubstr("FL-5010: cannot write"));
  EXPECT_TRUE(heard.Of("checkpoint").empty() ||
              heard.Of("checkpoint").back()["bytes"] <= 100'000);
}

}  // namespace
}  // namespace frostline::trainer
