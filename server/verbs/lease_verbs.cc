// SPDX-License-Identifier: Apache-2.0
//
// Leases: Acquire and Heartbeat first, then how they end.
#include "server/verbs/lease_verbs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "proto/wire_values.h"
#include "server/ledger/stored_rows.h"
#include "server/search/stored_history.h"
#include "server/wire/convert.h"
#include "server/wire/spec.h"

namespace frostline::server {
namespace {

v1::Directive DirectiveFor(const v1::LeaseRef& lease,
                           v1::Directive::Action action,
                           const std::string& reason) {
  v1::Directive directive;
  directive.set_trial(lease.trial());
  directive.set_attempt(lease.attempt());
  directive.set_action(action);
  directive.set_reason(reason);
  return directive;
}

// Says whether a worker may be forgotten. One that was taken out of service
// stays so when it comes back.
bool CanForget(const WorkerEntry& worker) {
  return worker.holds.empty() &&
         (worker.row.state == storage::WorkerState::kActive ||
          worker.row.state == storage::WorkerState::kGone);
}

}  // namespace

LeaseVerbs::LeaseVerbs(Calls& calls, Ledger& ledger, Dispatcher& dispatcher,
                       Proposer& proposer, LogVerb& logs,
                       const storage::TrialStore& store, const Clock& clock,
                       const Credentials& credentials, Duration longest_wait)
    : calls_(calls),
      ledger_(ledger),
      dispatcher_(dispatcher),
      proposer_(proposer),
      logs_(logs),
      store_(store),
      clock_(clock),
      credentials_(credentials),
      longest_wait_(longest_wait) {}

void LeaseVerbs::AddTo(VerbTable& table) {
  using V = LeaseVerbs;
  const auto add = [&](const char* verb, auto body) {
    calls_.Add(table, absl::StrCat("WorkerService.", verb), CallerRole::kWorker,
               this, body);
  };
  add("Acquire", &V::Acquire);
  add("Heartbeat", &V::Heartbeat);
  add("Report", &V::Report);
  add("Finish", &V::Finish);
  add("Release", &V::Release);
}

// Answers from what was stored, parks the call, or refuses it.
void LeaseVerbs::Acquire(CallContext caller, v1::AcquireRequest request,
                         Reply<v1::AcquireReply> reply) {
  const absl::Status may = CheckCaller(caller, request.worker());
  if (!may.ok()) return reply(may);
  const std::string id = request.request_id();
  // What runs goes before what may begin.
  caller.urgency = Urgency::kChange;
  calls_.LookUpReply(
      id, Urgency::kChange, std::move(reply),
      [this, caller = std::move(caller), request = std::move(request)](
          LookedUpReply stored, Reply<v1::AcquireReply> answer) mutable {
        auto granted = store_.ListGranted(request.request_id());
        if (!granted.ok()) return answer(granted.status());
        Earlier earlier{std::move(stored), *std::move(granted)};
        calls_.Wait(caller, std::move(answer),
                    [this, caller, request = std::move(request),
                     earlier = std::move(earlier)](
                        Change& change, Reply<v1::AcquireReply>& to) {
                      change.AssertOnLoop();
                      return ParkOrRepeat(change, caller, request, earlier, to);
                    });
      });
}

absl::Status LeaseVerbs::ParkOrRepeat(Change& change, const CallContext& caller,
                                      const v1::AcquireRequest& request,
                                      const Earlier& earlier,
                                      Reply<v1::AcquireReply>& reply) {
  ASSIGN_OR_RETURN(std::optional<v1::AcquireReply> before,
                   AcquiredBefore(request, earlier, change.rows));
  if (before.has_value()) {
    change.batch.Then(
        [before = *std::move(before), reply = std::exchange(reply, nullptr)](
            const absl::Status& committed) mutable {
          committed.ok() ? reply(std::move(before)) : reply(committed);
        });
    return absl::OkStatus();
  }
  ParkedAcquire parked(caller);
  parked.worker = *ParseWorkerName(request.worker());
  parked.deadline =
      clock_.Steady() +
      std::min(proto::DurationFromProto(request.wait()), longest_wait_);
  parked.reply = std::exchange(reply, nullptr);
  parked.request = request;
  dispatcher_.Park(change.batch, std::move(parked));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<v1::AcquireReply>> LeaseVerbs::AcquiredBefore(
    const v1::AcquireRequest& request, const Earlier& earlier,
    StoredRows& rows) {
  ASSIGN_OR_RETURN(
      WorkerEntry * worker,
      ledger_.workers().Require(request.worker(), request.boot_id()));
  worker->row.last_seen = clock_.Wall();
  if (!request.study().empty()) {
    RETURN_IF_ERROR(ledger_.FindStudy(request.study()).status());
  }
  ASSIGN_OR_RETURN(const std::optional<std::string> before,
                   ledger_.replies().Find(MarkOf(request), earlier.reply.row));
  std::optional<v1::AcquireReply> names;
  if (before.has_value()) {
    names.emplace().ParseFromString(*before);
  } else {
    ASSIGN_OR_RETURN(names, NamesOf(request, earlier.granted));
  }
  if (!names.has_value()) return names;
  v1::AcquireReply again;
  for (const v1::Lease& name : names->leases()) {
    ASSIGN_OR_RETURN(*again.add_leases(), LeaseAgain(name, rows));
  }
  return std::optional<v1::AcquireReply>(std::move(again));
}

absl::StatusOr<std::optional<v1::AcquireReply>> LeaseVerbs::NamesOf(
    const v1::AcquireRequest& request,
    const std::vector<storage::AttemptRow>& granted) {
  if (granted.empty()) return std::optional<v1::AcquireReply>();
  std::optional<v1::AcquireReply> names(std::in_place);
  for (const storage::AttemptRow& attempt : granted) {
    if (WorkerNameOf(attempt.worker) != request.worker() ||
        attempt.boot_id != request.boot_id()) {
      return MakeError(
          ErrorId::kRequestIdReused,
          absl::StrCat("request id ", request.request_id(), " was used by ",
                       WorkerNameOf(attempt.worker)),
          "draw a new request id for every new request", "request_id");
    }
    const absl::StatusOr<StudyBook*> found =
        ledger_.RequireStudy(attempt.study);
    // What was granted of other studies is still the worker's.
    if (HasErrorId(found.status(), ErrorId::kStudyNotFound)) continue;
    ASSIGN_OR_RETURN(const StudyBook* book, found);
    v1::Lease* const name = names->add_leases();
    name->set_trial(TrialNameOf(book->row().id, attempt.number));
    name->set_attempt(attempt.attempt);
  }
  return names;
}

// Returns the lease as it was granted, whatever has become of it since.
absl::StatusOr<v1::Lease> LeaseVerbs::LeaseAgain(const v1::Lease& name,
                                                 StoredRows& rows) {
  v1::LeaseRef ref;
  ref.set_trial(name.trial());
  ref.set_attempt(name.attempt());
  ASSIGN_OR_RETURN(const LeasedTrial leased, ledger_.FindLeased(ref, rows));
  const storage::AttemptRow& attempt =
      leased.claimed.value_or(leased.trial.attempt);
  storage::TrialRow row = leased.trial.row;
  row.attempt = attempt.attempt;
  return LeaseToProto(
      row, attempt,
      ledger_.lease_secrets().Again({row.study, row.number}, attempt.attempt,
                                    attempt.secret),
      leased.book->row(), leased.book->checked());
}

absl::Status LeaseVerbs::CheckCaller(const CallContext& caller,
                                     const std::string& worker) const {
  ASSIGN_OR_RETURN(const std::string id, ParseWorkerName(worker));
  return CheckWorker(caller.identity, id, credentials_, clock_.Wall());
}

absl::Status LeaseVerbs::CheckHolder(Change& change,
                                     const v1::LeaseRef& lease) {
  const CallerIdentity& caller = change.caller.identity;
  if (caller.role != CallerRole::kWorker) return absl::OkStatus();
  ASSIGN_OR_RETURN(const LeasedTrial leased,
                   ledger_.FindLeased(lease, change.rows));
  const std::string& holder = leased.claimed.has_value()
                                  ? leased.claimed->worker
                                  : leased.trial.attempt.worker;
  return CheckWorker(caller, holder, credentials_, clock_.Wall());
}

absl::StatusOr<v1::HeartbeatReply> LeaseVerbs::Heartbeat(
    Change& change, const v1::HeartbeatRequest& request) {
  RETURN_IF_ERROR(CheckCaller(change.caller, request.worker()));
  ASSIGN_OR_RETURN(
      WorkerEntry * worker,
      ledger_.workers().Require(request.worker(), request.boot_id()));
  worker->row.last_seen = clock_.Wall();
  // Reads all that is lacking at once, before anything is renewed.
  for (const v1::LeaseProgress& progress : request.leases()) {
    (void)ledger_.FindLeased(progress.lease(), change.rows);
  }
  v1::HeartbeatReply reply;
  if (change.rows.lacks()) return reply;
  if (request.leaving() && CanForget(*worker)) {
    const std::string id = worker->row.id;
    RETURN_IF_ERROR(ledger_.ForgetWorker(change.batch, id));
    return reply;
  }
  worker->load = request.has_load() ? LoadOf(request.load(), worker->info,
                                             worker->row.last_seen)
                                    : nullptr;
  if (request.has_load()) {
    ledger_.loads().Post(worker->row.id, request.load(), clock_.Wall());
  }
  reply.set_drain(worker->row.state == storage::WorkerState::kDraining);
  for (const v1::LeaseProgress& progress : request.leases()) {
    v1::Directive directive = Renew(change, progress.lease(), reply.drain());
    // Nobody would ever forget what is noted of a trial that has ended.
    const bool runs = directive.action() != v1::Directive::LEASE_LOST &&
                      directive.action() != v1::Directive::STOP_CANCELLED;
    if (runs) NoteProgress(change.batch, progress, reply);
    *reply.add_directives() = std::move(directive);
  }
  return reply;
}

void LeaseVerbs::NoteProgress(Batch& batch, const v1::LeaseProgress& progress,
                              v1::HeartbeatReply& reply) {
  const absl::StatusOr<TrialName> name =
      ParseTrialName(progress.lease().trial());
  if (!name.ok()) return;
  const auto book = ledger_.FindStudy(StudyNameOf(name->study_id));
  if (!book.ok()) return;
  const TrialKey trial{(*book)->row().key, name->number};
  ledger_.running().NoteProgress(
      trial, {.step = progress.step(),
              .total_steps = progress.total_steps(),
              .stepped = clock_.Steady() -
                         proto::DurationFromProto(progress.since_step())});
  ledger_.progress().Post(trial, progress, clock_.Wall());
  const bool has_log = progress.has_log_end() || !progress.log_tail().empty();
  if (has_log) logs_.Take(batch, trial, progress);
  if (logs_.IsWanted(trial)) reply.add_want_log(progress.lease().trial());
}

v1::Directive LeaseVerbs::Renew(Change& change, const v1::LeaseRef& lease,
                                bool drain) {
  const absl::Status may = CheckHolder(change, lease);
  if (HasErrorId(may, ErrorId::kWorkerDenied)) {
    return DirectiveFor(lease, v1::Directive::LEASE_LOST,
                        std::string(may.message()));
  }
  const absl::StatusOr<LeasedTrial> leased =
      ledger_.FindHeld(change.batch, lease, change.rows);
  // The study cannot be read by this version. The training goes on, and its
  // result waits for a version that can read the study.
  if (HasErrorId(leased.status(), ErrorId::kStudyUnreadable)) {
    return DirectiveFor(lease, v1::Directive::CONTINUE,
                        std::string(leased.status().message()));
  }
  if (!leased.ok()) {
    return DirectiveFor(lease, v1::Directive::LEASE_LOST,
                        std::string(leased.status().message()));
  }
  const storage::TrialRow& row = leased->trial.row;
  const bool cancelled =
      row.state == TrialState::kCancelled && row.attempt == lease.attempt();
  if (cancelled) {
    return DirectiveFor(lease, v1::Directive::STOP_CANCELLED, row.cause);
  }
  const absl::Status held = CheckLease(row, leased->proof);
  if (!held.ok()) {
    return DirectiveFor(lease, v1::Directive::LEASE_LOST,
                        std::string(held.message()));
  }
  ledger_.RenewLease(*leased->book, row.number);
  if (drain) {
    return DirectiveFor(lease, v1::Directive::CHECKPOINT_AND_RELEASE,
                        "the worker is drained");
  }
  const auto pruned =
      ledger_.running().PruneReason({row.study, row.number}, row.attempt);
  if (pruned.has_value()) {
    return DirectiveFor(lease, v1::Directive::STOP_PRUNED, *pruned);
  }
  return DirectiveFor(lease, v1::Directive::CONTINUE, "");
}

// What a worker says of its attempt: measurements on the way, and how it ended.

namespace {

// The error is STEP_OUT_OF_ORDER for a step that is not new and was not
// reported before.
absl::Status CheckOrder(const storage::TrialRow& row,
                        const std::vector<storage::MeasurementRow>& measured,
                        StoredRows& rows) {
  for (const storage::MeasurementRow& one : measured) {
    const std::int64_t step = one.measurement.step;
    if (step > row.last_step) break;
    const StoredRows::FirstStep* const first =
        rows.StepFrom({row.study, row.number}, row.attempt, step);
    if (first == nullptr) continue;  // read first, with the others
    RETURN_IF_ERROR(first->status());
    // Nothing is stored yet for a step of this very group: the store will
    // compare.
    if ((*first)->value_or(step) == step) continue;
    return MakeError(
        ErrorId::kStepOutOfOrder,
        absl::StrCat("step ", step, " comes after step ", row.last_step),
        "number the steps of an attempt upwards", "measurements.step");
  }
  return rows.lacks() ? absl::UnavailableError("read first") : absl::OkStatus();
}

std::vector<Measurement> MeasurementsOf(
    const std::vector<storage::MeasurementRow>& rows) {
  std::vector<Measurement> measurements;
  for (const auto& row : rows) measurements.push_back(row.measurement);
  return measurements;
}

// Writes the log of an attempt, however it ended, unless its worker sent none.
absl::Status WriteLog(storage::Transaction& transaction,
                      const storage::TrialRow& row, std::int64_t attempt,
                      const std::string& tail, const v1::LogPlace& place,
                      WallMicros now) {
  std::string where = place.SerializeAsString();
  if (tail.empty() && where.empty()) return absl::OkStatus();
  return transaction.PutLog({.study = row.study,
                             .number = row.number,
                             .attempt = attempt,
                             .tail = tail,
                             .written = now,
                             .place = std::move(where)});
}

// Writes what is kept of an attempt's end besides rows.
absl::Status WriteEnd(storage::Transaction& transaction,
                      const v1::FinishRequest& end,
                      const storage::TrialRow& row, bool counted,
                      WallMicros now) {
  const v1::Outcome& outcome = end.outcome();
  RETURN_IF_ERROR(WriteLog(transaction, row, end.lease().attempt(),
                           outcome.log_tail(), end.log_place(), now));
  std::optional<storage::OutcomeRow> examples = OutcomeRowOf(outcome);
  if (!counted || !examples.has_value()) return absl::OkStatus();
  examples->study = row.study;
  examples->number = row.number;
  return transaction.PutOutcome(*examples);
}

}  // namespace

void LeaseVerbs::Report(CallContext caller, v1::ReportRequest request,
                        Reply<v1::ReportReply> reply) {
  auto shared = std::make_shared<Reply<v1::ReportReply>>(std::move(reply));
  calls_.Act<Reported>(
      std::move(caller),
      [this, shared](const absl::StatusOr<Reported>& reported) {
        if (!reported.ok()) return (*shared)(reported.status());
        AnswerReport(*reported, shared);
      },
      [this, request = std::move(request)](Change& change) {
        change.AssertOnLoop();
        return TakeReport(change, request);
      });
}

absl::StatusOr<LeaseVerbs::Reported> LeaseVerbs::TakeReport(
    Change& change, const v1::ReportRequest& request) {
  RETURN_IF_ERROR(CheckHolder(change, request.lease()));
  ASSIGN_OR_RETURN(const LeasedTrial known,
                   ledger_.FindLeased(request.lease(), change.rows));
  if (!Reinstate(known.trial, known.proof).has_value()) {
    RETURN_IF_ERROR(CheckLease(known.trial.row, known.proof));
  }
  ASSIGN_OR_RETURN(const std::vector<storage::MeasurementRow> rows,
                   MeasurementRows(request.measurements(), known.trial.row,
                                   request.lease().attempt(), "measurements"));
  RETURN_IF_ERROR(CheckOrder(known.trial.row, rows, change.rows));
  CurveLimit limit(ledger_.running(), known.trial.row,
                   request.lease().attempt());
  RETURN_IF_ERROR(limit.Check(rows, change.rows));
  ASSIGN_OR_RETURN(
      const LeasedTrial leased,
      ledger_.FindHeld(change.batch, request.lease(), change.rows));
  storage::TrialRow row = leased.trial.row;
  Transition transition;
  transition.guard = {row.state, row.attempt, leased.proof.secret};
  std::vector<Measurement> fresh;
  for (const storage::MeasurementRow& measured : rows) {
    if (measured.measurement.step <= row.last_step) continue;
    row.last_step = measured.measurement.step;
    fresh.push_back(measured.measurement);
  }
  storage::AttemptRow attempt = leased.trial.attempt;
  if (request.has_checkpoint()) {
    attempt.checkpoint = request.checkpoint().SerializeAsString();
  }
  const bool new_checkpoint =
      attempt.checkpoint != leased.trial.attempt.checkpoint;
  if (new_checkpoint) transition.attempts = {std::move(attempt)};
  // A repetition changes nothing, but the store compares what it says.
  if (!fresh.empty() || new_checkpoint) transition.row = row;
  RETURN_IF_ERROR(ledger_.Apply(change.batch, *leased.book,
                                std::move(transition),
                                [&rows](storage::Transaction& transaction) {
                                  return transaction.AddMeasurements(rows);
                                }));
  limit.NoteStored(rows);
  FROSTLINE_FAILPOINT(kReportWritten);
  RETURN_IF_ERROR(NotePrecision(change, *leased.book, request.precision()));
  const CheckedStudy& study = leased.book->checked();
  proposer_.Measured(row.study, row.number, IntermediateOf(fresh, study));
  Reported reported{{row.study, row.number},
                    Renew(change, request.lease(), false),
                    study.pruner.name != "none"};
  const std::string decided = DecidedPrecision(study);
  const bool differs = !request.precision().empty() && !decided.empty() &&
                       request.precision() != decided;
  if (differs && reported.directive.action() == v1::Directive::CONTINUE) {
    reported.directive.set_action(v1::Directive::CHECKPOINT_AND_RELEASE);
    reported.directive.set_reason(
        absl::StrCat("the study is computed in ", decided));
  }
  return reported;
}

absl::Status LeaseVerbs::NotePrecision(Change& change, StudyBook& book,
                                       const std::string& precision) {
  if (!DecidesPrecision(book.checked(), precision)) return absl::OkStatus();
  CheckedStudy checked = book.checked();
  checked.settings.set_auto_precision(precision);
  storage::StudyRow row = book.row();
  row.settings = checked.settings.SerializeAsString();
  RETURN_IF_ERROR(ledger_.PutStudy(change.batch, book, std::move(row)));
  book.AbsorbSettings(std::make_shared<const CheckedStudy>(std::move(checked)));
  return absl::OkStatus();
}

void LeaseVerbs::AnswerReport(
    const Reported& reported,
    const std::shared_ptr<Reply<v1::ReportReply>>& reply) {
  const auto answer = [reply](const v1::Directive& what) {
    v1::ReportReply message;
    *message.mutable_directive() = what;
    (*reply)(std::move(message));
  };
  const v1::Directive& directive = reported.directive;
  if (!reported.is_judged || directive.action() != v1::Directive::CONTINUE) {
    return answer(directive);
  }
  const TrialKey trial = reported.trial;
  proposer_.Judge(
      trial.study, trial.number,
      [this, trial, directive, answer](const sampler::PruneDecision& decision) {
        if (!decision.prune) return answer(directive);
        // If this reply is lost, a heartbeat repeats the directive.
        calls_.Post(
            [this, trial, attempt = directive.attempt(),
             decision](Batch& batch) {
              batch.AssertOnLoop();
              ledger_.WantPruned(trial, attempt, decision.reason);
            },
            Urgency::kLease, [](const absl::Status&) {});
        v1::Directive stop = directive;
        stop.set_action(v1::Directive::STOP_PRUNED);
        stop.set_reason(decision.reason);
        answer(stop);
      });
}

absl::StatusOr<v1::FinishReply> LeaseVerbs::Finish(
    Change& change, const v1::FinishRequest& request) {
  RETURN_IF_ERROR(CheckHolder(change, request.lease()));
  ASSIGN_OR_RETURN(const LeasedTrial leased,
                   ledger_.FindLeased(request.lease(), change.rows));
  StudyBook& book = *leased.book;
  const storage::TrialRow& row = leased.trial.row;
  ASSIGN_OR_RETURN(
      const Result result,
      ResultFromProto(request.outcome(), book.checked().objectives));
  ASSIGN_OR_RETURN(FinishAnswer answer,
                   frostline::server::Finish(
                       leased.trial, leased.claimed, leased.proof, result,
                       book.checked().lease.retry, clock_.Wall()));
  ASSIGN_OR_RETURN(const std::vector<storage::MeasurementRow> rows,
                   MeasurementRows(request.measurements(), row,
                                   request.lease().attempt(), "measurements"));
  const std::optional<storage::TrialRow>& ended = answer.transition.row;
  if (ended.has_value() || !answer.transition.attempts.empty()) {
    RETURN_IF_ERROR(WriteFinish(change, request, leased, rows, answer));
    const std::string& worker =
        leased.claimed.has_value() ? leased.claimed->worker : row.worker;
    ledger_.JudgeRun(change.batch, book, row, worker, result);
    dispatcher_.Expect(worker, 1);
  }
  v1::FinishReply reply;
  reply.set_verdict(static_cast<v1::FinishReply::Verdict>(
      static_cast<int>(answer.verdict) + 1));
  // An ended trial is no longer in the book.
  const OpenTrial* const now = book.Find(row.number);
  *reply.mutable_trial() = TrialToProto(ended.has_value() ? *ended
                                        : now != nullptr  ? now->row
                                                          : row,
                                        book.row().id, book.checked().space,
                                        v1::TRIAL_VIEW_BASIC, {});
  return reply;
}

absl::Status LeaseVerbs::WriteFinish(
    Change& change, const v1::FinishRequest& request, const LeasedTrial& leased,
    const std::vector<storage::MeasurementRow>& rows, FinishAnswer& answer) {
  StudyBook& book = *leased.book;
  const storage::TrialRow& row = leased.trial.row;
  RETURN_IF_ERROR(CurveLimit(ledger_.running(), row, request.lease().attempt())
                      .Check(rows, change.rows));
  std::optional<storage::TrialRow>& ended = answer.transition.row;
  if (ended.has_value() && !rows.empty()) {
    ended->last_step = std::max(ended->last_step, rows.back().measurement.step);
  }
  const bool counted = answer.verdict == Verdict::kAccepted;
  if (counted && ended.has_value()) NoteEvaluations(request.outcome(), *ended);
  RETURN_IF_ERROR(ledger_.Apply(
      change.batch, book, answer.transition,
      [&](storage::Transaction& transaction) {
        RETURN_IF_ERROR(transaction.AddMeasurements(rows));
        RETURN_IF_ERROR(
            WriteEnd(transaction, request, row, counted, clock_.Wall()));
        // Told before the end, which is also the order after reading the store
        // again.
        if (counted && row.attempt == request.lease().attempt()) {
          proposer_.Measured(
              row.study, row.number,
              IntermediateOf(MeasurementsOf(rows), book.checked()));
        }
        return absl::OkStatus();
      }));
  if (ended.has_value()) ended->revision = book.revision();
  RETURN_IF_ERROR(
      NotePrecision(change, book, request.outcome().usage().precision()));
  FROSTLINE_FAILPOINT(kFinishWritten);
  return absl::OkStatus();
}

absl::StatusOr<v1::ReleaseReply> LeaseVerbs::Release(
    Change& change, const v1::ReleaseRequest& request) {
  RETURN_IF_ERROR(CheckHolder(change, request.lease()));
  ASSIGN_OR_RETURN(
      const LeasedTrial leased,
      ledger_.FindHeld(change.batch, request.lease(), change.rows));
  const bool unrun = request.reason() == v1::ReleaseRequest::UNRUN ||
                     request.reason() == v1::ReleaseRequest::NOT_IN_STOCK;
  ASSIGN_OR_RETURN(
      Transition release,
      frostline::server::Release(
          leased.trial, leased.proof,
          unrun ? AttemptState::kReleased : AttemptState::kPreempted,
          request.has_checkpoint() ? request.checkpoint().SerializeAsString()
                                   : "",
          request.detail(), clock_.Wall()));
  if (!release.row.has_value()) return v1::ReleaseReply();  // repeated
  ASSIGN_OR_RETURN(const std::vector<storage::MeasurementRow> rows,
                   MeasurementRows(request.measurements(), leased.trial.row,
                                   request.lease().attempt(), "measurements"));
  RETURN_IF_ERROR(
      CurveLimit(ledger_.running(), leased.trial.row, request.lease().attempt())
          .Check(rows, change.rows));
  RETURN_IF_ERROR(ledger_.Apply(
      change.batch, *leased.book, std::move(release),
      [&](storage::Transaction& transaction) {
        RETURN_IF_ERROR(WriteLog(transaction, leased.trial.row,
                                 request.lease().attempt(), request.log_tail(),
                                 request.log_place(), clock_.Wall()));
        return transaction.AddMeasurements(rows);
      }));
  FROSTLINE_FAILPOINT(kReleaseWritten);
  return v1::ReleaseReply();
}

}  // namespace frostline::server
