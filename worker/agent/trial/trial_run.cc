// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trial/trial_run.h"

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/plain/predictions_file.h"
#include "frostline/v1/worker_service.pb.h"
#include "proto/rules.h"
#include "proto/wire_error.h"
#include "worker/agent/process/protocol.h"
#include "worker/agent/process/trainer_process.h"

namespace frostline::agent {
namespace {

constexpr std::size_t kMostOfALine = 300;  // bytes of a log's last one
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;
// A shell returns this if SIGKILL ended its child.
constexpr int kShellSigkill = 128 + SIGKILL;

v1::Outcome::Kind EndKindOf(FinishMessage::State state) {
  switch (state) {
    case FinishMessage::State::kSucceeded:
      return v1::Outcome::SUCCEEDED;
    case FinishMessage::State::kInfeasible:
      return v1::Outcome::INFEASIBLE;
    case FinishMessage::State::kPruned:
      return v1::Outcome::PRUNED;
    case FinishMessage::State::kFailed:
    case FinishMessage::State::kStopped:
      return v1::Outcome::FAILED;
  }
  return v1::Outcome::FAILED;
}

void JudgeObjectives(const v1::TrialSpec& spec, v1::Outcome* outcome) {
  for (const v1::Objective& objective : spec.objectives()) {
    const auto metric = outcome->metrics().find(objective.metric());
    if (metric == outcome->metrics().end()) {
      outcome->set_kind(v1::Outcome::FAILED);
      outcome->set_failure(v1::FAILURE_CLASS_TRIAL);
      outcome->set_cause(absl::StrCat("the trainer's finish lacks the metric ",
                                      objective.metric(),
                                      ", an objective of the study"));
      return;
    }
    if (!std::isfinite(metric->second)) {
      outcome->set_kind(v1::Outcome::INFEASIBLE);
      outcome->set_cause(
          absl::StrCat("the objective ", objective.metric(), " is not finite"));
    }
  }
}

v1::FailureClass ClassOfExit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    switch (WTERMSIG(wait_status)) {
      case SIGKILL:  // not ours, so nearly always the kernel's OOM killer
        return v1::FAILURE_CLASS_OUT_OF_MEMORY;
      case SIGTERM:
      case SIGINT:
      case SIGHUP:  // somebody wanted the node
        return v1::FAILURE_CLASS_INFRASTRUCTURE;
      default:
        return v1::FAILURE_CLASS_TRIAL;
    }
  }
  const int code = WEXITSTATUS(wait_status);
  if (code == kShellSigkill) return v1::FAILURE_CLASS_OUT_OF_MEMORY;
  if (code == kExitRequeue) return v1::FAILURE_CLASS_INFRASTRUCTURE;
  return v1::FAILURE_CLASS_TRIAL;
}

}  // namespace

v1::Outcome DetailsOf(const FinishMessage& finish) {
  v1::Outcome outcome;
  for (const auto& [name, value] : finish.metrics) {
    (*outcome.mutable_metrics())[name] = value;
  }
  outcome.set_cause(finish.cause);
  if (finish.usage.has_value()) *outcome.mutable_usage() = *finish.usage;
  if (finish.examples.has_value()) {
    *outcome.mutable_examples() = *finish.examples;
  }
  outcome.mutable_evaluations()->Assign(finish.evaluations.begin(),
                                        finish.evaluations.end());
  return outcome;
}

v1::Outcome OutcomeOf(const FinishMessage& finish, const v1::TrialSpec& spec) {
  v1::Outcome outcome = DetailsOf(finish);
  outcome.set_kind(EndKindOf(finish.state));
  if (finish.state == FinishMessage::State::kSucceeded) {
    JudgeObjectives(spec, &outcome);
  }
  if (finish.state == FinishMessage::State::kFailed) {
    outcome.set_failure(finish.failure);
  }
  if (finish.state == FinishMessage::State::kStopped) {
    outcome.set_failure(v1::FAILURE_CLASS_TRIAL);
    outcome.set_cause("the trainer says stopped, but nobody asked it to stop");
  }
  return outcome;
}

v1::Outcome OutcomeOfExit(int wait_status, bool spoke,
                          const std::string& last_line) {
  const std::string what = DescribeWaitStatus(wait_status);
  const int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
  if (!spoke && (code == kNotExecutable || code == kNotFound)) {
    return FailedOutcome(
        v1::FAILURE_CLASS_INFRASTRUCTURE,
        MakeError(ErrorId::kTrainerStart, "the shell " + what,
                  "check the command line given to --exec on this node"));
  }
  const v1::FailureClass failure = ClassOfExit(wait_status);
  const bool memory = failure == v1::FAILURE_CLASS_OUT_OF_MEMORY;
  const std::string how =
      absl::StrCat("the trainer ", what, " before its finish",
                   memory ? "; out of memory, most likely" : "");
  return FailedOutcome(
      failure,
      MakeError(
          ErrorId::kTrainerExited,
          last_line.empty() ? how : absl::StrCat(last_line, " (", how, ")"),
          "see the end of its log"));
}

std::string LastLineOf(const std::string& log) {
  std::string last;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(log, absl::ByAnyChar("\r\n")))) {
    const std::string said(absl::StripAsciiWhitespace(line));
    if (!said.empty()) last = said;
  }
  return proto::CleanText(last, kMostOfALine);
}

