// SPDX-License-Identifier: Apache-2.0
//
// File: model_coordinator.h
//
// The coordinator of the simulation: the real trial_machine on a disk that
// keeps what was committed, and loses the rest in a crash.
#ifndef FROSTLINE_TESTS_SIM_MODEL_COORDINATOR_H_
#define FROSTLINE_TESTS_SIM_MODEL_COORDINATOR_H_

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "server/ledger/trial_machine.h"
#include "tests/sim/lease_simulator.h"

namespace frostline::test {

inline constexpr int kModelTrials = 3;

enum class Answer { kNone, kOk, kNothing, kLeaseLost };

// A request, and with `answer` set also its reply.
struct Call {
  enum Kind { kAcquire, kHeartbeat, kReport, kFinish, kRelease };
  Kind kind = kAcquire;
  std::string id;
  int worker = 0;
  int boot = 0;
  int trial = -1;
  server::LeaseProof proof;
  int step = 0;
  double value = 0.0;
  bool forged = false;
  Answer answer = Answer::kNone;
  server::Verdict verdict = server::Verdict::kAccepted;
};

struct Cell {
  server::OpenTrial trial;
  std::map<std::int64_t, storage::AttemptRow> attempts;
  std::set<std::pair<std::int64_t, int>> steps;  // (attempt, step)
};

struct Disk {
  std::vector<Cell> cells;
  std::map<std::string, Call> replies;  // of Acquire
};

class ModelCoordinator;

// What workers were told, and may rely on.
struct Told {
  std::map<int, std::pair<std::int64_t, double>>
      accepted;  // trial: attempt, value
  std::set<std::tuple<int, std::int64_t, int>> reported;
  std::set<std::pair<int, std::int64_t>> superseded;
  std::map<std::pair<int, std::int64_t>, std::string> secret_of;
  std::map<std::string, std::pair<int, std::int64_t>> granted;  // by request

  void Note(const Call& answer, SimulationResult& result,
            const ModelCoordinator& coordinator);
};

class ModelCoordinator {
 public:
  ModelCoordinator(Mutant mutant, SimulationResult& result);

  bool alive() const { return alive_; }
  const Disk& disk() const { return disk_; }

  // Answers that are sent at once: none, but for a mutant.
  std::vector<Call> Handle(const Call& call, SteadyTime now, WallMicros offset);
  // The group is on disk; its answers.
  std::vector<Call> Commit();
  void Expire(SteadyTime now, WallMicros offset);
  void Crash();
  void Restart(SteadyTime now);

  bool AllEnded() const;
  // The promises, in result.broken.
  void Check(const Told& told, SteadyTime now);
  void CheckEnd();

 private:
  Call Decide(Call call, SteadyTime now, WallMicros wall);
  Call Acquire(Call call, SteadyTime now, WallMicros wall);
  bool Write(Cell& cell, const server::Transition& transition);
  bool Renew(const Call& call, Cell& cell, SteadyTime now);
  server::LeaseProof Trusted(const Call& call, const Cell& cell) const;
  void Break(const std::string& promise);

  const Mutant mutant_;
  SimulationResult& result_;
  server::RetryRules rules_;
  Disk disk_;
  Disk memory_;
  std::vector<Call> promised_;
  std::map<int, SteadyTime> deadline_;       // by trial; lost in a crash
  std::map<int, WallMicros> wall_deadline_;  // of a mutant
  std::map<int, SteadyTime> renewed_;        // what the judge knows
  std::map<int, std::pair<TrialState, std::vector<double>>> ended_;
  bool alive_ = true;
  int secrets_ = 0;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_SIM_MODEL_COORDINATOR_H_
