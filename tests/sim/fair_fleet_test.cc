// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "gmock/gmock.h"
#include "server/dispatch/dispatcher.h"
#include "tests/server/ledger/ledger_fixture.h"
#include "tests/support/watched.h"

namespace frostline::test {

// A fleet in a seed: the real dispatcher and ledger, on a store in memory,
// among studies whose samplers and trials take as long as a test says. After
// every turn it is checked that nobody waits who could run something that is
// queued, and that no lower priority was served before a higher one.
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

namespace {

double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void FairFleet::AddStudy(const FairStudy& study) {
  v1::StudySettings settings = server::ExampleStudy("s", 1'000'000).settings();
  settings.set_priority(study.priority);
  settings.set_max_parallel(study.max_parallel);
  if (!study.team.empty()) {
    (*settings.mutable_required_worker_labels())["team"] = study.team;
  }
  Given given;
  given.rules = study;
  given.book = LedgerFixture::AddStudy(absl::StrCat("s", given_.size()), 2);
  given.book->AbsorbSettings(
      std::make_shared<const server::CheckedStudy>(*server::CheckStudy(
          server::ExampleSpec(), settings, server::ExampleLease())));
  study_of_key_[given.book->row().key] = given_.size();
  given_.push_back(std::move(given));
}

void FairFleet::AddWorkers(int count, const std::string& team) {
  for (int i = 0; i < count; ++i) {
    storage::WorkerRow row;
    row.id = absl::StrCat("w", workers_.size());
    row.boot_id = "boot-1";
    v1::Worker info;
    if (!team.empty()) (*info.mutable_labels())["team"] = team;
    row.info = info.SerializeAsString();
    ledger_.workers().Absorb(row);
    workers_.push_back({.team = team});
  }
}

void FairFleet::Park(std::size_t worker) {
  server::ParkedAcquire parked{server::CallContext(server::LocalAdmin())};
  parked.worker = absl::StrCat("w", worker);
  parked.request.set_request_id(absl::StrCat("r", ++asked_));
  parked.request.set_boot_id("boot-1");
  parked.request.set_max_leases(1);
  parked.deadline = SteadyTime::max();
  parked.reply = [this, worker](absl::StatusOr<v1::AcquireReply> reply) {
    answers_.emplace_back(worker, *std::move(reply));
  };
  workers_[worker].waits = true;
  workers_[worker].waits_since = clock_.Steady();
  dispatcher_.Park(*batch_, std::move(parked));
}

void FairFleet::EndTrials() {
  while (!ends_.empty() && ends_.begin()->first <= clock_.Steady()) {
    const auto [trial, worker] = ends_.begin()->second;
    ends_.erase(ends_.begin());
    server::StudyBook& book = *ledger_.Find(trial.study);
    EXPECT_OK(ledger_.Apply(
        *batch_, book,
        *server::Cancel(*book.Find(trial.number), "", clock_.Wall())));
    dispatcher_.NoteEnded(trial);
    Park(worker);
  }
}

void FairFleet::DeliverProposals() {
  for (Given& given : given_) {
    server::Proposals proposals;
    proposals.study = given.book->row().key;
    while (!given.due.empty() && given.due.front() <= clock_.Steady()) {
      given.due.pop_front();
      const std::int64_t number = given.book->next_number() - given.reserved--;
      proposals.made.push_back({.number = number, .point = {0, 0}, .seed = {}});
    }
    if (proposals.made.empty()) continue;
    dispatcher_.TakeProposals(*batch_, proposals);
  }
}

// A sampler makes one proposal after the other.
void FairFleet::NoteRequests() {
  for (Given& given : given_) {
    for (; given.reserved < given.book->reserved(); ++given.reserved) {
      const SteadyTime from =
          given.due.empty() ? clock_.Steady() : given.due.back();
      given.due.push_back(from + given.rules.sampler);
    }
  }
}

void FairFleet::TakeGrants() {
  for (auto& [worker, reply] : std::exchange(answers_, {})) {
    const TrialName name = *ParseTrialName(reply.leases(0).trial());
    Given& given =
        given_[static_cast<std::size_t>(std::stoi(name.study_id.substr(1)))];
    given.seconds += Seconds(given.rules.trial);
    ++given.trials;
    busy_s_ += Seconds(given.rules.trial);
    ends_.emplace(
        clock_.Steady() + given.rules.trial,
        std::pair(server::TrialKey{given.book->row().key, name.number},
                  worker));
    workers_[worker].waits = false;
    for (const Given& other : given_) {
      const bool before = other.rules.priority > given.rules.priority;
      if (before && CouldRun(other, workers_[worker])) {
        broken_ = absl::StrCat(name.study_id, " went before a higher priority");
      }
    }
  }
}

bool FairFleet::CouldRun(const Given& study, const Worker& worker) const {
  const bool of_team =
      study.rules.team.empty() || study.rules.team == worker.team;
  return of_team && !study.book->AtParallelLimit() &&
         study.book->Count(TrialState::kQueued) > 0;
}

void FairFleet::Check() {
  for (const Given& given : given_) {
    const bool is_over_limit =
        given.rules.max_parallel > 0 &&
        given.book->Count(TrialState::kRunning) > given.rules.max_parallel;
    if (is_over_limit) broken_ = "more run than max_parallel lets";
  }
  std::set<std::string> looked_at;  // teams: those of one are alike
  SteadyTime longest = clock_.Steady();
  for (const Worker& worker : workers_) {
    if (!worker.waits) continue;
    longest = std::min(longest, worker.waits_since);
    if (!looked_at.insert(worker.team).second) continue;
    for (const Given& given : given_) {
      if (CouldRun(given, worker)) {
        broken_ = "a worker waits that could run what is queued";
      }
    }
  }
  // Where some sampler is quick and may propose more, nobody waits for long.
  const bool quick =
      std::any_of(given_.begin(), given_.end(), [](const Given& given) {
        return given.rules.sampler == Duration{} && given.rules.team.empty() &&
               !given.book->AtParallelLimit();
      });
  if (quick && clock_.Steady() - longest > kTurn) {
    broken_ = "a worker waits for more than a turn beside a quick sampler";
  }
}

SteadyTime FairFleet::NextEvent() const {
  SteadyTime next = clock_.Steady() + kTurn;
  const bool somebody_waits = dispatcher_.waiting() > 0;
  if (!somebody_waits) next = SteadyTime::max();
  if (!ends_.empty()) next = std::min(next, ends_.begin()->first);
  for (const Given& given : given_) {
    if (!given.due.empty()) next = std::min(next, given.due.front());
  }
  return next;
}

void FairFleet::Turn() {
  dispatcher_.Turn(*batch_);
  Commit();
  NoteRequests();
  TakeGrants();
}

void FairFleet::Run(Duration time) {
  begun_ = clock_.Steady();
  ASSERT_OK(ledger_.SetState(*batch_, *book_, storage::StudyState::kStopped,
                             "not of this fleet"));
  for (std::size_t i = 0; i < workers_.size(); ++i) Park(i);
  while (clock_.Steady() - begun_ < time && broken_.empty()) {
    EndTrials();
    DeliverProposals();
    Turn();
    Check();
    const SteadyTime next = NextEvent();
    if (next > clock_.Steady()) clock_.Advance(next - clock_.Steady());
  }
}

double FairFleet::BusyShare() const {
  double left_s = 0.0;  // of what still runs
  for (const auto& [end, run] : ends_) left_s += Seconds(end - clock_.Steady());
  return (busy_s_ - left_s) / (Seconds(clock_.Steady() - begun_) *
                               static_cast<double>(workers_.size()));
}

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class FairFleetTest : public FairFleet {
 protected:
  // Two studies that always competed differ by one trial of each.
  void ExpectEqualShares(const std::vector<FairStudy>& studies) const {
    for (std::size_t i = 1; i < studies.size(); ++i) {
      const auto one_each =
          std::chrono::duration<double>(studies[0].trial + studies[i].trial);
      EXPECT_NEAR(ServiceOf(0), ServiceOf(i), one_each.count() + 1e-6)
          << TrialsOf(0) << " and " << TrialsOf(i) << " trials";
    }
  }
};

TEST_F(FairFleetTest, ThreeEqualStudiesOnTwoSlots) {
  const std::vector<FairStudy> studies(3);
  for (const FairStudy& study : studies) AddStudy(study);
  AddWorkers(2);
  Run(minutes(30));
  EXPECT_EQ(broken_, "");
  ExpectEqualShares(studies);
  EXPECT_GT(BusyShare(), 0.999);
}

TEST_F(FairFleetTest, SharesAreOfTimeAndNotOfTrials) {
  const std::vector<FairStudy> studies = {
      {.trial = seconds(100)}, {.trial = seconds(1)}, {.trial = seconds(7)}};
  for (const FairStudy& study : studies) AddStudy(study);
  AddWorkers(4);
  Run(minutes(60));
  EXPECT_EQ(broken_, "");
  ExpectEqualShares(studies);
}

TEST_F(FairFleetTest, ASlowSamplerHoldsUpNobodyAndLosesNothing) {
  AddStudy({.trial = seconds(10), .sampler = seconds(60)});
  AddStudy({.trial = seconds(10)});
  AddWorkers(8);
  Run(minutes(30));
  EXPECT_EQ(broken_, "");
  EXPECT_GT(BusyShare(), 0.99);
  EXPECT_GE(TrialsOf(0), 28);  // all that its sampler could make
}

TEST_F(FairFleetTest, HigherPriorityGoesFirstAndTheRestGetsWhatIsLeft) {
  AddStudy({.priority = 0});
  AddStudy({.priority = 5, .max_parallel = 3});
  AddStudy({.priority = 0});
  AddWorkers(8);
  Run(minutes(10));
  EXPECT_EQ(broken_, "");
  EXPECT_NEAR(static_cast<double>(TrialsOf(1)), 3 * 60, 3);
  EXPECT_NEAR(ServiceOf(0), ServiceOf(2), 20.0);
  EXPECT_GT(BusyShare(), 0.99);
}

TEST_F(FairFleetTest, AThousandStudiesShareTenThousandSlots) {
  const int hundreds = kWatched ? 1 : 10;  // sanitizers are slow
  const std::vector<FairStudy> studies(static_cast<std::size_t>(hundreds) *
                                       100);
  for (const FairStudy& study : studies) AddStudy(study);
  AddWorkers(hundreds * 1000);
  Run(seconds(15));
  EXPECT_EQ(broken_, "");
  ExpectEqualShares(studies);
}

// Studies and fleets as they come; what must hold is checked after each turn.
class AnyFleet : public FairFleet,
                 public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(AnyFleet, NobodyWaitsWhoCouldRunSomething) {
  Rng rng(GetParam(), 0);
  const std::vector<std::string> teams = {"", "", "nlp", "vision"};
  const std::uint64_t studies = 2 + rng.Below(40);
  AddStudy({.trial = seconds(5)});  // there is always something to run
  for (std::uint64_t i = 1; i < studies; ++i) {
    FairStudy study;
    study.trial = std::chrono::milliseconds(100 + rng.Below(20'000));
    if (rng.Below(2) == 0) {
      study.sampler = std::chrono::milliseconds(rng.Below(60'000));
    }
    study.priority = static_cast<int>(rng.Below(3)) - 1;
    if (rng.Below(3) == 0)
      study.max_parallel = 1 + static_cast<int>(rng.Below(4));
    study.team = teams[rng.Below(teams.size())];
    AddStudy(study);
  }
  for (const std::string& team : teams) {
    AddWorkers(1 + static_cast<int>(rng.Below(25)), team);
  }
  Run(minutes(2));
  EXPECT_EQ(broken_, "");
  EXPECT_GT(BusyShare(), 0.98);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyFleet,
                         ::testing::Range<std::uint64_t>(0, 40));

}  // namespace
}  // namespace frostline::test
