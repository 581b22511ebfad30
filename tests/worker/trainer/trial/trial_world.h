// SPDX-License-Identifier: Apache-2.0
//
// File: trial_world.h
//
// A worker's registry in a folder of its own, with a tiny recorded model and
// texts of nonsense words, and trials upon it.
//
//   TrialWorld world;
//   const TrialEnd end = world.Run(world.Trial({.epochs = 2}));
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_TRIAL_TRIAL_WORLD_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_TRIAL_TRIAL_WORLD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {

struct Told {
  std::int64_t step = 0;
  Metrics metrics;
};

// Writes down what a trial says, and stops it when it is told to.
class Witness : public TrialListener {
 public:
  StopReason stop() const override {
    return ++asked_ > stop_after_ ? reason_ : StopReason::kNone;
  }
  void Report(std::int64_t step, std::int64_t,
              const Metrics& metrics) override {
    if (!metrics.empty()) reports.push_back({step, metrics});
  }
  void NotePace(const TrialPace& pace) override { paces.push_back(pace); }
  void EnterPhase(const TrialPace& pace) override {
    phases.push_back(pace.phase);
  }
  void Begun(std::int64_t step, Precision precision) override {
    begun_step = step;
    computed_in = NameOf(precision);
  }
  void Saved(const std::string& name, std::int64_t step,
             std::int64_t) override {
    checkpoint = name;
    checkpoint_step = step;
  }
  void Log(const std::string& line) override { log += line + "\n"; }

  // Once the trial has asked `times` times: before each step and each batch
  // of an evaluation.
  void StopAfter(int times, StopReason reason) {
    stop_after_ = times;
    reason_ = reason;
  }

  std::vector<Told> reports;
  std::vector<TrialPace> paces;  // that went with reports
  std::vector<TrialPhase> phases;
  std::string checkpoint;
  std::int64_t checkpoint_step = 0;
  std::int64_t begun_step = -1;
  std::string computed_in;
  std::string log;

 private:
  mutable int asked_ = 0;
  int stop_after_ = 1 << 30;
  StopReason reason_ = StopReason::kNone;
};

class TrialWorld {
 public:
  enum class Registry { kTiny, kDecoder };
  explicit TrialWorld(Registry registry = Registry::kTiny);

  // The message of a trial of 24 / 8 steps an epoch. `training` and `rates`
  // are JSON that goes before what is usual.
  std::string Message(const std::string& training,
                      const std::string& rates = "") const;
  TrialMessage Trial(const std::string& training,
                     const std::string& rates = "") const;
  // A trial of `bytes` on a set of the decoder's registry.
  TrialMessage AnswersTrial(const std::string& data,
                            const std::string& training) const;

  TrialEnd Run(const TrialMessage& trial) { return Run(trial, witness); }
  TrialEnd Run(const TrialMessage& trial, Witness& listener);

  std::string folder() const { return folder_.path().string(); }
  TrialPreparer& trial_preparer() { return *preparer_; }

  Witness witness;
  double checkpoint_seconds = 1e9;
  std::optional<PrefixStore> prefixes;
  SizeBook size_book;  // of all trials
  std::optional<ResidentRows> resident;

 private:
  TempFolder folder_;
  Device device_;
  std::optional<TrialPreparer> preparer_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_TRIAL_TRIAL_WORLD_H_
