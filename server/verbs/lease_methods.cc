// SPDX-License-Identifier: Apache-2.0
//
// Leases as workers name them: found, taken up again, renewed. On the loop.
#include <utility>

#include "base/ids.h"
#include "proto/wire_time.h"
#include "server/coordinator_impl.h"

namespace frostline {
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

}  // namespace

absl::StatusOr<Coordinator::Impl::Leased> Coordinator::Impl::FindLeased(
    const v1::LeaseRef& lease) {
  Leased leased;
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(lease.trial()));
  ASSIGN_OR_RETURN(leased.book, FindStudy(StudyNameOf(name.study_id)));
  leased.proof = {lease.attempt(), SecretString(lease.secret())};
  const StudyKey key = leased.book->row().key;
  const OpenTrial* const found = leased.book->Find(name.number);
  if (found != nullptr) {
    leased.trial = *found;
    if (lease.attempt() == found->row.attempt) return leased;
  } else {
    ASSIGN_OR_RETURN(leased.trial.row, store_.FindTrial(key, name.number));
  }
  ASSIGN_OR_RETURN(std::vector<AttemptRow> attempts,
                   store_.ListAttempts(key, name.number));
  for (AttemptRow& attempt : attempts) {
    // What this group wrote is not readable yet.
    const auto fresh =
        fresh_attempts_.find({key, name.number, attempt.attempt});
    if (fresh != fresh_attempts_.end()) attempt = fresh->second;
    const bool newest = attempt.attempt == leased.trial.row.attempt;
    if (newest && found == nullptr) leased.trial.attempt = attempt;
    if (!newest && attempt.attempt == lease.attempt()) leased.claimed = attempt;
  }
  return leased;
}

absl::StatusOr<Coordinator::Impl::Leased> Coordinator::Impl::FindHeld(
    Batch& batch, const v1::LeaseRef& lease) {
  ASSIGN_OR_RETURN(Leased leased, FindLeased(lease));
  std::optional<Transition> again = Reinstate(leased.trial, leased.proof);
  if (!again.has_value()) return leased;
  RETURN_IF_ERROR(Persist(batch, *leased.book, *std::move(again), NothingMore));
  leases_.Set({leased.trial.row.study, leased.trial.row.number},
              clock_.Steady() + leased.book->checked().lease.ttl);
  return FindLeased(lease);
}

absl::StatusOr<v1::HeartbeatReply> Coordinator::Impl::Heartbeat(
    Batch& batch, const v1::HeartbeatRequest& request) {
  ASSIGN_OR_RETURN(WorkerEntry * worker,
                   workers_.Require(request.worker(), request.boot_id()));
  worker->row.last_seen = clock_.Wall();
  v1::HeartbeatReply reply;
  reply.set_drain(worker->row.state == WorkerState::kDraining);
  for (const v1::LeaseProgress& progress : request.leases()) {
    v1::Directive directive = Renew(batch, progress.lease(), reply.drain());
    // Nobody will forget what is heard of a trial that has ended.
    const bool runs = directive.action() != v1::Directive::LEASE_LOST &&
                      directive.action() != v1::Directive::STOP_CANCELLED;
    if (runs) Hear(batch, progress, reply);
    *reply.add_directives() = std::move(directive);
  }
  return reply;
}

// What a heartbeat says of a trial besides that it runs.
void Coordinator::Impl::Hear(Batch& batch, const v1::LeaseProgress& progress,
                             v1::HeartbeatReply& reply) {
  const absl::StatusOr<TrialName> name =
      ParseTrialName(progress.lease().trial());
  const auto study =
      name.ok() ? key_of_study_.find(name->study_id) : key_of_study_.end();
  if (study == key_of_study_.end()) return;
  const TrialKey trial{study->second, name->number};
  progress_[trial] = {
      .step = progress.step(),
      .total_steps = progress.total_steps(),
      .stepped = clock_.Steady() - DurationFromProto(progress.since_step())};
  if (!progress.log_tail().empty()) TakeLog(batch, trial, progress);
  if (log_waiters_.Has(trial)) reply.add_want_log(progress.lease().trial());
}

v1::Directive Coordinator::Impl::Renew(Batch& batch, const v1::LeaseRef& lease,
                                       bool drain) {
  const absl::StatusOr<Leased> leased = FindHeld(batch, lease);
  if (!leased.ok()) {
    return DirectiveFor(lease, v1::Directive::LEASE_LOST,
                        std::string(leased.status().message()));
  }
  const TrialRow& row = leased->trial.row;
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
  const TrialKey trial{row.study, row.number};
  leases_.Set(trial, clock_.Steady() + leased->book->checked().lease.ttl);
  if (drain) {
    return DirectiveFor(lease, v1::Directive::CHECKPOINT_AND_RELEASE,
                        "the worker is drained");
  }
  const auto pruned = prune_wanted_.find(trial);
  if (pruned != prune_wanted_.end() && pruned->second.first == row.attempt) {
    return DirectiveFor(lease, v1::Directive::STOP_PRUNED,
                        pruned->second.second);
  }
  return DirectiveFor(lease, v1::Directive::CONTINUE, "");
}

}  // namespace frostline
