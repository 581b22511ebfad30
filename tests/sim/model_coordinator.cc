// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/model_coordinator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace frostline::test {
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

}  // namespace frostline::test
