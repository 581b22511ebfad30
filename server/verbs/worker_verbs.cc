// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/worker_verbs.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "proto/wire_values.h"
#include "server/auth/access.h"
#include "server/verbs/describe.h"
#include "server/wire/field_checks.h"
#include "server/wire/filter.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

// Returns the log that an earlier life of the worker had written when it ended.
std::optional<storage::LogRow> LeftLogOf(const v1::RegisterRequest& request,
                                         const std::string& trial,
                                         const storage::TrialRow& row,
                                         WallMicros now) {
  for (const v1::LeftLog& left : request.left_logs()) {
    const LeaseProof proof{left.lease().attempt(),
                           AsStored(SecretString(left.lease().secret()))};
    if (left.lease().trial() != trial || !CheckLease(row, proof).ok()) continue;
    return storage::LogRow{.study = row.study,
                           .number = row.number,
                           .attempt = row.attempt,
                           .tail = left.tail(),
                           .written = now,
                           .place = left.place().SerializeAsString()};
  }
  return std::nullopt;
}

}  // namespace

WorkerVerbs::WorkerVerbs(Calls& calls, Ledger& ledger, Dispatcher& dispatcher,
                         const Credentials& credentials, const Clock& clock)
    : calls_(calls),
      ledger_(ledger),
      dispatcher_(dispatcher),
      credentials_(credentials),
      clock_(clock) {}

void WorkerVerbs::AddTo(VerbTable& table) {
  using V = WorkerVerbs;
  calls_.Add(table, "WorkerService.Register", CallerRole::kWorker, this,
             &V::Register);
  calls_.Add(table, "WorkerService.ListWorkers", CallerRole::kViewer, this,
             &V::ListWorkers);
  calls_.AddOnce(table, "WorkerService.DrainWorker", CallerRole::kAdmin, this,
                 &V::DrainWorker);
}

v1::Worker WorkerVerbs::Describe(const WorkerEntry& entry) const {
  return DescribeWorker(SnapshotOf(entry, ledger_), clock_.Wall(),
                        ledger_.default_lease().ttl);
}

absl::StatusOr<v1::RegisterReply> WorkerVerbs::Register(
    Change& change, const v1::RegisterRequest& request) {
  RETURN_IF_ERROR(CheckId(request.worker_id(), "worker_id"));
  RETURN_IF_ERROR(CheckWorker(change.caller.identity, request.worker_id(),
                              credentials_, clock_.Wall()));
  if (request.worker().boot_id().empty()) {
    return MakeError(ErrorId::kRequestInvalid, "the worker has no boot id",
                     "draw one at each start of the agent", "worker.boot_id");
  }
  RETURN_IF_ERROR(
      CheckWorkerVersion(request.worker().version(), FROSTLINE_VERSION));
  const WorkerEntry* const known = ledger_.workers().Find(request.worker_id());
  const bool is_new = known == nullptr;
  storage::WorkerRow row;
  if (!is_new) row = known->row;
  const bool new_life = row.boot_id != request.worker().boot_id();
  row.id = request.worker_id();
  row.boot_id = request.worker().boot_id();
  row.info = request.worker().SerializeAsString();
  row.last_seen = clock_.Wall();
  if (row.registered == 0) row.registered = row.last_seen;
  if (new_life) {
    row.state = storage::WorkerState::kActive;
    row.failures_in_a_row = 0;
  }
  ASSIGN_OR_RETURN(WorkerEntry * entry, ledger_.Register(change.batch, row));
  if (new_life) ledger_.blame().ForgetWorker(row.id);
  // Calls of the earlier life that are still parked get nothing.
  dispatcher_.TurnAway(change.batch, row.id, [&row](const ParkedAcquire& one) {
    return one.request.boot_id() != row.boot_id;
  });
  FROSTLINE_FAILPOINT(kRegisterWritten);
  v1::RegisterReply reply;
  if (!is_new && new_life) {
    const std::set<TrialKey> held = entry->holds;
    for (const TrialKey& trial : held) {
      StudyBook* const book = ledger_.Find(trial.study);
      const OpenTrial* const open =
          book == nullptr ? nullptr : book->Find(trial.number);
      if (open == nullptr || open->row.state != TrialState::kRunning) continue;
      const std::string name = TrialNameOf(book->row().id, trial.number);
      const auto left = LeftLogOf(request, name, open->row, clock_.Wall());
      RETURN_IF_ERROR(
          ledger_.Apply(change.batch, *book,
                        Lose(*open, "the worker was started again",
                             book->checked().lease.retry, clock_.Wall()),
                        [&left](storage::Transaction& transaction) {
                          return left.has_value() ? transaction.PutLog(*left)
                                                  : absl::OkStatus();
                        }));
      reply.add_own_trials(name);
    }
  }
  const LeaseRules& lease = ledger_.default_lease();
  dispatcher_.NoteRegistered(*entry);
  *reply.mutable_worker() = Describe(*entry);
  *reply.mutable_heartbeat_interval() =
      proto::DurationToProto(lease.heartbeat_interval);
  *reply.mutable_lease_ttl() = proto::DurationToProto(lease.ttl);
  reply.set_coordinator_version(FROSTLINE_VERSION);
  reply.set_max_request_bytes(kMaxRequestBytes);
  reply.add_takes("load");
  reply.add_takes("progress");
  reply.add_takes("evaluations");
  return reply;
}

