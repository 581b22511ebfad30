// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/worker_verbs.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "proto/rules.h"
#include "proto/wire_values.h"
#include "server/auth/access.h"
#include "server/dispatch/supply.h"
#include "server/verbs/describe.h"
#include "server/wire/filter.h"
#include "server/wire/limits.h"
#include "server/wire/validate.h"

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
  reply.add_takes("audit");
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
  const auto render = [this, filter = *filter, first = *first,
                       request = std::move(request)](
                          const std::vector<WorkerSnapshot>& fleet,
                          Reply<v1::ListWorkersReply> to) {
    std::int64_t skip = first;
    const int page_size = PageSize(request.page_size());
    v1::ListWorkersReply page;
    std::size_t bytes = 0;
    for (const WorkerSnapshot& one : fleet) {
      v1::Worker worker =
          DescribeWorker(one, clock_.Wall(), ledger_.default_lease().ttl);
      if (!filter.Matches(worker) || skip-- > 0) continue;
      if (request.has_history()) {
        auto history = ledger_.loads().Of(
            one.entry.row.id, proto::DurationFromProto(request.history()),
            clock_.Wall());
        if (history.has_value())
          *worker.mutable_history() = *std::move(history);
      }
      bytes += worker.ByteSizeLong();
      const int count = page.workers_size();
      if (count == page_size || (bytes > kMostPageBytes && count > 0)) {
        page.set_next_page_token(
            MakePageToken("workers", request.filter(), first + count));
        break;
      }
      *page.add_workers() = std::move(worker);
    }
    to(std::move(page));
  };
  calls_.Look<std::vector<WorkerSnapshot>>(
      calls_.readers(), std::move(caller), std::move(reply),
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
    return !book.ok() || !CheckAccess(caller, **book).ok();
  });
  worker.cause.clear();  // nobody knows of whose trial
}

namespace {

using externalscaler::GetMetricSpecResponse;
using externalscaler::GetMetricsRequest;
using externalscaler::GetMetricsResponse;
using externalscaler::IsActiveResponse;
using externalscaler::ScaledObjectRef;

constexpr Duration kBetweenLooks = std::chrono::milliseconds(200);
constexpr Duration kLooksAtLeast = std::chrono::seconds(5);

// The form was checked when the call came in.
ScalerQuery QueryOf(const ScaledObjectRef& object) {
  return ParseScalerQuery(object).value_or(ScalerQuery());
}

// Returns a label that the study asks for and the workers lack, or null.
const std::string* LabelLacking(const StudyBook& book,
                                const ScalerQuery& query) {
  const auto& required = book.checked().settings.required_worker_labels();
  const auto lacks = std::find_if(
      required.begin(), required.end(), [&query](const auto& label) {
        const auto found = query.labels.find(label.first);
        return found == query.labels.end() || found->second != label.second;
      });
  return lacks == required.end() ? nullptr : &lacks->first;
}

}  // namespace

void ScalerVerbs::AddTo(VerbTable& table) {
  using V = ScalerVerbs;
  constexpr CallerRole kViewer = CallerRole::kViewer;
  calls_.Add(table, "ExternalScaler.IsActive", kViewer, this, &V::IsActive);
  calls_.Add(table, "ExternalScaler.GetMetricSpec", kViewer, this,
             &V::GetMetricSpec);
  calls_.Add(table, "ExternalScaler.GetMetrics", kViewer, this, &V::GetMetrics);
  const auto begin = [this](CallContext caller, Object object) {
    auto last = std::make_shared<std::optional<bool>>();
    return [this, caller = std::move(caller), object = std::move(object),
            last](Reply<Activities> reply) {
      NextActivity(
          caller, object, *last,
          [last,
           reply = std::move(reply)](absl::StatusOr<Activities> news) mutable {
            // The question came just when the loop had stopped.
            if (HasErrorId(news.status(), ErrorId::kCoordinatorDraining)) {
              news = Activities();
            }
            if (news.ok() && !news->empty()) *last = news->back().result();
            reply(std::move(news));
          });
    };
  };
  table.streams.emplace("externalscaler.ExternalScaler.StreamIsActive",
                        MakeStreamVerb<Object, Activity>(kViewer, begin));
}

absl::StatusOr<std::vector<const StudyBook*>> ScalerVerbs::Find(
    const CallerIdentity& caller, const ScalerQuery& query) const {
  std::vector<const StudyBook*> found;
  if (!query.study.empty()) {
    ASSIGN_OR_RETURN(const StudyBook* book, ledger_.FindStudy(query.study));
    RETURN_IF_ERROR(CheckAccess(caller, *book));
    if (const std::string* const label = LabelLacking(*book, query)) {
      return proto::BadField(
          "scalerMetadata.labels",
          absl::StrCat("lacks ", *label, ", which ", query.study,
                       " asks its workers for"),
          "start these workers with --label, and say so here");
    }
    found.push_back(book);
    return found;
  }
  for (const auto& [key, book] : ledger_.studies()) {
    if (!book.IsLeasing()) continue;
    if (!CheckAccess(caller, book).ok()) continue;
    if (LabelLacking(book, query) == nullptr) found.push_back(&book);
  }
  return found;
}

