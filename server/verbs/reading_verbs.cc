// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/reading_verbs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "server/ledger/best_trials.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "server/wire/page_token.h"
#include "storage/scan.h"

namespace frostline::server {
namespace {

// A state named by the filter narrows what is read at all.
void Narrow(const TrialFilter& filter, storage::TrialQuery& query) {
  for (const FilterTerm& term : filter.terms()) {
    v1::TrialState state;
    if (term.field == "state" && term.op == "=" &&
        v1::TrialState_Parse("TRIAL_STATE_" + term.value, &state)) {
      query.states = {static_cast<TrialState>(state)};
    }
  }
}

}  // namespace

absl::StatusOr<v1::Trial> RenderTrial(const storage::TrialRow& row,
                                      const StudyHandle& study,
                                      v1::TrialView view,
                                      const storage::TrialStore& store) {
  std::vector<storage::AttemptRow> attempts;
  if (view == v1::TRIAL_VIEW_FULL) {
    ASSIGN_OR_RETURN(attempts, store.ListAttempts(study.key, row.number));
  }
  return TrialToProto(row, study.id, study.checked->space, view, attempts);
}

void ReadingVerbs::AddTo(VerbTable& table) {
  using V = ReadingVerbs;
  const auto add = [&](const char* verb, auto body) {
    calls_.Add(table, absl::StrCat("StudyService.", verb), CallerRole::kViewer,
               this, body);
  };
  add("GetTrial", &V::GetTrial);
  add("ListTrials", &V::ListTrials);
  add("ListMeasurements", &V::ListMeasurements);
  add("ListBestTrials", &V::ListBestTrials);
  add("GetExampleOutcomes", &V::GetExampleOutcomes);
}

absl::StatusOr<v1::Trial> ReadingVerbs::GetTrial(
    const StudyHandle& study, const v1::GetTrialRequest& request) const {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(request.name()));
  ASSIGN_OR_RETURN(const storage::TrialRow row,
                   store_.FindTrial(study.key, name.number));
  // One trial is shown whole unless the caller asks for less.
  const v1::TrialView view = request.view() == v1::TRIAL_VIEW_UNSPECIFIED
                                 ? v1::TRIAL_VIEW_FULL
                                 : request.view();
  return RenderTrial(row, study, view, store_);
}

absl::StatusOr<v1::ListTrialsReply> ReadingVerbs::ListTrials(
    const StudyHandle& study, const v1::ListTrialsRequest& request) const {
  ASSIGN_OR_RETURN(const TrialFilter filter,
                   TrialFilter::Parse(request.filter()));
  storage::TrialQuery query;
  query.study = study.key;
  query.limit = storage::kScanPage;
  const std::string list = absl::StrCat("trials of ", study.key);
  ASSIGN_OR_RETURN(query.after, ParsePageToken(list, request.filter(),
                                               request.page_token(), -1));
  Narrow(filter, query);
  const int page_size = PageSize(request.page_size());
  v1::ListTrialsReply reply;
  std::size_t bytes = 0;
  std::int64_t last = query.after;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<storage::TrialRow> rows,
                     store_.ListTrials(query));
    for (const storage::TrialRow& row : rows) {
      if (!filter.Matches(row)) continue;
      ASSIGN_OR_RETURN(v1::Trial trial,
                       RenderTrial(row, study, request.view(), store_));
      bytes += trial.ByteSizeLong();
      if (reply.trials_size() == page_size || bytes > kMostPageBytes) {
        reply.set_next_page_token(MakePageToken(list, request.filter(), last));
        return reply;
      }
      last = row.number;
      *reply.add_trials() = std::move(trial);
    }
    if (rows.size() < storage::kScanPage) return reply;
    query.after = rows.back().number;
  }
}

