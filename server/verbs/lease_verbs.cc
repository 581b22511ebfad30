// SPDX-License-Identifier: Apache-2.0
//
// Leases taken and kept: Acquire and Heartbeat. How they end is in
// lease_ends.cc.
#include "server/verbs/lease_verbs.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/ids.h"
#include "proto/wire_time.h"
#include "server/wire/convert.h"

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

// Who was taken out of service stays so when it comes back.
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

// Answered from what was stored, parked, or refused.
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

// As it was granted, whatever has become of it since.
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
  // All that is lacking is read at once, before anything is renewed.
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
  reply.set_drain(worker->row.state == storage::WorkerState::kDraining);
  for (const v1::LeaseProgress& progress : request.leases()) {
    v1::Directive directive = Renew(change, progress.lease(), reply.drain());
    // Nobody will forget what is heard of a trial that has ended.
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
  // Its study cannot be read here: the training is worth going on with, and
  // its result waits for a version that can.
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

}  // namespace frostline::server
