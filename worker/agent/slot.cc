// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/slot.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace frostline {
namespace {

constexpr Duration kExitGrace = std::chrono::seconds(2);
constexpr Duration kKillGrace = std::chrono::seconds(2);
// For the last words, once the agent has been told to go.
constexpr Duration kLastDelivery = std::chrono::seconds(5);
constexpr Duration kLongSleep = std::chrono::hours(1);

}  // namespace

void Slot::RunTrial(const v1::Lease& lease) {
  Log(LogLevel::kInfo, "trial_started",
      {{"trial", lease.trial()},
       {"attempt", absl::StrCat(lease.attempt())},
       {"slot", absl::StrCat(number_)}});
  ++context_.busy;
  log_.Clear();
  const auto held =
      std::make_shared<HeldLease>(lease, context_.clock, wakeup_, log_);
  context_.keeper.Hold(held);
  auto file = SpoolFile::Create(context_.run_folder.SpoolPath(held->proof()),
                                held->proof());
  if (!file.ok()) {
    Log(LogLevel::kError, "not_spooled",
        {{"trial", lease.trial()},
         {"cause", std::string(file.status().message())}});
  }
  const auto outbox = std::make_shared<Outbox>(
      held->proof(), file.ok() ? *std::move(file) : nullptr, &wakeup_);
  context_.courier.Adopt(outbox);
  TrialRun run(context_, lease, *held, *outbox, wakeup_, log_);
  RunOnTrainer(lease, run);
  AwaitDelivery(*outbox);
  context_.keeper.LetGo(held);
  Tidy(run, *outbox);
  context_.idle_since = context_.clock.Steady().count();
  --context_.busy;
  if (run.could_not_start()) {
    wakeup_.WaitFor(start_pause_.Next(rng_));
  } else {
    start_pause_.Reset();
  }
}

void Slot::RunOnTrainer(const v1::Lease& lease, TrialRun& run) {
  const auto folder = context_.run_folder.MakeTrialFolder(lease);
  if (!folder.ok()) return run.FailToStart(folder.status());
  const std::string checkpoint = context_.run_folder.FindCheckpoint(lease);
  while (true) {
    const TrainerProcess* const before = trainer_.get();
    const absl::Status started = EnsureTrainer();
    if (!started.ok()) return run.FailToStart(started);
    const bool used = trainer_.get() == before;
    const bool taken = run.Run(*trainer_, used, *folder, checkpoint);
    if (!run.trainer_is_ready()) trainer_.reset();
    // A trainer for one trial may have been on its way out.
    if (taken) return;
  }
}

absl::Status Slot::EnsureTrainer() {
  // One that ended after its finish is no failure.
  if (trainer_ != nullptr) {
    for (const std::string& line : trainer_->Wait(wakeup_, Duration()).lines) {
      log_.Append(line + "\n");
    }
    if (!trainer_->ended()) return absl::OkStatus();
  }
  TrainerCommand command;
  command.command = context_.options.exec;
  command.environment = {"FROSTLINE_WORKER=" + context_.options.id,
                         absl::StrCat("FROSTLINE_SLOT=", number_),
                         absl::StrCat("FROSTLINE_PROTOCOL=", kProtocolVersion)};
  if (!gpu_.empty()) {
    command.environment.push_back("CUDA_VISIBLE_DEVICES=" + gpu_);
  }
  ASSIGN_OR_RETURN(trainer_, TrainerProcess::Start(command, log_));
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
  // A failed attempt is worth a look, and a checkpoint somebody may ask for.
  const bool ended = run.outcome_kind() != v1::Outcome::KIND_UNSPECIFIED &&
                     run.outcome_kind() != v1::Outcome::FAILED;
  const bool wanted = context_.options.keep_files || run.has_checkpoint();
  if (outbox.done() && ended && !wanted) {
    context_.run_folder.RemoveTrialFolders(outbox.lease());
  }
}

// Granted too late: the agent is leaving.
void Slot::HandBack(const v1::Lease& lease) {
  v1::ReleaseRequest request;
  request.mutable_lease()->set_trial(lease.trial());
  request.mutable_lease()->set_attempt(lease.attempt());
  request.mutable_lease()->set_secret(lease.secret());
  request.set_reason(v1::ReleaseRequest::UNRUN);
  request.set_detail(context_.stop.why());
  const auto released = context_.client.Release(request);
  if (!released.ok()) {
    Log(LogLevel::kWarning, "not_released", {{"trial", lease.trial()}});
  }
}

void Slot::EndTrainer() {
  if (trainer_ == nullptr) return;
  trainer_->Send(ExitLine());
  trainer_->CloseInput();
  const SteadyTime deadline = context_.clock.Steady() + kExitGrace;
  while (!trainer_->ended() && context_.clock.Steady() < deadline) {
    const auto output =
        trainer_->Wait(wakeup_, deadline - context_.clock.Steady());
    if (output.overlong) break;
  }
  trainer_->Terminate(kKillGrace);
  trainer_.reset();
}

}  // namespace frostline
