// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/scaler_verbs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "server/auth/access.h"
#include "server/dispatch/supply.h"
#include "server/wire/field_checks.h"

namespace frostline::server {
namespace {

using externalscaler::GetMetricSpecResponse;
using externalscaler::GetMetricsRequest;
using externalscaler::GetMetricsResponse;
using externalscaler::IsActiveResponse;
using externalscaler::ScaledObjectRef;

constexpr char kService[] = "externalscaler.ExternalScaler.";
constexpr Duration kBetweenLooks = std::chrono::milliseconds(200);
constexpr Duration kLooksAtLeast = std::chrono::seconds(5);

// The form was checked when the call came in.
ScalerQuery QueryOf(const ScaledObjectRef& asked) {
  return ParseScalerQuery(asked).value_or(ScalerQuery());
}

StudyBelongs WhoseIs(const std::string& name, const StudyBook& book) {
  return {name, book.row().owner, book.checked().settings.labels()};
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

absl::StatusOr<GetMetricSpecResponse> SpecOf(const ScaledObjectRef& asked) {
  const ScalerQuery query = QueryOf(asked);
  GetMetricSpecResponse response;
  externalscaler::MetricSpec& spec = *response.add_metricspecs();
  spec.set_metricname(kUnclaimedTrials);
  spec.set_targetsize(query.slots);
  spec.set_targetsizefloat(static_cast<double>(query.slots));
  return response;
}

}  // namespace

void ScalerVerbs::AddTo(VerbTable& table) {
  const auto add = [this, &table]<typename Request, typename Answer>(
                       const char* name, auto body, const Request&,
                       const Answer&) {
    table.unary.emplace(
        absl::StrCat(kService, name),
        MakeUnaryVerb<Request, Answer>(
            CallerRole::kViewer,
            [this, body](CallContext caller, Request request,
                         Reply<Answer> reply) {
              calls_.Act<Answer>(
                  std::move(caller), std::move(reply),
                  [body, request = std::move(request)](Change& change) {
                    return body(change, request);
                  });
            }));
  };
  add(
      "IsActive",
      [this](Change& change, const Object& asked) {
        change.AssertOnLoop();
        return IsActive(change.caller.identity, asked);
      },
      Object(), Activity());
  add(
      "GetMetricSpec",
      [](Change&, const Object& asked) { return SpecOf(asked); }, Object(),
      GetMetricSpecResponse());
  add(
      "GetMetrics",
      [this](Change& change, const GetMetricsRequest& asked) {
        change.AssertOnLoop();
        return GetMetrics(change.caller.identity, asked);
      },
      GetMetricsRequest(), GetMetricsResponse());
  const auto begin = [this](CallContext caller, Object asked) {
    auto told = std::make_shared<std::optional<bool>>();
    return [this, caller = std::move(caller), asked = std::move(asked),
            told](Reply<Activities> reply) {
      NextActivity(
          caller, asked, *told,
          [told,
           reply = std::move(reply)](absl::StatusOr<Activities> news) mutable {
            // The question came just when the loop had stopped.
            if (HasErrorId(news.status(), ErrorId::kCoordinatorDraining)) {
              news = Activities();
            }
            if (news.ok() && !news->empty()) {
              *told = news->back().result();
            }
            reply(std::move(news));
          });
    };
  };
  table.streams.emplace(
      absl::StrCat(kService, "StreamIsActive"),
      MakeStreamVerb<Object, Activity>(CallerRole::kViewer, begin));
}

absl::StatusOr<std::vector<const StudyBook*>> ScalerVerbs::Find(
    const CallerIdentity& caller, const ScalerQuery& query) const {
  std::vector<const StudyBook*> found;
  if (!query.study.empty()) {
    ASSIGN_OR_RETURN(const StudyBook* book, ledger_.FindStudy(query.study));
    RETURN_IF_ERROR(
        CheckStudyAccess(caller, WhoseIs(query.study, *book), false));
    if (const std::string* const label = LabelLacking(*book, query)) {
      return BadField("scalerMetadata.labels",
                      absl::StrCat("lacks ", *label, ", which ", query.study,
                                   " asks its workers for"),
                      "start these workers with --label, and say so here");
    }
    found.push_back(book);
    return found;
  }
  for (const auto& [key, book] : ledger_.studies()) {
    if (!book.IsLeasing()) continue;
    const std::string name = StudyNameOf(book.row().id);
    if (!MaySee(caller, WhoseIs(name, book))) continue;
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
  Ramp ramp;
  const WallMicros now = clock_.Wall();
  std::vector<Unclaimed> unclaimed;
  unclaimed.reserve(books.size());
  for (const StudyBook* const book : books) {
    unclaimed.push_back({book, CountUnclaimed(*book, ramp, now)});
  }
  dispatcher_.TakeOffExpected(unclaimed);
  std::int64_t trials = 0;
  for (const Unclaimed& one : unclaimed) trials += one.trials;
  return trials;
}

absl::StatusOr<IsActiveResponse> ScalerVerbs::IsActive(
    const CallerIdentity& caller, const Object& asked) const {
  ASSIGN_OR_RETURN(const std::int64_t unclaimed, Count(caller, QueryOf(asked)));
  IsActiveResponse response;
  response.set_result(unclaimed > 0);
  return response;
}

absl::StatusOr<GetMetricsResponse> ScalerVerbs::GetMetrics(
    const CallerIdentity& caller, const GetMetricsRequest& asked) const {
  ASSIGN_OR_RETURN(const std::int64_t unclaimed,
                   Count(caller, QueryOf(asked.scaledobjectref())));
  GetMetricsResponse response;
  externalscaler::MetricValue& value = *response.add_metricvalues();
  value.set_metricname(kUnclaimedTrials);
  value.set_metricvalue(unclaimed);
  value.set_metricvaluefloat(static_cast<double>(unclaimed));
  return response;
}

void ScalerVerbs::NextActivity(CallContext caller, const Object& asked,
                               std::optional<bool> told,
                               Reply<Activities> reply) {
  Parked parked{caller, QueryOf(asked), told, nullptr};
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
  if (parked.told == is_active) return;
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
