// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "gtest/gtest.h"
#include "server/ledger/trial_machine.h"
#include "tests/support/record.h"

namespace frostline::test {

// A fleet in a seed: one coordinator built on the real trial_machine, a store
// that forgets what was not committed, workers that crash, stall and wake up
// late, and a network that drops, delays, doubles and reorders. After every
// event the promises of docs/adr/0004 are checked against what workers were
// told. One seed is one history, the same on every machine.
//
// A Mutant breaks one promise on purpose: the simulator is worth what it finds.

enum class Mutant {
  kNone,
  kNoFence,            // the store writes whatever the guard says
  kReplyBeforeCommit,  // answers are sent before the group is on disk
  kAcceptTwice,        // a result of an ended trial is taken again
  kNoSecret,           // any secret will do
  kSameAttempt,        // a grant does not raise the attempt number
  kForgetAcquire,      // a repeated Acquire gets another trial
  kNoGrace,            // leases do not outlive a restart
  kDropSuperseded,     // the second result is thrown away
  kDropLate,           // a late result is thrown away though it is the only one
  kNeverExpire,        // a silent worker keeps its trial
  kWallClock,          // leases are judged by the wall clock
  kLossFails,          // a lost worker fails its trial
};

struct SimulationResult {
  std::string broken;  // the promise, when one was broken; else empty
  int events = 0;
  int losses = 0;  // leases that ran out
  int late = 0;    // results of lost attempts that counted
  int superseded = 0;
  int restarts = 0;  // of the coordinator
};

SimulationResult SimulateLeases(std::uint64_t seed, Mutant mutant);

// The coordinator of the simulation: the real trial_machine on a disk that
// keeps what was committed, and loses the rest in a crash.

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

namespace {

constexpr Duration kTtl = std::chrono::seconds(60);
constexpr Duration kGrace = std::chrono::seconds(120);
constexpr Duration kSlack = std::chrono::seconds(2);

WallMicros WallOf(SteadyTime now, WallMicros offset) {
  return now.count() / 1000 + offset;
}

}  // namespace

void Told::Note(const Call& answer, SimulationResult& result,
                const ModelCoordinator& coordinator) {
  if (answer.forged && answer.answer == Answer::kOk) {
    result.broken = "a guessed secret was believed";
  }
  const std::pair<int, std::int64_t> attempt{answer.trial,
                                             answer.proof.attempt};
  const bool ok = answer.answer == Answer::kOk;
  if (ok && answer.kind == Call::kAcquire) {
    const auto [holder, first] =
        secret_of.emplace(attempt, answer.proof.secret.Reveal());
    if (!first && holder->second != answer.proof.secret.Reveal()) {
      result.broken = "two leases have one attempt number";
    }
    const auto [grant, once] = granted.emplace(answer.id, attempt);
    if (!once && grant->second != attempt) {
      result.broken = "a repeated Acquire got another lease";
    }
  }
  if (ok && answer.kind == Call::kReport) {
    reported.insert({answer.trial, answer.proof.attempt, answer.step});
  }
  if (answer.kind != Call::kFinish || answer.forged) return;
  const Cell& cell =
      coordinator.disk().cells[static_cast<std::size_t>(answer.trial)];
  if (ok && answer.verdict == server::Verdict::kAccepted) {
    accepted[answer.trial] = {answer.proof.attempt, answer.value};
  } else if (ok && answer.verdict == server::Verdict::kSuperseded) {
    superseded.insert(attempt);
  }
  const auto row = cell.attempts.find(answer.proof.attempt);
  const bool handed_back = row != cell.attempts.end() &&
                           (row->second.state == AttemptState::kPreempted ||
                            row->second.state == AttemptState::kReleased);
  const bool counted = ok && answer.verdict == server::Verdict::kAccepted;
  if (!counted && !handed_back && !IsTerminal(cell.trial.row.state)) {
    result.broken = "a sole result was not counted";
  }
}

ModelCoordinator::ModelCoordinator(Mutant mutant, SimulationResult& result)
    : mutant_(mutant), result_(result) {
  rules_.accept_late_result = true;
  for (int i = 0; i < kModelTrials; ++i) {
    Cell cell;
    cell.trial.row.study = 1;
    cell.trial.row.number = i;
    disk_.cells.push_back(cell);
  }
  memory_ = disk_;
}

void ModelCoordinator::Break(const std::string& promise) {
  if (result_.broken.empty()) result_.broken = promise;
}

server::LeaseProof ModelCoordinator::Trusted(const Call& call,
                                             const Cell& cell) const {
  const storage::TrialRow& row = cell.trial.row;
  if (mutant_ == Mutant::kNoFence) return {row.attempt, row.secret};
  if (mutant_ == Mutant::kNoSecret) {
    const auto attempt = cell.attempts.find(call.proof.attempt);
    if (attempt != cell.attempts.end()) {
      return {call.proof.attempt, attempt->second.secret};
    }
  }
  return call.proof;
}

// The store's half of the fence.
bool ModelCoordinator::Write(Cell& cell, const server::Transition& transition) {
  if (transition.row.has_value()) {
    const storage::TrialRow& row = cell.trial.row;
    const bool holds = row.state == transition.guard.state &&
                       row.attempt == transition.guard.attempt &&
                       (!transition.guard.secret.has_value() ||
                        row.secret == *transition.guard.secret);
    if (!holds) {
      Break("a transition's own guard does not hold");
      return false;
    }
    cell.trial.row = *transition.row;
  }
  for (const storage::AttemptRow& attempt : transition.attempts) {
    cell.attempts[attempt.attempt] = attempt;
    if (attempt.attempt == cell.trial.row.attempt) cell.trial.attempt = attempt;
  }
  return true;
}

std::vector<Call> ModelCoordinator::Handle(const Call& call, SteadyTime now,
                                           WallMicros offset) {
  Call answer = Decide(call, now, WallOf(now, offset));
  if (mutant_ == Mutant::kReplyBeforeCommit) return {answer};
  promised_.push_back(std::move(answer));
  return {};
}

std::vector<Call> ModelCoordinator::Commit() {
  disk_ = memory_;
  return std::exchange(promised_, {});
}

Call ModelCoordinator::Acquire(Call call, SteadyTime now, WallMicros wall) {
  const auto before = memory_.replies.find(call.id);
  if (before != memory_.replies.end() && mutant_ != Mutant::kForgetAcquire) {
    return before->second;
  }
  for (Cell& cell : memory_.cells) {
    if (cell.trial.row.state != TrialState::kQueued) continue;
    server::Transition grant = server::Grant(
        cell.trial, absl::StrCat(call.worker), absl::StrCat(call.boot),
        SecretString(absl::StrCat("secret-", ++secrets_)), wall);
    if (mutant_ == Mutant::kSameAttempt && cell.trial.row.attempt > 0) {
      --grant.row->attempt;
      --grant.attempts[0].attempt;
    }
    if (!Write(cell, grant)) break;
    call.trial = static_cast<int>(cell.trial.row.number);
    call.proof = {cell.trial.row.attempt, cell.trial.row.secret};
    call.answer = Answer::kOk;
    deadline_[call.trial] = now + kTtl;
    wall_deadline_[call.trial] = wall + kTtl.count() / 1000;
    renewed_[call.trial] = now;
    memory_.replies[call.id] = call;
    return call;
  }
  call.answer = Answer::kNothing;
  return call;
}

bool ModelCoordinator::Renew(const Call& call, Cell& cell, SteadyTime now) {
  if (const auto again = server::Reinstate(cell.trial, Trusted(call, cell))) {
    Write(cell, *again);
  }
  if (!server::CheckLease(cell.trial.row, Trusted(call, cell)).ok())
    return false;
  deadline_[call.trial] = now + kTtl;
  renewed_[call.trial] = now;
  return true;
}

Call ModelCoordinator::Decide(Call call, SteadyTime now, WallMicros wall) {
  if (call.kind == Call::kAcquire) return Acquire(call, now, wall);
  Cell& cell = memory_.cells[static_cast<std::size_t>(call.trial)];
  const server::LeaseProof proof = Trusted(call, cell);
  call.answer = Answer::kLeaseLost;
  if (call.kind == Call::kHeartbeat || call.kind == Call::kReport) {
    if (!Renew(call, cell, now)) return call;
    wall_deadline_[call.trial] = wall + kTtl.count() / 1000;
    if (call.kind == Call::kReport) {
      cell.steps.insert({proof.attempt, call.step});
    }
    call.answer = Answer::kOk;
    return call;
  }
  if (call.kind == Call::kRelease) {
    const auto release = server::Release(
        cell.trial, proof, AttemptState::kPreempted, "", "asked to go", wall);
    if (release.ok() && Write(cell, *release)) call.answer = Answer::kOk;
    return call;
  }
  server::Result delivered;
  delivered.values = {call.value};
  delivered.outcome = "kept";
  std::optional<storage::AttemptRow> claimed;
  const auto row = cell.attempts.find(proof.attempt);
  if (row != cell.attempts.end()) claimed = row->second;
  const bool late =
      claimed.has_value() && claimed->state == AttemptState::kLost;
  if (mutant_ == Mutant::kDropLate && late) {
    call.verdict = server::Verdict::kSuperseded;
    call.answer = Answer::kOk;
    return call;
  }
  server::OpenTrial seen = cell.trial;
  if (mutant_ == Mutant::kAcceptTwice && IsTerminal(seen.row.state) &&
      claimed.has_value() && claimed->state != AttemptState::kCompleted) {
    cell.trial.row.values = delivered.values;
  }
  const auto answer =
      server::Finish(seen, claimed, proof, delivered, rules_, wall);
  if (!answer.ok()) return call;
  server::Transition transition = answer->transition;
  if (mutant_ == Mutant::kDropSuperseded &&
      answer->verdict == server::Verdict::kSuperseded) {
    transition = {};
  }
  if (!Write(cell, transition)) return call;
  call.verdict = answer->verdict;
  call.answer = Answer::kOk;
  // Repeated: the value that counts is the stored one.
  if (answer->verdict == server::Verdict::kAccepted &&
      !cell.trial.row.values.empty() && !answer->transition.row.has_value()) {
    call.value = cell.trial.row.values[0];
  }
  if (answer->verdict == server::Verdict::kAccepted) {
    if (late) ++result_.late;
  } else {
    ++result_.superseded;
  }
  return call;
}

void ModelCoordinator::Expire(SteadyTime now, WallMicros offset) {
  if (mutant_ == Mutant::kNeverExpire) return;
  const WallMicros wall = WallOf(now, offset);
  for (Cell& cell : memory_.cells) {
    const int trial = static_cast<int>(cell.trial.row.number);
    if (cell.trial.row.state != TrialState::kRunning) continue;
    const bool due = mutant_ == Mutant::kWallClock
                         ? wall_deadline_[trial] <= wall
                         : deadline_[trial] <= now;
    if (!due) continue;
    if (now - renewed_[trial] < kTtl) Break("a lease ended early");
    ++result_.losses;
    server::RetryRules rules = rules_;
    if (mutant_ == Mutant::kLossFails) rules.max_infrastructure_faults = 1;
    Write(cell, server::Lose(cell.trial, "silent", rules, wall));
  }
}

void ModelCoordinator::Crash() {
  alive_ = false;
  memory_ = disk_;
  promised_.clear();
}

void ModelCoordinator::Restart(SteadyTime now) {
  if (alive_) return;
  alive_ = true;
  memory_ = disk_;
  deadline_.clear();
  wall_deadline_.clear();
  for (const Cell& cell : memory_.cells) {
    const int trial = static_cast<int>(cell.trial.row.number);
    const Duration grace =
        mutant_ == Mutant::kNoGrace ? Duration::zero() : kGrace;
    deadline_[trial] = now + kTtl + grace;
    renewed_[trial] = now + kGrace;
  }
}

bool ModelCoordinator::AllEnded() const {
  return std::all_of(disk_.cells.begin(), disk_.cells.end(), [](const Cell& c) {
    return IsTerminal(c.trial.row.state);
  });
}

void ModelCoordinator::Check(const Told& told, SteadyTime now) {
  for (const auto& [trial, told_of] : told.accepted) {
    const Cell& cell = disk_.cells[static_cast<std::size_t>(trial)];
    const auto attempt = cell.attempts.find(told_of.first);
    if (cell.trial.row.state != TrialState::kSucceeded ||
        cell.trial.row.values != std::vector<double>{told_of.second} ||
        attempt == cell.attempts.end() ||
        attempt->second.state != AttemptState::kCompleted) {
      Break("an acknowledged result is not on disk");
    }
  }
  for (const auto& [trial, attempt, step] : told.reported) {
    const Cell& cell = disk_.cells[static_cast<std::size_t>(trial)];
    if (cell.steps.count({attempt, step}) == 0) {
      Break("an acknowledged report is not on disk");
    }
  }
  for (const auto& [trial, attempt] : told.superseded) {
    const Cell& cell = disk_.cells[static_cast<std::size_t>(trial)];
    const auto row = cell.attempts.find(attempt);
    if (row == cell.attempts.end() || row->second.outcome.empty()) {
      Break("a superseded result was not kept");
    }
  }
  for (const Cell& cell : disk_.cells) {
    const storage::TrialRow& row = cell.trial.row;
    const int trial = static_cast<int>(row.number);
    const auto completed = std::count_if(
        cell.attempts.begin(), cell.attempts.end(), [](const auto& attempt) {
          return attempt.second.state == AttemptState::kCompleted;
        });
    if (completed > 1) Break("a trial was completed twice");
    if (IsTerminal(row.state)) {
      const auto [first, fresh] =
          ended_.emplace(trial, std::pair(row.state, row.values));
      if (!fresh && first->second != std::pair(row.state, row.values)) {
        Break("an ended trial changed");
      }
    }
    const bool overdue = alive_ && row.state == TrialState::kRunning &&
                         now - renewed_[trial] > kTtl + kSlack;
    if (overdue) Break("a silent worker keeps its trial");
  }
}

void ModelCoordinator::CheckEnd() {
  for (const Cell& cell : disk_.cells) {
    if (cell.trial.row.state != TrialState::kSucceeded) {
      Break("a trial was lost though no training failed");
    }
  }
}

namespace {

constexpr int kWorkers = 3;
constexpr Duration kChaos = std::chrono::minutes(20);
constexpr Duration kPatience = std::chrono::hours(6);
constexpr int kStepsOfATrial = 8;

// One agent: what it holds, what it has not been answered yet.
struct ModelWorker {
  int id = 0;
  int boot = 0;
  SteadyTime asleep_until{};
  SteadyTime cut_off_until{};  // it trains on, but nothing gets through
  std::optional<Call> lease;   // as granted
  int next_step = 0;
  std::vector<Call> outbox;  // in order; the first is sent until answered
  int requests = 0;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, Mutant mutant)
      : rng_(seed, 0), coordinator_(mutant, result_) {}

