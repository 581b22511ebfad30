// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/slot.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "proto/wire_time.h"

namespace frostline::agent {
namespace {

constexpr Duration kExitGrace = std::chrono::seconds(2);
constexpr Duration kKillGrace = std::chrono::seconds(2);
// For the last words, once the agent has been told to go.
constexpr Duration kLastDelivery = std::chrono::seconds(5);
constexpr Duration kLongSleep = std::chrono::hours(1);
constexpr Duration kLateLook = std::chrono::seconds(1);

absl::Status LivesOn() {
  return MakeError(ErrorId::kTrainerExited,
                   "the trainer before lives on after SIGKILL",
                   "see slot_held_up in the agent's log");
}

}  // namespace

void Slot::RunTrial(const v1::Lease& lease) {
  Log(LogLevel::kInfo, "trial_started",
      {{"trial", lease.trial()},
       {"attempt", absl::StrCat(lease.attempt())},
       {"slot", absl::StrCat(number_)}});
  ++context_.busy;
  log_.Clear();
  const TrialFolders::Use own(context_.run_folder.trials(), lease.trial());
  const Duration ttl = proto::DurationFromProto(lease.ttl());
  const auto held = std::make_shared<HeldLease>(
      lease, RenewalWatch(ttl, context_.options.orphan_limit, acquire_sent_),
      context_.clock, wakeup_, log_);
  // What was parked for long has used up much of its first TTL.
  context_.keeper.Hold(held, context_.clock.Steady() - acquire_sent_ > ttl / 4);
  const auto outbox = OpenOutbox(held->proof());
  FROSTLINE_FAILPOINT(kAgentSpooling);
  TrialRun run(context_, lease, *held, *outbox, wakeup_, log_);
  RunOnTrainer(lease, run);
  AwaitDelivery(*outbox);
  context_.keeper.LetGo(held);
  log_.Follow(nullptr);
  Tidy(run, *outbox);
  context_.idle_since = context_.clock.Steady().count();
  --context_.busy;
  if (run.could_not_start()) {
    wakeup_.WaitFor(start_pause_.Next(rng_));
  } else {
    start_pause_.Reset();
  }
}

std::shared_ptr<Outbox> Slot::OpenOutbox(const v1::LeaseRef& lease) {
  auto file = SpoolFile::Create(context_.run_folder.SpoolPath(lease), lease);
  if (!file.ok()) {
    Log(LogLevel::kError, "not_spooled",
        {{"trial", lease.trial()},
         {"cause", std::string(file.status().message())}});
  }
  auto outbox = std::make_shared<Outbox>(
      lease, file.ok() ? *std::move(file) : nullptr, &wakeup_);
  context_.courier.Adopt(outbox);
  return outbox;
}

void Slot::RunOnTrainer(const v1::Lease& lease, TrialRun& run) {
  const TrialFolders::Use source(context_.run_folder.trials(),
                                 TrialFolders::CheckpointTrial(lease));
  const auto folder = context_.run_folder.trials().Make(lease);
  if (!folder.ok()) return run.FailToStart(folder.status());
  log_.Follow(std::make_unique<LogFile>(TrialFolders::LogPath(*folder)));
  const std::string checkpoint = FindCheckpoint(lease);
  while (true) {
    const int before = trainers_;
    const absl::Status started = EnsureTrainer();
    if (!started.ok()) return run.FailToStart(started);
    const bool used = trainers_ == before;
    const bool taken = run.Run(*trainer_, used, *folder, checkpoint);
    if (!run.trainer_is_ready()) DropTrainer();
    if (taken) return;
    // A trainer for one trial may have been on its way out.
    if (IsHeldUp()) return run.FailToStart(LivesOn());
  }
}

std::string Slot::FindCheckpoint(const v1::Lease& lease) {
  if (!lease.has_resume_from()) return "";
  const auto path = context_.run_folder.trials().FindCheckpoint(lease);
  if (path.ok()) return *path;
  const std::string why(path.status().message());
  Log(LogLevel::kWarning, "not_resumed",
      {{"trial", lease.trial()},
       {"checkpoint", lease.resume_from().id()},
       {"cause", why}});
  log_.Append(absl::StrCat("frostline: begins anew, without the checkpoint ",
                           lease.resume_from().id(), ": ", why, "\n"));
  return "";
}

absl::Status Slot::EnsureTrainer() {
  // One that ended after its finish is no failure.
  if (trainer_ != nullptr) {
    for (const std::string& line : trainer_->Wait(wakeup_, Duration()).lines) {
      log_.Append(line + "\n");
    }
    if (!trainer_->ended()) {
      const bool is_old = generation_ != context_.registry_generation();
      return is_old ? RenewTrainer() : absl::OkStatus();
    }
  }
  return StartTrainer();
}

absl::Status Slot::RenewTrainer() {
  Log(LogLevel::kInfo, "trainer_renewed",
      {{"slot", absl::StrCat(number_)}, {"cause", "the registry changed"}});
  AskToExit();
  DropTrainer();
  return IsHeldUp() ? LivesOn() : StartTrainer();
}

absl::Status Slot::StartTrainer() {
  // Before it starts: it may read a newer registry, never an older one.
  generation_ = context_.registry_generation();
  TrainerCommand command;
  command.command = context_.options.exec;
  command.environment = {"FROSTLINE_WORKER=" + context_.options.id,
                         absl::StrCat("FROSTLINE_SLOT=", number_),
                         absl::StrCat("FROSTLINE_PROTOCOL=", kProtocolVersion)};
  if (!context_.options.registry.empty()) {
    command.environment.push_back("FROSTLINE_REGISTRY=" +
                                  context_.options.registry);
  }
  command.environment.insert(command.environment.end(), environment_.begin(),
                             environment_.end());
  ASSIGN_OR_RETURN(trainer_, TrainerProcess::Start(command, log_));
  ++trainers_;
  return absl::OkStatus();
}

void Slot::AwaitDelivery(const Outbox& outbox) {
  const SteadyTime start = context_.clock.Steady();
  while (!outbox.done()) {
    const bool leaving = context_.stop.level() >= StopLevel::kRelease;
    const Duration waited = context_.clock.Steady() - start;
    if (leaving && waited >= kLastDelivery) return;  // stays in the spool
    wakeup_.WaitFor(leaving ? kLastDelivery - waited : kLongSleep);
  }
}

void Slot::Tidy(const TrialRun& run, const Outbox& outbox) {
  Log(LogLevel::kInfo, "trial_ended",
      {{"trial", outbox.lease().trial()},
       {"kind", v1::Outcome::Kind_Name(run.outcome_kind())},
       {"verdict", v1::FinishReply::Verdict_Name(outbox.verdict())}});
  const v1::Outcome::Kind kind = run.outcome_kind();
  if (!outbox.done() || kind == v1::Outcome::KIND_UNSPECIFIED) return;
  const bool failed = kind == v1::Outcome::FAILED;
  const bool leaves_work = run.LeavesWork();
  TrialFolders& folders = context_.run_folder.trials();
  const auto verdict = outbox.verdict();
  const bool ended = verdict == v1::FinishReply::ACCEPTED ||
                     verdict == v1::FinishReply::CANCELLED;
  if (ended) folders.MarkEnded(outbox.lease(), failed, leaves_work);
  FROSTLINE_FAILPOINT(kAgentEndMarked);
  // Tried again: its checkpoint and its log are of use.
  const bool superseded = verdict == v1::FinishReply::SUPERSEDED;
  if ((ended || superseded) &&
      !KeepsEnded(context_.options.keep.policy, failed, leaves_work)) {
    folders.RemoveAttempts(outbox.lease());
  }
}

// Granted too late: the agent is leaving. Spooled, like all that must be said.
void Slot::HandBack(const v1::Lease& lease) {
  v1::ReleaseRequest request;
  request.mutable_lease()->set_trial(lease.trial());
  request.mutable_lease()->set_attempt(lease.attempt());
  request.mutable_lease()->set_secret(lease.secret());
  request.set_reason(v1::ReleaseRequest::UNRUN);
  request.set_detail(context_.stop.why());
  const auto outbox = OpenOutbox(request.lease());
  outbox->Add(request);
  context_.courier.Ring();
  AwaitDelivery(*outbox);
}

void Slot::DropTrainer() {
  trainer_->Kill();
  if (!trainer_->unkillable()) trainer_.reset();
}

bool Slot::IsHeldUp() const {
  return trainer_ != nullptr && trainer_->unkillable();
}

void Slot::AwaitLateEnd() {
  Log(LogLevel::kWarning, "slot_held_up",
      {{"slot", absl::StrCat(number_)},
       {"process", absl::StrCat(trainer_->pid())},
       {"cause", "it lives on after SIGKILL"},
       {"fix", "see what holds it (its /proc/PID/stack)"}});
  context_.slot_held_up();
  const SteadyTime until =
      context_.clock.Steady() + context_.options.unkillable_patience;
  while (context_.stop.level() == StopLevel::kRun) {
    if (trainer_->EndedAtLast()) {
      trainer_.reset();
      Log(LogLevel::kInfo, "slot_freed", {{"slot", absl::StrCat(number_)}});
      return context_.slot_freed();
    }
    retired_ = context_.clock.Steady() >= until;
    if (retired_) break;
    wakeup_.WaitFor(kLateLook);
  }
  if (!retired_) return;
  Log(LogLevel::kError, "slot_retired",
      {{"slot", absl::StrCat(number_)},
       {"process", absl::StrCat(trainer_->pid())},
       {"cause", "it lives on after SIGKILL"},
       {"fix", "restart the node"}});
}

void Slot::AskToExit() {
  trainer_->Send(ExitLine());
  trainer_->CloseInput();
  const SteadyTime deadline = context_.clock.Steady() + kExitGrace;
  while (!trainer_->ended() && !trainer_->unkillable() &&
         context_.clock.Steady() < deadline) {
    const auto output =
        trainer_->Wait(wakeup_, deadline - context_.clock.Steady());
    if (output.overlong) break;
  }
}

void Slot::EndTrainer() {
  if (trainer_ == nullptr) return;
  AskToExit();
  trainer_->Terminate(kKillGrace);
  trainer_.reset();
}

}  // namespace frostline::agent
