// SPDX-License-Identifier: Apache-2.0
//
// Who waits gets what there is: queued trials first, and proposals for the
// rest. Proposals are prepared ahead, for slots that have just become free, so
// that a worker rarely waits for a sampler.
#include <algorithm>
#include <utility>

#include "base/failpoint.h"
#include "base/ids.h"
#include "server/dispatch/dispatcher.h"
#include "server/wire/convert.h"
#include "server/wire/training_seed.h"

namespace frostline::server {
namespace {

constexpr Duration kTooLate = std::chrono::seconds(1);

// All that must be remembered of a reply: the rest is in the trials' rows.
v1::AcquireReply NamesOf(const v1::AcquireReply& reply) {
  v1::AcquireReply names;
  for (const v1::Lease& lease : reply.leases()) {
    v1::Lease* const name = names.add_leases();
    name->set_trial(lease.trial());
    name->set_attempt(lease.attempt());
  }
  return names;
}

}  // namespace

void Dispatcher::Serve(Batch& batch) {
  if (draining_ || (parked_.size() == 0 && expected_.empty())) return;
  if (disk_.room == storage::Room::kNoNewLeases) return;
  std::vector<Supply> supplies = FindSupplies(ledger_, clock_.Wall());
  const SteadyTime now = clock_.Steady();
  parked_.Offer([&](ParkedAcquire& parked) {
    batch.AssertOnLoop();
    // Who waits on is kept: what is wanted of the supplies is asked for below.
    if (std::all_of(supplies.begin(), supplies.end(),
                    [](const Supply& supply) { return supply.used_up(); })) {
      return Offered::kEnough;
    }
    const bool gone =
        parked.caller.hung_up() || now - parked.deadline > kTooLate;
    if (gone) AnswerNone(batch, parked);
    return gone || TryServe(batch, parked, supplies) ? Offered::kLeaves
                                                     : Offered::kStays;
  });
  expected_.Count(ledger_, now, supplies);
  AskForProposals(supplies);
}

void Dispatcher::AskForProposals(std::vector<Supply>& supplies) {
  for (const Supply& supply : supplies) {
    StudyBook& book = *supply.book;
    const std::int64_t ask =
        std::min(supply.wanted, supply.can_propose) - book.reserved();
    if (ask <= 0) continue;
    const std::int64_t first = book.Reserve(ask);
    proposer_.Propose(book.row().key, first, ask, book.revision());
  }
}

bool Dispatcher::TryServe(Batch& batch, ParkedAcquire& parked,
                          std::vector<Supply>& supplies) {
  const WorkerEntry* const worker = ledger_.workers().Find(parked.worker);
  if (worker == nullptr || worker->row.state != storage::WorkerState::kActive ||
      worker->row.boot_id != parked.request.boot_id()) {
    return false;
  }
  const std::string& only = parked.request.study();
  v1::AcquireReply reply;
  for (Supply& supply : supplies) {
    StudyBook& book = *supply.book;
    if (!only.empty() && StudyNameOf(book.row().id) != only) continue;
    if (!MayServe(*worker, book)) continue;
    while (supply.queued > 0 &&
           reply.leases_size() < parked.request.max_leases()) {
      const bool granted = GrantNext(batch, book, parked, reply);
      supply.queued = granted ? supply.queued - 1 : 0;
    }
    const std::int64_t lacking =
        parked.request.max_leases() - reply.leases_size();
    if (lacking == 0) break;
    if (reply.leases_size() == 0 && supply.can_propose > supply.wanted) {
      supply.wanted += lacking;
      break;  // one proposal for one slot, not one of every study
    }
  }
  if (reply.leases_size() == 0) return false;
  const RequestMark mark = MarkOf(parked.request);
  const absl::Status remembered =
      batch.Write([&](storage::Transaction& transaction) {
        batch.AssertOnLoop();
        return ledger_.replies().Remember(transaction, mark,
                                          NamesOf(reply).SerializeAsString(),
                                          clock_.Wall());
      });
  batch.Then([reply_to = std::move(parked.reply), reply = std::move(reply),
              remembered](const absl::Status& committed) mutable {
    if (!committed.ok()) return reply_to(committed);
    if (!remembered.ok()) return reply_to(remembered);
    reply_to(std::move(reply));
  });
  return true;
}

bool Dispatcher::GrantNext(Batch& batch, StudyBook& book,
                           const ParkedAcquire& parked,
                           v1::AcquireReply& reply) {
  if (book.AtParallelLimit()) return false;
  const std::optional<std::int64_t> number = book.NextQueued(parked.worker);
  if (!number.has_value()) return false;
  const bool first_attempt = book.Find(*number)->row.attempt == 0;
  Transition grant =
      Grant(*book.Find(*number), parked.worker, parked.request.boot_id(),
            SecretString(RandomHexId()), clock_.Wall());
  if (!ledger_.Apply(batch, book, std::move(grant)).ok()) return false;
  FROSTLINE_FAILPOINT(kGrantWritten);
  ledger_.RenewLease(book, *number);
  const OpenTrial& leased = *book.Find(*number);
  if (!first_attempt) {
    proposer_.Began(book.row().key, *number, leased.row.point,
                    NotedSeedOf(leased.row));
  }
  *reply.add_leases() =
      LeaseToProto(leased.row, leased.attempt, book.row().id, book.checked());
  return true;
}

}  // namespace frostline::server
