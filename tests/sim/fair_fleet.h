// SPDX-License-Identifier: Apache-2.0
//
// File: fair_fleet.h
//
// A fleet in a seed: the real dispatcher and ledger, on a store in memory,
// among studies whose samplers and trials take as long as a test says. After
// every turn it is checked that nobody waits who could run something that is
// queued, and that no lower priority was served before a higher one.
#ifndef FROSTLINE_TESTS_SIM_FAIR_FLEET_H_
#define FROSTLINE_TESTS_SIM_FAIR_FLEET_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/dispatch/dispatcher.h"
#include "tests/server/ledger/ledger_fixture.h"

namespace frostline::test {

struct FairStudy {
  Duration trial = std::chrono::seconds(10);
  Duration sampler{};  // for each proposal
  int priority = 0;
  int max_parallel = 0;
  std::string team = {};  // that its workers must be of
};

class FairFleet : public server::LedgerFixture {
 protected:
  static constexpr Duration kTurn = std::chrono::milliseconds(50);

  void AddStudy(const FairStudy& study);
  void AddWorkers(int count, const std::string& team = "");
  // Ends with the first broken promise, or after `time`.
  void Run(Duration time);

  // Seconds of all trials that the study was given.
  double ServiceOf(std::size_t study) const { return given_[study].seconds; }
  std::int64_t TrialsOf(std::size_t study) const {
    return given_[study].trials;
  }
  double BusyShare() const;  // of all slots, over the whole run

  std::string broken_;  // the promise; empty: none

 private:
  struct Given {
    FairStudy rules;
    server::StudyBook* book = nullptr;
    double seconds = 0.0;
    std::int64_t trials = 0;
    std::deque<SteadyTime> due;  // proposals
    std::int64_t reserved = 0;   // as last seen
  };
  struct Worker {
    std::string team;
    SteadyTime waits_since{};
    bool waits = false;
  };

  void TestBody() override {}
  void Park(std::size_t worker);
  void EndTrials();
  void DeliverProposals();
  void NoteRequests();
  void Turn();
  void TakeGrants();
  bool CouldRun(const Given& study, const Worker& worker) const;
  void Check();
  SteadyTime NextEvent() const;

  std::vector<Given> given_;
  std::map<storage::StudyKey, std::size_t> study_of_key_;
  std::vector<Worker> workers_;
  std::multimap<SteadyTime, std::pair<server::TrialKey, std::size_t>> ends_;
  std::vector<std::pair<std::size_t, v1::AcquireReply>> answers_;
  server::Proposer proposer_{[](const server::Proposals&) {}};
  storage::DiskRoom disk_;
  server::Dispatcher dispatcher_{ledger_, proposer_, disk_, clock_};
  std::int64_t asked_ = 0;
  double busy_s_ = 0.0;
  SteadyTime begun_{};
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_SIM_FAIR_FLEET_H_
