// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trial_run.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "worker/agent/checkpoint_id.h"
#include "worker/agent/outcome.h"

namespace frostline::agent {
namespace {

constexpr Duration kLongestTrainerWait = std::chrono::seconds(60);
constexpr int kMostMeasurementsHeld = 1'000;
// Of the 1 MiB of a request.
constexpr std::size_t kMostReportBytes = std::size_t{256} << 10;

}  // namespace

TrialRun::TrialRun(SlotContext& context, const v1::Lease& lease,
                   HeldLease& held, Outbox& outbox, Wakeup& wakeup,
                   LogTail& log)
    : context_(context),
      lease_(lease),
      held_(held),
      outbox_(outbox),
      wakeup_(wakeup),
      log_(log),
      start_(context.clock.Steady()),
      watch_(context.options.hang_after, start_) {
  checkpoint_.set_step(-1);
}

double TrialRun::Elapsed() const {
  return std::chrono::duration<double>(context_.clock.Steady() - start_)
      .count();
}

bool TrialRun::Run(TrainerProcess& trainer, bool used,
                   const std::string& folder,
                   const std::string& checkpoint_path) {
  folder_ = folder;
  // What it wrote after its last finish belongs to no trial.
  for (const std::string& line : trainer.Wait(wakeup_, Duration()).lines) {
    log_.Append(line + "\n");
  }
  std::vector<std::string> takes;
  if (context_.takes_evaluations) takes.emplace_back("evaluations");
  trainer.Send(TrialLine(lease_, folder, checkpoint_path, takes));
  FROSTLINE_FAILPOINT(kAgentStarted);
  while (!over_) {
    Duration patience = kLongestTrainerWait;
    if (order_ != Order::kNone) {
      patience = order_deadline_ - context_.clock.Steady();
    }
    const auto output = trainer.Wait(wakeup_, patience);
    for (const std::string& line : output.lines) Take(line, trainer);
    if (!over_ && output.overlong) TakeOverlong(trainer);
    if (!over_) SendReports();
    if (!over_ && output.ended) {
      if (used && !spoke_ && order_ == Order::kNone) return false;
      TakeExit(trainer);
    }
    if (!over_ && trainer.unkillable()) FinishUnkillable(trainer);
    if (!over_) WatchProgress(trainer);
    if (!over_) FollowOrders(trainer);
  }
  return true;
}

void TrialRun::FailToStart(const absl::Status& status) {
  could_not_start_ = true;
  Finish(FailedOutcome(v1::FAILURE_CLASS_INFRASTRUCTURE, status));
}

void TrialRun::Take(const std::string& line, TrainerProcess& trainer) {
  const auto message = ParseTrainerLine(line);
  if (!message.ok()) {
    // Its state is unknown, whatever was over before.
    trainer_is_ready_ = false;
    return over_ ? trainer.Kill() : Reject(message.status(), trainer);
  }
  const auto* const text = std::get_if<LogMessage>(&*message);
  spoke_ = spoke_ || text == nullptr;
  // What it prints besides may come from a loop that gets nowhere.
  const bool is_sign = text == nullptr || text->is_message;
  if (is_sign) watch_.NoteSign(context_.clock.Steady());
  if (text != nullptr) {
    log_.Append(text->text + "\n");
  } else if (over_) {
    log_.Append(line + "\n");
  } else if (const auto* report = std::get_if<ReportMessage>(&*message)) {
    TakeReport(*report, trainer);
  } else if (const auto* saved = std::get_if<CheckpointMessage>(&*message)) {
    TakeCheckpoint(*saved);
  } else if (const auto* finish = std::get_if<FinishMessage>(&*message)) {
    TakeFinish(*finish);
  } else if (const auto* hello = std::get_if<HelloMessage>(&*message)) {
    Log(LogLevel::kInfo, "trainer", {{"software", hello->software}});
  }
}

// What it does without a step: the same one again, or none yet.
bool TrialRun::TellsPhaseAlone(const ReportMessage& report) const {
  if (!report.metrics.empty() || !report.progress.has_value()) return false;
  const std::string& phase = report.progress->phase;
  const bool prepares = phase == "loading" || phase == "filling";
  return report.step == last_step_ ||
         (last_step_ < 0 && report.step == 0 && prepares);
}

void TrialRun::TakeReport(const ReportMessage& report,
                          TrainerProcess& trainer) {
  if (report.progress.has_value()) held_.NoteProgress(*report.progress);
  if (TellsPhaseAlone(report)) return;
  // A step that was told alone, as with the precision of a trial that goes on
  // at an evaluation, may still be measured.
  const bool completes =
      report.step == last_step_ && !has_measured_ && !report.metrics.empty();
  if (report.step <= last_step_ && !completes) {
    return Reject(MakeError(ErrorId::kTrainerProtocol,
                            absl::StrCat("step ", report.step,
                                         " comes after step ", last_step_),
                            "number a trial's reports upwards", "step"),
                  trainer);
  }
  last_step_ = report.step;
  has_measured_ = !report.metrics.empty();
  held_.NoteStep(report.step, report.total_steps);
  watch_.NoteStep(context_.clock.Steady());
  context_.note_precisions(report.precisions);
  if (!report.precision.empty()) {
    pending_.set_precision(report.precision);
    SendReports();  // others may be waiting to begin in another
  }
  if (report.metrics.empty()) return;  // progress alone
  v1::Measurement* const measurement = pending_.add_measurements();
  measurement->set_step(report.step);
  measurement->set_elapsed_s(Elapsed());
  for (const auto& [name, value] : report.metrics) {
    (*measurement->mutable_metrics())[name] = value;
  }
  pending_bytes_ += measurement->ByteSizeLong();
  if (pending_.measurements_size() == kMostMeasurementsHeld ||
      pending_bytes_ > kMostReportBytes) {
    SendReports();
  }
}

void TrialRun::TakeCheckpoint(const CheckpointMessage& message) {
  FROSTLINE_FAILPOINT(kAgentCheckpointed);
  checkpoint_ = message.checkpoint;
  if (checkpoint_.bytes() == 0) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(
        std::filesystem::path(folder_) / checkpoint_.id(), error);
    if (!error) checkpoint_.set_bytes(static_cast<std::int64_t>(bytes));
  }
  checkpoint_.set_id(PrintCheckpointId(held_.proof(), checkpoint_.id()));
  *pending_.mutable_checkpoint() = checkpoint_;
  if (order_ == Order::kRelease) Release(order_reason_);
}

