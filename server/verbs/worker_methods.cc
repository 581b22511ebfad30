// SPDX-License-Identifier: Apache-2.0
//
// The fleet: register, drain, list. On the loop.

#include "base/failpoint.h"
#include "base/ids.h"
#include "proto/wire_time.h"
#include "server/coordinator_impl.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "server/wire/limits.h"
#include "server/wire/page_token.h"

namespace frostline {

absl::StatusOr<v1::RegisterReply> Coordinator::Impl::Register(
    Batch& batch, const v1::RegisterRequest& request) {
  RETURN_IF_ERROR(CheckId(request.worker_id(), "worker_id"));
  if (request.worker().boot_id().empty()) {
    return MakeError(ErrorId::kRequestInvalid, "the worker has no boot id",
                     "draw one at each start of the agent", "worker.boot_id");
  }
  WorkerEntry* const known = workers_.Find(request.worker_id());
  WorkerRow row;
  if (known != nullptr) row = known->row;
  const bool new_life = row.boot_id != request.worker().boot_id();
  row.id = request.worker_id();
  row.boot_id = request.worker().boot_id();
  row.info = request.worker().SerializeAsString();
  row.last_seen = clock_.Wall();
  if (row.registered == 0) row.registered = row.last_seen;
  if (new_life) {
    row.state = WorkerState::kActive;
    row.failures_in_a_row = 0;
  }
  RETURN_IF_ERROR(batch.Write(
      [&row](Transaction& transaction) { return transaction.PutWorker(row); }));
  // Calls of the earlier life that are still parked get nothing.
  TurnAway(batch, row.id, [&row](const ParkedAcquire& parked) {
    return parked.request.boot_id() != row.boot_id;
  });
  FROSTLINE_FAILPOINT(kRegisterWritten);
  v1::RegisterReply reply;
  if (known != nullptr && new_life) {
    const std::set<TrialKey> held = known->holds;
    for (const TrialKey& trial : held) {
      StudyBook& book = studies_.at(trial.study);
      const OpenTrial* const open = book.Find(trial.number);
      if (open == nullptr || open->row.state != TrialState::kRunning) continue;
      RETURN_IF_ERROR(Persist(batch, book,
                              Lose(*open, "the worker was started again",
                                   book.checked().lease.retry, clock_.Wall()),
                              NothingMore));
      reply.add_own_trials(TrialNameOf(book.row().id, trial.number));
    }
  }
  const WorkerEntry& entry = workers_.Absorb(row);
  *reply.mutable_worker() = Describe(entry);
  *reply.mutable_heartbeat_interval() =
      DurationToProto(options_.heartbeat_interval);
  *reply.mutable_lease_ttl() = DurationToProto(options_.lease_ttl);
  reply.set_coordinator_version(FROSTLINE_VERSION);
  reply.set_max_request_bytes(kMaxRequestBytes);
  return reply;
}

absl::StatusOr<v1::Worker> Coordinator::Impl::DrainWorker(
    Batch& batch, const v1::DrainWorkerRequest& request) {
  ASSIGN_OR_RETURN(const std::string id, ParseWorkerName(request.worker()));
  WorkerEntry* const entry = workers_.Find(id);
  if (entry == nullptr) {
    return MakeError(ErrorId::kWorkerUnknown,
                     request.worker() + " is not registered",
                     "see the list with `frostline worker list`", "worker");
  }
  WorkerRow row = entry->row;
  row.state = request.undo() ? WorkerState::kActive : WorkerState::kDraining;
  if (request.undo()) row.failures_in_a_row = 0;
  RETURN_IF_ERROR(batch.Write(
      [&row](Transaction& transaction) { return transaction.PutWorker(row); }));
  entry->row = row;
  return Describe(*entry);
}

v1::Worker Coordinator::Impl::Describe(const WorkerEntry& entry) const {
  v1::Worker worker = entry.info;
  worker.set_name(WorkerNameOf(entry.row.id));
  // Silent for longer than any lease lasts: gone, until it is heard again.
  const WallMicros silent = clock_.Wall() - entry.row.last_seen;
  const bool gone =
      entry.holds.empty() &&
      silent > 3 * std::chrono::duration_cast<std::chrono::microseconds>(
                       options_.lease_ttl)
                       .count();
  worker.set_state(gone ? v1::WORKER_STATE_GONE
                        : static_cast<v1::WorkerState>(entry.row.state));
  *worker.mutable_register_time() = TimestampToProto(entry.row.registered);
  *worker.mutable_last_seen_time() = TimestampToProto(entry.row.last_seen);
  for (const TrialKey& trial : entry.holds) {
    worker.add_trials(
        TrialNameOf(studies_.at(trial.study).row().id, trial.number));
  }
  worker.set_failures_in_a_row(entry.row.failures_in_a_row);
  if (entry.row.state == WorkerState::kQuarantined) {
    worker.set_state_reason(absl::StrCat(
        entry.row.failures_in_a_row,
        " failures in a row: mend their cause, then drain --undo"));
  }
  return worker;
}

absl::StatusOr<v1::ListWorkersReply> Coordinator::Impl::ListWorkers(
    const v1::ListWorkersRequest& request) {
  ASSIGN_OR_RETURN(const WorkerFilter filter,
                   WorkerFilter::Parse(request.filter()));
  ASSIGN_OR_RETURN(
      std::int64_t skip,
      ParsePageToken("workers", request.filter(), request.page_token()));
  const std::int64_t first = skip;
  const int page_size = PageSize(request.page_size());
  v1::ListWorkersReply reply;
  for (const auto& [id, entry] : workers_.all()) {
    const v1::Worker worker = Describe(entry);
    if (!filter.Matches(worker)) continue;
    if (skip-- > 0) continue;
    if (reply.workers_size() == page_size) {
      reply.set_next_page_token(
          MakePageToken("workers", request.filter(), first + page_size));
      break;
    }
    *reply.add_workers() = worker;
  }
  return reply;
}

}  // namespace frostline
