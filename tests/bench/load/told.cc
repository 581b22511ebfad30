// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/told.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace frostline::bench {
namespace {

using Op = HistoryEvent::Op;
using Kind = HistoryEvent::Kind;

class Gatherer {
 public:
  Gatherer(const std::string& prefix, std::vector<std::string>* wrong)
      : prefix_(prefix), wrong_(*wrong) {}

  void Take(const HistoryEvent& event) {
    if (event.kind == Kind::kInvoke) asked_.emplace(event.id, event.time);
    if (event.op == Op::kRegister && event.kind == Kind::kInvoke) {
      EndAllOf(event.worker, event.time);
    }
    if (event.op == Op::kAcquire && event.kind == Kind::kOk) Granted(event);
    if (!absl::StartsWith(event.trial, prefix_)) return;
    ToldAttempt& attempt = told_[event.trial].attempts[event.attempt];
    switch (event.op) {
      case Op::kHeartbeat:
        if (event.kind == Kind::kOk) Renewed(event, &attempt);
        break;
      case Op::kReport:
        Reported(event, &attempt);
        break;
      case Op::kFinish:
        Finished(event, &attempt);
        break;
      case Op::kRelease:
        if (event.kind == Kind::kInvoke) End(event.time, &attempt);
        break;
      default:
        break;
    }
  }

  Told TakeAll() { return std::move(told_); }

 private:
  static void End(SteadyTime now, ToldAttempt* attempt) {
    attempt->over = true;
    attempt->good_until = std::min(attempt->good_until, now);
  }

  void EndAllOf(const std::string& worker, SteadyTime now) {
    for (ToldAttempt* const attempt : held_[worker]) End(now, attempt);
    held_[worker].clear();
    reborn_[worker] = now;
  }

  void Granted(const HistoryEvent& event) {
    const auto [before, fresh] =
        granted_.emplace(event.id, std::pair(event.trial, event.attempt));
    const bool had_one = !before->second.first.empty();
    if (!fresh && had_one &&
        before->second != std::pair(event.trial, event.attempt)) {
      wrong_.push_back(absl::StrCat(
          event.id, ": was granted ", before->second.first, ", then ",
          event.trial.empty() ? "nothing" : event.trial));
    }
    before->second = {event.trial, event.attempt};
    if (!absl::StartsWith(event.trial, prefix_)) return;
    ToldAttempt& attempt = told_[event.trial].attempts[event.attempt];
    attempt.requests.insert(event.id);
    if (attempt.requests.size() > 1 || attempt.granted.count() != 0) return;
    attempt.asked = asked_[event.id];
    attempt.granted = event.time;
    attempt.ttl = event.ttl;
    attempt.good_until = attempt.asked + attempt.ttl;
    held_[event.worker].push_back(&attempt);
    if (reborn_[event.worker] > attempt.asked) End(attempt.asked, &attempt);
  }

  // The lease was good when this was answered, which was after it was asked.
  void Renewed(const HistoryEvent& event, ToldAttempt* attempt) {
    if (event.said != "CONTINUE" || attempt->over) return;
    attempt->good_until =
        std::max(attempt->good_until, asked_[event.id] + attempt->ttl);
  }

  void Reported(const HistoryEvent& event, ToldAttempt* attempt) {
    if (event.kind == Kind::kInvoke) {
      steps_[event.id] = event.steps;
      attempt->sent_steps.insert(event.steps.begin(), event.steps.end());
    } else if (event.kind == Kind::kOk) {
      const auto& steps = steps_[event.id];
      attempt->acknowledged.insert(steps.begin(), steps.end());
      Renewed(event, attempt);
    }
  }

  static void Finished(const HistoryEvent& event, ToldAttempt* attempt) {
    if (event.kind == Kind::kInvoke) {
      attempt->sent = event.said;
      attempt->value = event.value;
      End(event.time, attempt);
    } else if (event.kind == Kind::kOk) {
      attempt->verdicts.insert(event.said);
    }
  }

  const std::string prefix_;
  std::vector<std::string>& wrong_;
  Told told_;
  // By id of request.
  std::map<std::string, SteadyTime> asked_;
  std::map<std::string, std::pair<std::string, std::int64_t>> granted_;
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> steps_;
  // By worker.
  std::map<std::string, SteadyTime> reborn_;
  // std::map keeps its elements where they are.
  std::map<std::string, std::vector<ToldAttempt*>> held_;
};

}  // namespace

Told Gather(const History& history, const std::string& prefix,
            std::vector<std::string>* wrong) {
  Gatherer gatherer(prefix, wrong);
  for (const HistoryEvent& event : history) gatherer.Take(event);
  return gatherer.TakeAll();
}

}  // namespace frostline::bench