v1::Outcome FailedOutcome(v1::FailureClass failure,
                          const absl::Status& status) {
  v1::Outcome outcome;
  outcome.set_kind(v1::Outcome::FAILED);
  outcome.set_failure(failure);
  const auto detail = DetailOf(status);
  const std::string code =
      detail.has_value() ? ErrorCode(detail->id) + ": " : "";
  outcome.set_cause(proto::CleanText(code + std::string(status.message()),
                                     proto::MaxBytes<v1::Outcome>("cause")));
  return outcome;
}

namespace {

constexpr int kStartFactor = 6;
constexpr int kStepFactor = 10;
constexpr std::size_t kMostIntervals = 101;
// The most that counts between two looks; more was no silence of the trainer.
constexpr Duration kLongestLook = std::chrono::seconds(10);

Duration MedianOf(const std::deque<Duration>& durations) {
  std::vector<Duration> sorted(durations.begin(), durations.end());
  const auto middle =
      sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double SecondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

ProgressWatch::ProgressWatch(Duration floor, SteadyTime now)
    : floor_(floor), seen_(now) {}

void ProgressWatch::Look(SteadyTime now) {
  const Duration passed = std::min(now - seen_, kLongestLook);
  seen_ = now;
  silence_ += passed;
  since_step_ += passed;
}

void ProgressWatch::NoteStep(SteadyTime now) {
  Look(now);
  if (stepped_) {
    intervals_.push_back(since_step_);
    if (intervals_.size() > kMostIntervals) intervals_.pop_front();
  }
  stepped_ = true;
  silence_ = since_step_ = Duration::zero();
}

void ProgressWatch::NoteSign(SteadyTime now) {
  Look(now);
  silence_ = Duration::zero();
}

Duration ProgressWatch::patience() const {
  if (!stepped_) return floor_ * kStartFactor;
  if (intervals_.empty()) return floor_;
  return std::max(floor_, MedianOf(intervals_) * kStepFactor);
}

bool ProgressWatch::hangs() const {
  // The floor is checked first, so that the median is computed only for a quiet
  // trainer.
  return floor_ > Duration::zero() && silence_ >= floor_ &&
         silence_ >= patience();
}

std::string ProgressWatch::Describe() const {
  const std::string quiet =
      absl::StrFormat("no progress for %.4g s", SecondsOf(silence_));
  if (!stepped_) {
    return absl::StrCat(quiet, ", before the first step (suspected hang)");
  }
  if (intervals_.empty()) {
    return absl::StrCat(quiet, ", after the first step (suspected hang)");
  }
  return absl::StrCat(quiet,
                      absl::StrFormat("; steps took %.4g s before",
                                      SecondsOf(MedianOf(intervals_))),
                      " (suspected hang)");
}

namespace {

constexpr Duration kLongestTrainerWait = std::chrono::seconds(60);
// A request has at most 1 MiB.
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
  // What the trainer wrote after its last finish belongs to no trial.
  for (const std::string& line : trainer.Wait(wakeup_, Duration()).lines) {
    log_.Append(line + "\n");
  }
  std::vector<std::string> takes;
  if (context_.takes_evaluations) takes.emplace_back("evaluations");
  if (context_.takes_audit) takes.emplace_back("audit");
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
    // A command that knows nothing of trials shows by this that it lives.
    const std::int64_t log_end = log_.end();
    if (!context_.options.command.text.empty() && log_end != log_seen_) {
      watch_.NoteSign(context_.clock.Steady());
    }
    log_seen_ = log_end;
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
    // The trainer's state is unknown, even if its trial was over.
    trainer_is_ready_ = false;
    return over_ ? trainer.Kill() : Reject(message.status(), trainer);
  }
  const auto* const text = std::get_if<LogMessage>(&*message);
  spoke_ = spoke_ || text == nullptr;
  // Other lines may come from a loop that makes no progress.
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

// Says whether a report tells only a phase: it repeats the last step, or comes
// before the first one.
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
  // A step that was told without metrics, as with the precision of a trial that
  // goes on at an evaluation, may still get its metrics.
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
  static const int most = proto::MaxItems<v1::ReportRequest>("measurements");
  if (pending_.measurements_size() == most ||
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
  // After it ran out of memory a trainer may be in a bad state: the next trial
  // gets a new process.
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
  v1::Outcome outcome = OutcomeOfExit(trainer.wait_status(), spoke_,
                                      LastLineOf(log_.Tail().text));
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

// Orders to end, and endings.

namespace {

// The time between SIGTERM and SIGKILL.
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

// Says whether the trainer failed since a file or its entry is missing or has
// changed. The cause is in the form of frostline-trainer.
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
  // Only the agent says where the model lies.
  if (outcome.has_usage()) outcome.mutable_usage()->clear_model();
  if (outcome.has_usage() && !context_.takes_audit) {
    outcome.mutable_usage()->clear_audit();
  }
  if (outcome.kind() != v1::Outcome::SUCCEEDED || !HasModel()) return;
  KeptModels& models = context_.run_folder.trials().models();
  if (!models.Offer(lease_.spec(), folder_, outcome)) return;
  // A model that is removed with the trial's folder is not worth telling.
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
  context_.deliverer.Ring();
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
  context_.deliverer.Ring();
}

// Ends the run although something of the trainer still lives. An order to prune
// or cancel is followed all the same, since it needs no result.
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

// Saves the checkpoint before the coordinator is told of it, so that another
// node finds it. After a second signal it does not.
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
  // The log is kept, since the trial goes on, elsewhere or here.
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
  context_.deliverer.Ring();
}

}  // namespace frostline::agent
