// SPDX-License-Identifier: Apache-2.0
//
// What an agent says of itself, at first and when it changes.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "worker/agent/agent.h"

namespace frostline::agent {
namespace {

constexpr Duration kFirstRegisterPause = std::chrono::milliseconds(200);
constexpr Duration kLongestRegisterPause = std::chrono::seconds(5);
// Deliveries that may fail before the agent registers all the same.
constexpr int kMostUndelivered = 20;
// A second agent of the same id would answer each registration with its own.
constexpr Duration kConflictWindow = std::chrono::seconds(60);
constexpr int kMostConflicts = 3;
// For a look at the registry that somebody waits for.
constexpr Duration kLookPatience = std::chrono::seconds(10);
constexpr Duration kLookPause = std::chrono::milliseconds(100);

}  // namespace

v1::RegisterRequest Agent::Registration() {
  v1::RegisterRequest request;
  request.set_request_id(NewRequestId(clock_));
  request.set_worker_id(options_.id);
  v1::Worker* const worker = request.mutable_worker();
  worker->set_boot_id(boot_id_);
  worker->set_slots(std::max(1, options_.slots - held_up_));
  worker->set_version(FROSTLINE_VERSION);
  *worker->mutable_hardware() = hardware_;
  if (run_folder_ != nullptr) worker->set_run_folder(run_folder_->path());
  for (const auto& [key, value] : options_.labels) {
    (*worker->mutable_labels())[key] = value;
  }
  if (!options_.registry.empty()) *worker->mutable_stock() = stock_;
  for (const std::string& each :
       precisions_.value_or(std::set<std::string>())) {
    worker->add_precisions(each);
  }
  return request;
}

// Late results first: once registered, the coordinator takes the attempts of an
// earlier life for lost.
absl::StatusOr<v1::RegisterReply> Agent::RegisterFirst() {
  while (stock_watch_ != nullptr && stop_.level() == StopLevel::kRun &&
         !AwaitLook(/*number=*/1)) {
  }
  v1::RegisterRequest request;
  {
    const MutexLock lock(&register_mutex_);
    if (stock_watch_ != nullptr) stock_ = stock_watch_->last().stock;
    request = Registration();
    for (v1::LeftLog& log : left_logs_) {
      *request.add_left_logs() = std::move(log);
    }
    left_logs_.clear();
    is_registered_ = true;
  }
  Backoff backoff(kFirstRegisterPause, kLongestRegisterPause);
  Rng rng(std::hash<std::string>()(boot_id_));
  const SteadyTime start = clock_.Steady();
  absl::Status last;
  for (int undelivered = 0; stop_.level() == StopLevel::kRun;) {
    const bool delivered =
        courier_->DeliverOnce() || undelivered >= kMostUndelivered;
    if (delivered) {
      FROSTLINE_FAILPOINT(kAgentReplayed);
      auto reply = client_.Register(request);
      if (reply.ok() || !WorthRetrying(reply.status())) return reply;
      Log(LogLevel::kWarning, "not_registered",
          {{"cause", std::string(reply.status().message())}});
      last = reply.status();
    } else {
      ++undelivered;
    }
    const bool limited = options_.idle_timeout > Duration::zero();
    if (limited && clock_.Steady() - start >= options_.idle_timeout) break;
    wakeup_.WaitFor(backoff.Next(rng));
  }
  if (!last.ok()) return last;
  return MakeError(
      ErrorId::kCoordinatorAway,
      options_.connect + " did not take what is in the spool",
      "start it with `frostline serve --data frost`, or check --connect");
}

void Agent::RegisterAgain(SteadyTime refused_call) {
  const MutexLock lock(&register_mutex_);
  const SteadyTime now = clock_.Steady();
  // Every slot is refused at once; one of them has put it right.
  if (refused_call < registered_again_) return;
  if (now - conflict_window_ > kConflictWindow) {
    conflict_window_ = now;
    conflicts_ = 0;
  }
  if (++conflicts_ > kMostConflicts) {
    Log(LogLevel::kError, "id_taken",
        {{"id", options_.id}, {"fix", "give each agent its own --id"}});
    stop_.Raise(StopLevel::kRelease, kExitConflict, "the id is taken");
    return;
  }
  const absl::Status status = Register();
  Log(LogLevel::kWarning, "registered_again",
      {{"status", status.ok() ? "ok" : std::string(status.message())}});
  // As a coordinator does that is of another version by now.
  if (absl::IsInvalidArgument(status)) {
    stop_.Raise(StopLevel::kRelease, ExitCodeOf(status),
                "the coordinator does not take this worker");
  }
}

absl::Status Agent::Register() {
  const auto reply = client_.Register(Registration());
  is_registered_ = reply.ok();
  if (reply.ok()) registered_again_ = clock_.Steady();
  return reply.status();
}

void Agent::CountIdleSlots(int more) {
  const MutexLock lock(&register_mutex_);
  is_registered_ = false;
  held_up_ += more;
  registrar_wakeup_.Ring();
}

void Agent::NoteRetired() {
  const MutexLock lock(&register_mutex_);
  if (++retired_ < options_.slots) return;
  Log(LogLevel::kError, "no_slot_left",
      {{"fix", "restart the node: what its trainers left cannot be killed"}});
  stop_.Raise(StopLevel::kDone, kExitFailure, "no slot is left");
}

bool Agent::AwaitLook(std::int64_t number) {
  const SteadyTime until = clock_.Steady() + kLookPatience;
  while (clock_.Steady() < until && stop_.level() < StopLevel::kRelease) {
    if (stock_watch_->Await(number, kLookPause)) return true;
  }
  Log(LogLevel::kWarning, "registry_hangs", {{"registry", options_.registry}});
  return false;
}

// An update of our own, no conflict. A coordinator that is away is told at the
// next look.
void Agent::TellChanges() {
  const MutexLock lock(&register_mutex_);
  v1::Stock stock;
  if (stock_watch_ != nullptr) stock = stock_watch_->last().stock;
  const bool same = stock.SerializeAsString() == stock_.SerializeAsString();
  if (same && is_registered_) return;
  stock_ = std::move(stock);
  is_registered_ = false;
  const absl::Status status = Register();
  Log(status.ok() ? LogLevel::kInfo : LogLevel::kWarning,
      "registration_changed",
      {{"slots", absl::StrCat(options_.slots - held_up_)},
       {"models", absl::StrCat(stock_.models_size())},
       {"data_sets", absl::StrCat(stock_.data_sets_size())},
       {"status", status.ok() ? "ok" : std::string(status.message())}});
}

// Where the disk does not answer, what it had at last counts.
bool Agent::HasStock(const v1::TrialSpec& spec) {
  if (stock_watch_ == nullptr) return true;
  AwaitLook(stock_watch_->Ask());
  TellChanges();
  return HasStockFor(stock_watch_->last().stock, spec);
}

// GPUs of a node may differ: what one of them lacks the worker has not.
void Agent::NotePrecisions(const std::vector<std::string>& precisions) {
  if (precisions.empty()) return;
  const MutexLock lock(&register_mutex_);
  const std::set<std::string> offered(precisions.begin(), precisions.end());
  const std::set<std::string> known = precisions_.value_or(offered);
  std::set<std::string> both;
  std::set_intersection(offered.begin(), offered.end(), known.begin(),
                        known.end(), std::inserter(both, both.end()));
  if (precisions_ == both) return;
  precisions_ = std::move(both);
  is_registered_ = false;
  registrar_wakeup_.Ring();
}

void Agent::KeepRegistered() {
  while (stop_.level() == StopLevel::kRun) {
    registrar_wakeup_.WaitFor(options_.stock_interval);
    if (stop_.level() == StopLevel::kRun) TellChanges();
  }
}

}  // namespace frostline::agent