absl::StatusOr<std::int64_t> ScalerVerbs::Count(
    const CallerIdentity& caller, const ScalerQuery& query) const {
  ASSIGN_OR_RETURN(const std::vector<const StudyBook*> books,
                   Find(caller, query));
  // Trials that cannot begin because the disk is full need no worker.
  if (disk_.room == storage::Room::kNoNewLeases) return 0;
  TeachingLimit teaching_limit;
  const WallMicros now = clock_.Wall();
  std::vector<Unclaimed> unclaimed;
  unclaimed.reserve(books.size());
  for (const StudyBook* const book : books) {
    unclaimed.push_back({book, CountUnclaimed(*book, teaching_limit, now)});
  }
  dispatcher_.TakeOffExpected(unclaimed);
  std::int64_t trials = 0;
  for (const Unclaimed& one : unclaimed) trials += one.trials;
  return trials;
}

absl::StatusOr<IsActiveResponse> ScalerVerbs::IsActive(Change& change,
                                                       const Object& object) {
  ASSIGN_OR_RETURN(const std::int64_t unclaimed,
                   Count(change.caller.identity, QueryOf(object)));
  IsActiveResponse response;
  response.set_result(unclaimed > 0);
  return response;
}

absl::StatusOr<GetMetricSpecResponse> ScalerVerbs::GetMetricSpec(
    Change&, const Object& object) {
  const ScalerQuery query = QueryOf(object);
  GetMetricSpecResponse response;
  externalscaler::MetricSpec& spec = *response.add_metricspecs();
  spec.set_metricname(kUnclaimedTrials);
  spec.set_targetsize(query.slots);
  spec.set_targetsizefloat(static_cast<double>(query.slots));
  return response;
}

absl::StatusOr<GetMetricsResponse> ScalerVerbs::GetMetrics(
    Change& change, const GetMetricsRequest& request) {
  ASSIGN_OR_RETURN(
      const std::int64_t unclaimed,
      Count(change.caller.identity, QueryOf(request.scaledobjectref())));
  GetMetricsResponse response;
  externalscaler::MetricValue& value = *response.add_metricvalues();
  value.set_metricname(kUnclaimedTrials);
  value.set_metricvalue(unclaimed);
  value.set_metricvaluefloat(static_cast<double>(unclaimed));
  return response;
}

void ScalerVerbs::NextActivity(CallContext caller, const Object& object,
                               std::optional<bool> last,
                               Reply<Activities> reply) {
  Parked parked{caller, QueryOf(object), last, nullptr};
  calls_.Wait(std::move(caller), std::move(reply),
              [this, parked = std::move(parked)](
                  Change& change, Reply<Activities>& to) mutable {
                change.AssertOnLoop();
                parked.reply = std::exchange(to, nullptr);
                arrived_.push_back(std::move(parked));
                return absl::OkStatus();
              });
}

void ScalerVerbs::Look(Parked& parked) const {
  const absl::Status waits = CheckWaiting(parked.caller);
  if (!waits.ok()) return std::exchange(parked.reply, nullptr)(waits);
  const auto unclaimed = Count(parked.caller.identity, parked.query);
  if (!unclaimed.ok()) {
    return std::exchange(parked.reply, nullptr)(unclaimed.status());
  }
  const bool is_active = *unclaimed > 0;
  if (parked.last == is_active) return;
  Activity news;
  news.set_result(is_active);
  std::exchange(parked.reply, nullptr)(Activities{news});
}

void ScalerVerbs::LookAtAll(std::list<Parked>& streams) const {
  for (Parked& stream : streams) Look(stream);
  streams.remove_if([](const Parked& stream) { return !stream.reply; });
}

void ScalerVerbs::Committed() {
  LookAtAll(arrived_);
  parked_.splice(parked_.end(), arrived_);
  if (parked_.empty()) return;
  if (!ledger_.changed().empty()) {
    next_look_ = std::min(next_look_, looked_ + kBetweenLooks);
  }
  const SteadyTime now = clock_.Steady();
  if (now < next_look_) return;
  looked_ = now;
  next_look_ = now + kLooksAtLeast;
  LookAtAll(parked_);
}

void ScalerVerbs::Drain(Batch& batch) {
  parked_.splice(parked_.end(), arrived_);
  for (Parked& parked : std::exchange(parked_, {})) {
    batch.Then([reply = std::move(parked.reply)](const absl::Status&) mutable {
      reply(Activities());
    });
  }
}

std::optional<SteadyTime> ScalerVerbs::NextDue() const {
  if (parked_.empty()) return std::nullopt;
  return next_look_;
}

}  // namespace frostline::server