void TrialRun::TakeFinish(const FinishMessage& finish) {
  using State = FinishMessage::State;
  FROSTLINE_FAILPOINT(kAgentFinishTaken);
  // What memory ran out under may be left half made: the next trial gets a new
  // process.
  trainer_is_ready_ = finish.failure != v1::FAILURE_CLASS_OUT_OF_MEMORY;
  const bool has_result = finish.state == State::kSucceeded ||
                          finish.state == State::kInfeasible ||
                          finish.state == State::kPruned;
  const bool overtook =
      (order_ == Order::kRelease || order_ == Order::kHang) && has_result;
  if (order_ == Order::kNone || overtook) {
    v1::Outcome outcome = OutcomeOf(finish, lease_.spec());
    context_.note_precisions(finish.precisions);
    if (!finish.is_unfit && !LacksStock(outcome)) {
      return Finish(std::move(outcome));
    }
    could_not_start_ = true;
    release_reason_ = v1::ReleaseRequest::NOT_IN_STOCK;
    return Release(outcome.cause());
  }
  ConcludeOrder(DetailsOf(finish));
}

void TrialRun::TakeExit(const TrainerProcess& trainer) {
  if (order_ != Order::kNone) return ConcludeOrder({});
  v1::Outcome outcome = OutcomeOfExit(trainer.wait_status(), spoke_);
  could_not_start_ = !spoke_;
  Finish(std::move(outcome));
}

void TrialRun::TakeOverlong(TrainerProcess& trainer) {
  Reject(MakeError(ErrorId::kTrainerProtocol,
                   absl::StrCat("a line is over ", kMaxLineBytes, " bytes"),
                   "see docs/reference/trainer-protocol.md"),
         trainer);
}

void TrialRun::Reject(const absl::Status& mistake, TrainerProcess& trainer) {
  trainer.Kill();
  if (trainer.unkillable()) return FinishUnkillable(trainer);
  Finish(FailedOutcome(v1::FAILURE_CLASS_TRIAL, mistake));
}

}  // namespace frostline::agent