  SimulationResult Run() {
    for (int i = 0; i < kWorkers; ++i) {
      workers_.emplace_back();
      workers_.back().id = i;
      At(Seconds(0, 5), [this, i] { Step(i); });
    }
    At(std::chrono::seconds(1), [this] { Tick(); });
    At(Seconds(5, 50), [this] { Trouble(); });
    while (!events_.empty() && result_.broken.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      event.run();
      ++result_.events;
      coordinator_.Check(told_, now_);
      if (coordinator_.AllEnded()) break;
      if (now_ > kPatience) result_.broken = "the study never ended";
    }
    if (result_.broken.empty()) coordinator_.CheckEnd();
    return result_;
  }

 private:
  struct Event {
    SteadyTime at;
    std::uint64_t order;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return std::pair(other.at, other.order) < std::pair(at, order);
    }
  };

  void At(Duration from_now, std::function<void()> run) {
    events_.push({now_ + from_now, ++order_, std::move(run)});
  }
  Duration Seconds(double lo, double hi) {
    return std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(lo + (hi - lo) * rng_.Uniform()));
  }
  bool Chance(double p) { return now_ < kChaos && rng_.Uniform() < p; }

  // --- the network: drops, delays, doubles, and so reorders ---
  void Send(const Call& call) {
    const int copies = Chance(0.1) ? 0 : (Chance(0.1) ? 2 : 1);
    for (int i = 0; i < copies; ++i) {
      At(Chance(0.05) ? Seconds(1, 200) : Seconds(0.01, 0.5),
         [this, call] { Arrive(call); });
    }
    if (call.kind != Call::kAcquire && Chance(0.02)) {  // somebody guesses
      Call forged = call;
      forged.proof.secret = SecretString("guessed");
      forged.forged = true;
      At(Seconds(0.01, 5), [this, forged] { Arrive(forged); });
    }
  }

  bool CutOff(const Call& call) const {
    return now_ < workers_[static_cast<std::size_t>(call.worker)].cut_off_until;
  }

  void Arrive(const Call& call) {
    if (!coordinator_.alive() || CutOff(call)) return;
    for (Call& answer : coordinator_.Handle(call, now_, wall_offset_)) {
      Reply(std::move(answer));
    }
    if (!commit_due_) {
      commit_due_ = true;
      At(Seconds(0.001, 0.02), [this] { Commit(); });
    }
  }

  void Commit() {
    commit_due_ = false;
    if (!coordinator_.alive()) return;
    for (Call& answer : coordinator_.Commit()) Reply(std::move(answer));
  }

  void Reply(Call answer) {
    if (Chance(0.1)) return;
    At(Chance(0.05) ? Seconds(1, 200) : Seconds(0.01, 0.5),
       [this, answer = std::move(answer)] { Hear(answer); });
  }

  // --- a worker ---
  void Hear(const Call& answer) {
    if (CutOff(answer)) return;
    told_.Note(answer, result_, coordinator_);
    ModelWorker& worker = workers_[static_cast<std::size_t>(answer.worker)];
    if (answer.boot != worker.boot || now_ < worker.asleep_until) return;
    if (worker.outbox.empty() || worker.outbox.front().id != answer.id) {
      const bool mine = worker.lease.has_value() &&
                        worker.lease->proof.attempt == answer.proof.attempt &&
                        worker.lease->trial == answer.trial;
      if (mine && answer.answer == Answer::kLeaseLost) GiveUp(worker);
      return;
    }
    worker.outbox.erase(worker.outbox.begin());
    if (answer.kind == Call::kAcquire && answer.answer == Answer::kOk) {
      worker.lease = answer;
      worker.next_step = 0;
    } else if (answer.kind == Call::kFinish || answer.kind == Call::kRelease) {
      worker = Idle(worker);
    } else if (answer.answer == Answer::kLeaseLost) {
      GiveUp(worker);
    }
  }

  // The lease is lost. A training that is done is delivered all the same.
  static void GiveUp(ModelWorker& worker) {
    std::erase_if(worker.outbox,
                  [](const Call& call) { return call.kind != Call::kFinish; });
    if (worker.outbox.empty()) worker = Idle(worker);
  }

  static ModelWorker Idle(ModelWorker worker) {
    worker.lease.reset();
    worker.outbox.clear();
    return worker;
  }

  Call NewCall(ModelWorker& worker, Call::Kind kind) {
    Call call;
    if (worker.lease.has_value()) call = *worker.lease;
    call.kind = kind;
    call.worker = worker.id;
    call.boot = worker.boot;
    call.id = absl::StrCat(worker.id, "/", worker.boot, "/", ++worker.requests);
    return call;
  }

  void Step(int id) {
    ModelWorker& worker = workers_[static_cast<std::size_t>(id)];
    At(Seconds(3, 12), [this, id] { Step(id); });
    if (now_ < worker.asleep_until) return;
    if (worker.lease.has_value()) {
      Send(NewCall(worker, Call::kHeartbeat));
      if (Chance(0.03)) {
        worker.outbox = {NewCall(worker, Call::kRelease)};
      } else if (worker.next_step < kStepsOfATrial) {
        Call report = NewCall(worker, Call::kReport);
        report.step = worker.next_step++;
        worker.outbox.push_back(report);
      } else if (worker.next_step == kStepsOfATrial) {
        ++worker.next_step;
        Call finish = NewCall(worker, Call::kFinish);
        finish.value = rng_.Uniform();
        worker.outbox.push_back(finish);
      }
    } else if (worker.outbox.empty()) {
      worker.outbox.push_back(NewCall(worker, Call::kAcquire));
    }
    if (!worker.outbox.empty()) Send(worker.outbox.front());
  }

  // --- trouble ---
  void Trouble() {
    if (now_ >= kChaos) return;
    At(Seconds(5, 50), [this] { Trouble(); });
    ModelWorker& worker = workers_[rng_.Below(kWorkers)];
    switch (rng_.Below(5)) {
      case 0:  // the worker dies and comes back as another life
        worker = Idle(worker);
        ++worker.boot;
        worker.asleep_until = now_ + Seconds(1, 60);
        break;
      case 1:  // it is suspended, and wakes up believing in its lease
        worker.asleep_until = now_ + Seconds(40, 500);
        break;
      case 2:  // its cable is pulled
        worker.cut_off_until = now_ + Seconds(40, 300);
        break;
      case 3:  // the coordinator loses its power
        coordinator_.Crash();
        ++result_.restarts;
        At(Seconds(0.5, 90), [this] { coordinator_.Restart(now_); });
        break;
      default:  // somebody sets the date
        wall_offset_ += static_cast<WallMicros>(rng_.Below(7200) * 1'000'000) -
                        3'600'000'000;
    }
  }

  void Tick() {
    At(std::chrono::seconds(1), [this] { Tick(); });
    if (!coordinator_.alive()) return;
    coordinator_.Expire(now_, wall_offset_);
    Commit();
  }

  Rng rng_;
  SimulationResult result_;
  ModelCoordinator coordinator_;
  Told told_;
  std::vector<ModelWorker> workers_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  SteadyTime now_{};
  WallMicros wall_offset_ = 0;
  bool commit_due_ = false;
};

}  // namespace

