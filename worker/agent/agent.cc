// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/agent.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/request_id.h"
#include "base/status_macros.h"
#include "proto/wire_time.h"
#include "worker/agent/outcome.h"

namespace frostline::agent {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(200);
constexpr Duration kLongestPause = std::chrono::seconds(5);
constexpr Duration kLeastInterval = std::chrono::milliseconds(10);
// Deliveries that may fail before the agent registers all the same.
constexpr int kMostUndelivered = 20;
// A second agent of the same id would answer each registration with its own.
constexpr Duration kConflictWindow = std::chrono::seconds(60);
constexpr int kMostConflicts = 3;

}  // namespace

Agent::Agent(AgentOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      boot_id_(RandomHexId()),
      hardware_(DetectHardware(options_.gpu_folder)),
      client_(options_.connect) {
  stop_.Notify(&wakeup_);
  if (options_.registry.empty()) return;
  const MutexLock lock(&stock_mutex_);
  stock_reader_ = std::make_unique<StockReader>(options_.registry);
}

Agent::~Agent() { Shutdown(); }

void Agent::Stop(StopLevel level, ExitCode exit_code, const std::string& why) {
  Log(LogLevel::kInfo, "stopping", {{"why", why}});
  stop_.Raise(level, exit_code, why);
}

absl::StatusOr<ExitCode> Agent::Run() {
  ASSIGN_OR_RETURN(plan_, PlanSlots(options_, hardware_, [](const char* name) {
                     return std::getenv(name);
                   }));
  options_.slots = static_cast<int>(plan_.size());
  ASSIGN_OR_RETURN(run_folder_, RunFolder::Open(options_.run_dir, options_.id));
  courier_ = std::make_unique<Courier>(client_, run_folder_->RejectedFolder(),
                                       [this](const v1::Directive& directive) {
                                         if (keeper_ != nullptr)
                                           keeper_->Obey(directive);
                                       });
  for (const RunFolder::Orphan& orphan : run_folder_->Adopt()) {
    AdoptOrphan(orphan);
  }
  const auto registered = RegisterFirst();
  // Told to go before it began: nothing is lost.
  if (stop_.level() != StopLevel::kRun) return stop_.exit_code();
  if (!registered.ok()) return registered.status();
  RETURN_IF_ERROR(StartSlots(*registered));
  LiveOn();
  client_.CancelAcquires();
  for (const auto& slot : slots_) slot->Join();
  Shutdown();
  return stop_.exit_code();
}

// This thread has nothing else to do, and a slow disk may hold it up.
void Agent::LiveOn() {
  SteadyTime looked = clock_.Steady();
  while (stop_.level() == StopLevel::kRun) {
    wakeup_.WaitFor(options_.stock_interval);
    if (clock_.Steady() - looked < options_.stock_interval) continue;
    if (stop_.level() != StopLevel::kRun) return;
    const MutexLock lock(&stock_mutex_);
    KeepRegistered(/*anew=*/false);
    looked = clock_.Steady();
  }
}

void Agent::AdoptOrphan(const RunFolder::Orphan& orphan) {
  SpoolContent content;
  auto file = SpoolFile::Reopen(orphan.path, &content);
  if (!file.ok()) {
    Log(LogLevel::kError, "spool_unreadable",
        {{"path", orphan.path},
         {"cause", std::string(file.status().message())}});
    return;
  }
  Log(LogLevel::kInfo, "spool_adopted",
      {{"path", orphan.path},
       {"records", absl::StrCat(content.records.size())}});
  const auto outbox =
      std::make_shared<Outbox>(std::move(content), *std::move(file));
  if (orphan.own) {
    // Registering with a new boot id gives an unended attempt back to us.
    outbox->Close();
  } else {
    // Nobody else will say that its trainer died with its agent.
    v1::FinishRequest lost;
    *lost.mutable_lease() = outbox->lease();
    *lost.mutable_outcome() = FailedOutcome(
        v1::FAILURE_CLASS_INFRASTRUCTURE,
        MakeError(ErrorId::kTrainerExited, "its agent ended without a word",
                  "see the agent's log"));
    outbox->Add(lost);
  }
  courier_->Adopt(outbox);
}

v1::RegisterRequest Agent::Registration() {
  v1::RegisterRequest request;
  request.set_request_id(NewRequestId(clock_));
  request.set_worker_id(options_.id);
  v1::Worker* const worker = request.mutable_worker();
  worker->set_boot_id(boot_id_);
  worker->set_slots(std::max(1, options_.slots - retired_));
  worker->set_version(FROSTLINE_VERSION);
  *worker->mutable_hardware() = hardware_;
  for (const auto& [key, value] : options_.labels) {
    (*worker->mutable_labels())[key] = value;
  }
  if (!options_.registry.empty()) *worker->mutable_stock() = stock_;
  return request;
}

// Late results first: once registered, the coordinator takes the attempts of an
// earlier life for lost.
absl::StatusOr<v1::RegisterReply> Agent::RegisterFirst() {
  v1::RegisterRequest request;
  {
    const MutexLock stock_lock(&stock_mutex_);
    const MutexLock lock(&register_mutex_);
    if (stock_reader_ != nullptr) stock_ = stock_reader_->Read(/*anew=*/true);
    request = Registration();
    is_registered_ = true;
  }
  Backoff backoff(kFirstPause, kLongestPause);
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
  return MakeError(ErrorId::kCoordinatorAway,
                   options_.connect + " did not take what is in the spool",
                   "start it with `frostline serve`, or check --connect");
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
}

absl::Status Agent::Register() {
  const auto reply = client_.Register(Registration());
  is_registered_ = reply.ok();
  if (reply.ok()) registered_again_ = clock_.Steady();
  return reply.status();
}

void Agent::NoteRetired() {
  const MutexLock lock(&register_mutex_);
  is_registered_ = false;
  if (++retired_ < options_.slots) return;
  Log(LogLevel::kError, "no_slot_left",
      {{"fix", "restart the node: what its trainers left cannot be killed"}});
  stop_.Raise(StopLevel::kDone, kExitFailure, "no slot is left");
}

// An update of our own, no conflict. A coordinator that is away is told at the
// next look.
void Agent::KeepRegistered(bool anew) {
  v1::Stock stock;
  if (stock_reader_ != nullptr) stock = stock_reader_->Read(anew);
  const MutexLock lock(&register_mutex_);
  const bool same = stock.SerializeAsString() == stock_.SerializeAsString();
  if (same && is_registered_) return;
  stock_ = std::move(stock);
  is_registered_ = false;
  const absl::Status status = Register();
  Log(status.ok() ? LogLevel::kInfo : LogLevel::kWarning,
      "registration_changed",
      {{"slots", absl::StrCat(options_.slots - retired_)},
       {"models", absl::StrCat(stock_.models_size())},
       {"data_sets", absl::StrCat(stock_.data_sets_size())},
       {"status", status.ok() ? "ok" : std::string(status.message())}});
}

bool Agent::HasStock(const v1::TrialSpec& spec) {
  const MutexLock stock_lock(&stock_mutex_);
  if (stock_reader_ == nullptr) return true;
  KeepRegistered(/*anew=*/true);
  const MutexLock lock(&register_mutex_);
  return HasStockFor(stock_, spec);
}

absl::Status Agent::StartSlots(const v1::RegisterReply& registered) {
  FROSTLINE_FAILPOINT(kAgentRegistered);
  const std::string name = WorkerNameOf(options_.id);
  janitor_ = std::make_unique<Janitor>(run_folder_->trials(), options_.keep);
  keeper_ = std::make_unique<LeaseKeeper>(
      client_, clock_, name, boot_id_,
      LeaseKeeper::Hooks{
          .heard = [this] { courier_->EndPause(); },
          .unknown = [this](SteadyTime sent) { RegisterAgain(sent); }});
  // NOLINTNEXTLINE(modernize-make-unique): an aggregate of references.
  context_ = std::unique_ptr<SlotContext>(new SlotContext{
      options_, clock_, client_, *run_folder_, *janitor_, *keeper_, *courier_,
      stop_, name, boot_id_, [this](SteadyTime sent) { RegisterAgain(sent); },
      [this](const v1::TrialSpec& spec) { return HasStock(spec); },
      [this] { NoteRetired(); }});
  context_->idle_since = clock_.Steady().count();
  const Duration interval =
      proto::DurationFromProto(registered.heartbeat_interval());
  if (interval < kLeastInterval) {
    return MakeError(ErrorId::kRequestInvalid,
                     "the coordinator gives no heartbeat interval",
                     "use a coordinator of this version");
  }
  Log(LogLevel::kInfo, "registered",
      {{"worker", name},
       {"coordinator", options_.connect},
       {"slots", absl::StrCat(options_.slots)},
       {"own_trials", absl::StrCat(registered.own_trials_size())}});
  keeper_->Start(interval);
  courier_->Start();
  for (int i = 0; i < options_.slots; ++i) {
    slots_.push_back(std::make_unique<Slot>(
        *context_, i, plan_[static_cast<std::size_t>(i)]));
    slots_.back()->Start();
  }
  return absl::OkStatus();
}

void Agent::Shutdown() {
  stop_.Raise(StopLevel::kNow, stop_.exit_code(), "shutdown");
  client_.CancelAll();
  for (const auto& slot : slots_) slot->Join();
  if (keeper_ != nullptr) keeper_->Stop();
  if (courier_ != nullptr) courier_->Stop();
}

}  // namespace frostline::agent
