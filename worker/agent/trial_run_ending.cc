// SPDX-License-Identifier: Apache-2.0
//
// How a run is told to end, and what is said of its end.
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/plain/predictions_file.h"
#include "worker/agent/outcome.h"
#include "worker/agent/trial_run.h"

namespace frostline::agent {
namespace {

// Between SIGTERM and SIGKILL.
constexpr Duration kTrialKillGrace = std::chrono::seconds(5);

}  // namespace

void TrialRun::FollowOrders(TrainerProcess& trainer) {
  const v1::Directive directive = held_.directive();
  const StopLevel level = context_.stop.level();
  if (directive.action() == v1::Directive::LEASE_LOST) {
    Log(LogLevel::kWarning, "lease_lost",
        {{"trial", lease_.trial()}, {"reason", directive.reason()}});
    trainer.Kill();
    outbox_.Abandon("");
    over_ = true;
    return;
  }
  const bool is_stopping = level >= StopLevel::kRelease;
  if (directive.action() == v1::Directive::STOP_CANCELLED) {
    Give(Order::kCancel, "cancelled", trainer);
  } else if (directive.action() == v1::Directive::STOP_PRUNED) {
    Give(Order::kPrune, "pruned", trainer);
  } else if (!is_stopping &&
             directive.action() == v1::Directive::CHECKPOINT_AND_RELEASE) {
    release_reason_ = v1::ReleaseRequest::DRAINED;
    Give(Order::kRelease, "drain", trainer);
  } else if (is_stopping || held_.forsaken()) {
    Give(Order::kRelease, "preempt", trainer);
  }
  const bool late =
      order_ != Order::kNone && context_.clock.Steady() >= order_deadline_;
  if (level != StopLevel::kNow && !late) return;
  trainer.Terminate(level == StopLevel::kNow ? Duration() : kTrialKillGrace);
  if (trainer.unkillable()) return FinishUnkillable(trainer);
  ConcludeOrder({});
}

void TrialRun::WatchProgress(TrainerProcess& trainer) {
  watch_.Look(context_.clock.Steady());
  if (order_ != Order::kNone || !watch_.hangs()) return;
  hang_ = watch_.Describe();
  Log(LogLevel::kWarning, "trainer_hangs",
      {{"trial", lease_.trial()}, {"cause", hang_}});
  Give(Order::kHang, "hang", trainer);
}

void TrialRun::Give(Order order, const std::string& reason,
                    TrainerProcess& trainer) {
  if (order <= order_) return;
  if (order_ == Order::kNone) {
    order_deadline_ = context_.clock.Steady() + context_.options.stop_grace;
  }
  order_ = order;
  order_reason_ = reason;
  Log(LogLevel::kInfo, "stopping_trial",
      {{"trial", lease_.trial()}, {"reason", reason}});
  trainer.Send(StopLine(reason));
}

void TrialRun::ConcludeOrder(v1::Outcome outcome) {
  if (order_ == Order::kRelease) return Release(order_reason_);
  if (order_ == Order::kHang) {
    outcome.set_kind(v1::Outcome::FAILED);
    outcome.set_failure(v1::FAILURE_CLASS_TRIAL);
    outcome.set_cause(hang_);
    return Finish(std::move(outcome));
  }
  outcome.set_kind(order_ == Order::kPrune ? v1::Outcome::PRUNED
                                           : v1::Outcome::CANCELLED);
  const std::string reason = held_.directive().reason();
  if (!reason.empty()) outcome.set_cause(reason);
  Finish(std::move(outcome));
}

// The cause is as frostline-trainer writes it. A file is missing or another
// one, or its entry is.
bool TrialRun::LacksStock(const v1::Outcome& outcome) const {
  const auto names = [&outcome](ErrorId id) {
    return absl::StartsWith(outcome.cause(), ErrorCode(id));
  };
  const bool may_lack =
      outcome.kind() == v1::Outcome::FAILED &&
      (names(ErrorId::kTrainerFile) || names(ErrorId::kTrainerMismatch) ||
       names(ErrorId::kTrainerMisuse));
  return may_lack && !context_.has_stock_for(lease_.spec());
}

const v1::Checkpoint* TrialRun::NewestCheckpoint() const {
  if (checkpoint_.step() >= 0) return &checkpoint_;
  return lease_.has_resume_from() ? &lease_.resume_from() : nullptr;
}

bool TrialRun::HasModel() const {
  std::error_code error;
  return !folder_.empty() &&
         std::filesystem::is_directory(
             std::filesystem::path(folder_) / kModelFolder, error);
}

bool TrialRun::LeavesWork() const {
  std::error_code error;
  return NewestCheckpoint() != nullptr || HasModel() ||
         (!folder_.empty() &&
          std::filesystem::is_directory(
              std::filesystem::path(folder_) / kPredictionsFolder, error));
}

void TrialRun::OfferModel(v1::Outcome& outcome) {
  // Where it lies is ours to say.
  if (outcome.has_usage()) outcome.mutable_usage()->clear_model();
  if (outcome.kind() != v1::Outcome::SUCCEEDED || !HasModel()) return;
  KeptModels& models = context_.run_folder.trials().models();
  if (!models.Offer(lease_.spec(), folder_, outcome)) return;
  // What goes with the trial's folder is worth no word.
  if (!KeepsEnded(context_.options.keep.policy, false, true)) return;
  auto model =
      DescribeModel(absl::StrCat(folder_, "/", kModelFolder), context_.host);
  if (!model.ok()) {
    Log(LogLevel::kWarning, "model_not_described",
        {{"trial", lease_.trial()},
         {"cause", std::string(model.status().message())}});
    return;
  }
  *outcome.mutable_usage()->mutable_model() = *std::move(model);
}

v1::LogPlace TrialRun::PlaceOfLog(std::int64_t end, bool is_kept) const {
  v1::LogPlace place;
  place.set_end(end);
  place.set_host(context_.host);
  if (folder_.empty()) return place;  // it never got so far
  place.set_path(TrialFolders::LogPath(folder_));
  place.set_kept(is_kept);
  return place;
}

void TrialRun::SendReports() {
  if (pending_.measurements_size() == 0 && !pending_.has_checkpoint() &&
      pending_.precision().empty()) {
    return;
  }
  *pending_.mutable_lease() = held_.proof();
  pending_.set_sequence(++reports_);
  outbox_.Add(pending_);
  FROSTLINE_FAILPOINT(kAgentReportSpooled);
  pending_.Clear();
  pending_bytes_ = 0;
  context_.courier.Ring();
}

void TrialRun::Finish(v1::Outcome outcome) {
  over_ = true;
  SendReports();  // a final message with all of them might be too large
  outcome_kind_ = outcome.kind();
  outcome_cause_ = outcome.cause();
  if (outcome.usage().total_seconds() == 0) {
    outcome.mutable_usage()->set_total_seconds(Elapsed());
  }
  OfferModel(outcome);
  LogTail::Piece log = log_.Tail();
  outcome.set_log_tail(std::move(log.text));
  if (const auto* newest = NewestCheckpoint()) {
    *outcome.mutable_checkpoint() = *newest;
  }
  v1::FinishRequest request;
  *request.mutable_lease() = held_.proof();
  const bool is_kept =
      KeepsEnded(context_.options.keep.policy,
                 outcome.kind() == v1::Outcome::FAILED, LeavesWork());
  *request.mutable_log_place() = PlaceOfLog(log.end, is_kept);
  *request.mutable_outcome() = std::move(outcome);
  outbox_.Add(request);
  FROSTLINE_FAILPOINT(kAgentFinishSpooled);
  context_.courier.Ring();
}

// Whoever wanted it pruned or cancelled gets that; it needs no result.
void TrialRun::FinishUnkillable(const TrainerProcess& trainer) {
  const absl::Status status = MakeError(
      ErrorId::kTrainerExited,
      absl::StrCat("process ", trainer.pid(),
                   " of the trainer lives on after SIGKILL: a disk or a GPU "
                   "that does not answer holds it in the kernel"),
      "see what holds it; its slot asks for no trials until it is gone");
  v1::Outcome outcome = FailedOutcome(v1::FAILURE_CLASS_INFRASTRUCTURE, status);
  if (order_ != Order::kPrune && order_ != Order::kCancel) {
    return Finish(std::move(outcome));
  }
  outcome.clear_failure();
  ConcludeOrder(std::move(outcome));
}

// Before anybody is told, so that it is there when another node asks. A second
// signal waits for nothing.
std::string TrialRun::SaveCheckpoint() const {
  const CheckpointHook& hook = context_.options.checkpoint_hook;
  if (hook.program.empty() || checkpoint_.step() < 0 ||
      context_.stop.level() == StopLevel::kNow) {
    return "";
  }
  const std::string key =
      TrialFolders::CheckpointKey(lease_.trial(), checkpoint_.id());
  const absl::Status saved =
      hook.Save(key, absl::StrCat(context_.run_folder.path(), "/trials/", key),
                [this] { return context_.stop.level() == StopLevel::kNow; });
  if (saved.ok()) return "";
  Log(LogLevel::kWarning, "checkpoint_not_saved",
      {{"trial", lease_.trial()},
       {"checkpoint", checkpoint_.id()},
       {"cause", std::string(saved.message())}});
  return std::string(saved.message());
}

void TrialRun::Release(const std::string& detail) {
  over_ = true;
  SendReports();
  const std::string unsaved = SaveCheckpoint();
  v1::ReleaseRequest request;
  *request.mutable_lease() = held_.proof();
  request.set_reason(release_reason_);
  LogTail::Piece log = log_.Tail();
  request.set_log_tail(std::move(log.text));
  // The trial goes on elsewhere, or here.
  *request.mutable_log_place() = PlaceOfLog(log.end, /*is_kept=*/true);
  if (const auto* newest = NewestCheckpoint()) {
    *request.mutable_checkpoint() = *newest;
  }
  request.set_detail(held_.forsaken()
                         ? "no word from the coordinator for too long"
                     : unsaved.empty() ? detail
                                       : absl::StrCat(detail, "; ", unsaved));
  outbox_.Add(request);
  FROSTLINE_FAILPOINT(kAgentReleaseSpooled);
  context_.courier.Ring();
}

}  // namespace frostline::agent
