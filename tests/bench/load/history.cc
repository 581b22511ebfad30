// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/history.h"

#include <algorithm>
#include <array>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::bench {
namespace {

using nlohmann::json;

constexpr std::array kOps = {"register", "acquire", "heartbeat",
                             "report",   "finish",  "release"};
constexpr std::array kKinds = {"invoke", "ok", "fail", "unknown"};

json ToJson(const HistoryEvent& event) {
  json line = {{"t", event.time.count()},
               {"op", NameOf(event.op)},
               {"kind", NameOf(event.kind)},
               {"worker", event.worker},
               {"id", event.id}};
  if (!event.trial.empty()) {
    line["trial"] = event.trial;
    line["attempt"] = event.attempt;
  }
  if (event.ttl.count() != 0) line["ttl"] = event.ttl.count();
  if (!event.steps.empty()) line["steps"] = event.steps;
  if (event.value != 0.0) line["value"] = event.value;
  if (!event.said.empty()) line["said"] = event.said;
  return line;
}

template <typename Names>
int IndexOf(const Names& names, const std::string& name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return static_cast<int>(i);
  }
  return -1;
}

bool FromJson(const json& line, HistoryEvent* event) {
  if (!line.is_object()) return false;
  const int op = IndexOf(kOps, line.value("op", ""));
  const int kind = IndexOf(kKinds, line.value("kind", ""));
  if (op < 0 || kind < 0) return false;
  event->op = static_cast<HistoryEvent::Op>(op);
  event->kind = static_cast<HistoryEvent::Kind>(kind);
  event->time = SteadyTime(line.value("t", std::int64_t{0}));
  event->worker = line.value("worker", "");
  event->id = line.value("id", "");
  event->trial = line.value("trial", "");
  event->attempt = line.value("attempt", std::int64_t{0});
  event->ttl = Duration(line.value("ttl", std::int64_t{0}));
  event->steps = line.value("steps", decltype(event->steps)());
  event->value = line.value("value", 0.0);
  event->said = line.value("said", "");
  return true;
}

// What the JSON library throws ends here.
bool ParseLine(const std::string& text, HistoryEvent* event) {
  try {
    return FromJson(json::parse(text), event);
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace

const char* NameOf(HistoryEvent::Op op) {
  return kOps[static_cast<std::size_t>(op)];
}

const char* NameOf(HistoryEvent::Kind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

void WriteHistory(const History& history, std::ostream& out) {
  for (const HistoryEvent& event : history) out << ToJson(event) << '\n';
}

absl::StatusOr<History> ReadHistory(std::istream& in) {
  History history;
  for (std::string line; std::getline(in, line);) {
    HistoryEvent event;
    if (!ParseLine(line, &event)) {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("line ", history.size() + 1, " is no event"),
          "give a file that frostline-load --history wrote", "history");
    }
    history.push_back(std::move(event));
  }
  return history;
}

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