SimulationResult SimulateLeases(std::uint64_t seed, Mutant mutant) {
  return Simulation(seed, mutant).Run();
}

namespace {

// FROSTLINE_SIM_SEEDS=1000000 for a long run.
std::uint64_t Seeds() {
  const char* const asked = std::getenv("FROSTLINE_SIM_SEEDS");
  return asked == nullptr ? 2'000 : std::strtoull(asked, nullptr, 10);
}

TEST(LeaseSimulator, EveryPromiseHoldsInEveryHistory) {
  SimulationResult total;
  Record record;
  for (std::uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const SimulationResult result = SimulateLeases(seed, Mutant::kNone);
    ++record["seeds"];
    record["events"] += result.events;
    record["crashes"] += result.restarts;
    record["expired_leases"] += result.losses;
    ASSERT_EQ(result.broken, "") << "seed " << seed;
    total.losses += result.losses;
    total.late += result.late;
    total.superseded += result.superseded;
    total.restarts += result.restarts;
  }
  // The histories are as bad as they are meant to be.
  const int seeds = static_cast<int>(Seeds());
  EXPECT_GT(total.losses, seeds / 4);
  EXPECT_GT(total.late, seeds / 40);
  EXPECT_GT(total.superseded, seeds / 400);
  EXPECT_GT(total.restarts, seeds / 4);
}

class MutantTest : public ::testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, IsFound) {
  Record record;
  record["mutants"] = 1;
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    record["most_seeds_until_caught"] = static_cast<std::int64_t>(seed);
    if (!SimulateLeases(seed, GetParam()).broken.empty()) return;
  }
  FAIL() << "10,000 histories did not find it";
}

INSTANTIATE_TEST_SUITE_P(
    All, MutantTest,
    ::testing::Values(Mutant::kNoFence, Mutant::kReplyBeforeCommit,
                      Mutant::kAcceptTwice, Mutant::kNoSecret,
                      Mutant::kSameAttempt, Mutant::kForgetAcquire,
                      Mutant::kNoGrace, Mutant::kDropSuperseded,
                      Mutant::kDropLate, Mutant::kNeverExpire,
                      Mutant::kWallClock, Mutant::kLossFails));

}  // namespace
}  // namespace frostline::test