absl::StatusOr<v1::Worker> WorkerVerbs::DrainWorker(
    Change& change, const v1::DrainWorkerRequest& request) {
  ASSIGN_OR_RETURN(const std::string id, ParseWorkerName(request.worker()));
  WorkerEntry* const entry = ledger_.workers().Find(id);
  if (entry == nullptr) {
    return MakeError(ErrorId::kWorkerUnknown,
                     request.worker() + " is not registered",
                     "see the list with `frostline worker list`", "worker");
  }
  storage::WorkerRow row = entry->row;
  row.state = request.undo() ? storage::WorkerState::kActive
                             : storage::WorkerState::kDraining;
  if (request.undo()) row.failures_in_a_row = 0;
  RETURN_IF_ERROR(ledger_.PutWorker(change.batch, *entry, row));
  if (request.undo()) {
    ledger_.blame().ForgetWorker(id);
    dispatcher_.BackInService(id);
  }
  return Describe(*entry);
}

void WorkerVerbs::ListWorkers(CallContext caller,
                              v1::ListWorkersRequest request,
                              Reply<v1::ListWorkersReply> reply) {
  const auto filter = WorkerFilter::Parse(request.filter());
  if (!filter.ok()) return reply(filter.status());
  const auto first =
      ParsePageToken("workers", request.filter(), request.page_token());
  if (!first.ok()) return reply(first.status());
  const auto render =
      [this, filter = *filter, first = *first,
       request = std::move(request)](const std::vector<WorkerSnapshot>& fleet) {
        std::int64_t skip = first;
        const int page_size = PageSize(request.page_size());
        v1::ListWorkersReply page;
        std::size_t bytes = 0;
        for (const WorkerSnapshot& one : fleet) {
          v1::Worker worker =
              DescribeWorker(one, clock_.Wall(), ledger_.default_lease().ttl);
          if (!filter.Matches(worker) || skip-- > 0) continue;
          bytes += worker.ByteSizeLong();
          const int count = page.workers_size();
          if (count == page_size || (bytes > kMostPageBytes && count > 0)) {
            page.set_next_page_token(
                MakePageToken("workers", request.filter(), first + count));
            break;
          }
          *page.add_workers() = std::move(worker);
        }
        return page;
      };
  calls_.Look<std::vector<WorkerSnapshot>>(
      std::move(caller), std::move(reply),
      [this](Change& change) {
        change.AssertOnLoop();
        std::vector<WorkerSnapshot> fleet = SnapshotOfAll(ledger_);
        if (IsLimited(change.caller.identity)) {
          for (WorkerSnapshot& one : fleet) Hide(change.caller.identity, one);
        }
        return fleet;
      },
      render);
}

void WorkerVerbs::Hide(const CallerIdentity& caller,
                       WorkerSnapshot& worker) const {
  std::erase_if(worker.trials, [&](const std::string& trial) FROSTLINE_ON_LOOP {
    const std::string name = trial.substr(0, trial.find("/trials/"));
    const absl::StatusOr<StudyBook*> book = ledger_.FindStudy(name);
    return !book.ok() || !CheckMaySee(caller, **book).ok();
  });
  worker.cause.clear();  // nobody knows of whose trial
}

}  // namespace frostline::server