absl::StatusOr<v1::ListMeasurementsReply> ReadingVerbs::ListMeasurements(
    const StudyHandle& study,
    const v1::ListMeasurementsRequest& request) const {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(request.name()));
  ASSIGN_OR_RETURN(const storage::TrialRow row,
                   store_.FindTrial(study.key, name.number));
  storage::MeasurementQuery query{
      .study = study.key,
      .number = name.number,
      .attempt = request.attempt() == 0 ? row.attempt : request.attempt()};
  const std::string list =
      absl::StrCat("measurements of ", request.name(), "/", query.attempt);
  ASSIGN_OR_RETURN(query.after_step,
                   ParsePageToken(list, "", request.page_token(), -1));
  v1::ListMeasurementsReply reply;
  reply.set_attempt(query.attempt);
  if (request.downsample_to() > 0) {
    std::vector<Measurement> all;
    RETURN_IF_ERROR(storage::ForEachMeasurement(
        store_, query, [&all](const Measurement& measured) {
          all.push_back(measured);
          return absl::OkStatus();
        }));
    const std::size_t keep =
        std::min(all.size(), static_cast<std::size_t>(request.downsample_to()));
    for (std::size_t i = 0; i < keep; ++i) {
      const std::size_t at = keep == 1 ? 0 : i * (all.size() - 1) / (keep - 1);
      *reply.add_measurements() = MeasurementToProto(all[at]);
    }
    return reply;
  }
  const int page_size = PageSize(request.page_size());
  query.limit = page_size + 1;
  ASSIGN_OR_RETURN(const std::vector<Measurement> page,
                   store_.ListMeasurements(query));
  for (const Measurement& measurement : page) {
    if (reply.measurements_size() == page_size) {
      reply.set_next_page_token(
          MakePageToken(list, "", reply.measurements(page_size - 1).step()));
      break;
    }
    *reply.add_measurements() = MeasurementToProto(measurement);
  }
  return reply;
}

absl::StatusOr<v1::ListBestTrialsReply> ReadingVerbs::ListBestTrials(
    const StudyHandle& study, const v1::ListBestTrialsRequest& request) const {
  const std::vector<Objective>& objectives = study.checked->objectives;
  std::vector<storage::TrialRow> rows;
  const storage::TrialQuery query{.study = study.key,
                                  .states = {TrialState::kSucceeded}};
  RETURN_IF_ERROR(storage::ForEachTrial(store_, query,
                                        [&rows](const storage::TrialRow& row) {
                                          rows.push_back(row);
                                          return absl::OkStatus();
                                        }));
  if (objectives.size() > 1) {
    BestTrials front(objectives);
    for (const storage::TrialRow& row : rows)
      front.Offer(row.number, row.values);
    const std::vector<std::int64_t> numbers = front.Numbers();
    std::erase_if(rows, [&numbers](const storage::TrialRow& row) {
      return std::find(numbers.begin(), numbers.end(), row.number) ==
             numbers.end();
    });
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const storage::TrialRow& a, const storage::TrialRow& b) {
                     return AsLoss(objectives[0], a.values[0]) <
                            AsLoss(objectives[0], b.values[0]);
                   });
  const int limit = request.limit() > 0     ? request.limit()
                    : objectives.size() > 1 ? static_cast<int>(rows.size())
                                            : 1;
  std::set<std::vector<bool>> patterns;
  v1::ListBestTrialsReply reply;
  reply.set_revision(study.revision);
  for (const storage::TrialRow& row : rows) {
    if (reply.trials_size() == limit) break;
    std::vector<bool> frozen;
    for (const ModuleRate& rate : study.checked->space.Rates(row.point)) {
      frozen.push_back(rate.rate == 0.0);
    }
    if (request.distinct() && !patterns.insert(frozen).second) continue;
    ASSIGN_OR_RETURN(*reply.add_trials(),
                     RenderTrial(row, study, v1::TRIAL_VIEW_FULL, store_));
  }
  return reply;
}

absl::StatusOr<v1::ExampleOutcomes> ReadingVerbs::GetExampleOutcomes(
    const StudyHandle& study,
    const v1::GetExampleOutcomesRequest& request) const {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(request.name()));
  RETURN_IF_ERROR(store_.FindTrial(study.key, name.number).status());
  ASSIGN_OR_RETURN(const std::optional<storage::OutcomeRow> row,
                   store_.FindOutcome(study.key, name.number));
  if (!row.has_value()) {
    return MakeError(ErrorId::kTrialNotFound,
                     request.name() + " brought no outcomes of examples",
                     "set training.report_example_outcomes in the study",
                     "name");
  }
  v1::ExampleOutcomes outcomes;
  outcomes.set_data_fingerprint(row->data_fingerprint);
  outcomes.set_encoding(
      static_cast<v1::ExampleOutcomes::Encoding>(row->encoding));
  outcomes.set_count(row->count);
  outcomes.set_data(row->data);
  return outcomes;
}

}  // namespace frostline::server
