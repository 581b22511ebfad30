// SPDX-License-Identifier: Apache-2.0
#include "storage/trial_store.h"

#include <vector>

#include "base/error.h"

namespace frostline::storage {
namespace {

// Visits page by page: `list` returns the page after the query's place, `move`
// moves the place past a row.
template <typename Query, typename Row, typename List, typename Move>
absl::Status Walk(Query query, List list, Move move,
                  absl::FunctionRef<absl::Status(const Row&)> visit) {
  if constexpr (requires { query.limit; }) query.limit = kScanPage;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<Row> page, list(query));
    for (const Row& row : page) RETURN_IF_ERROR(visit(row));
    if (page.size() < kScanPage) return absl::OkStatus();
    move(query, page.back());
  }
}

}  // namespace

absl::Status ForEachStudy(
    const TrialStore& store, StudyQuery query,
    absl::FunctionRef<absl::Status(const StudyRow&)> visit) {
  return Walk<StudyQuery, StudyRow>(
      query, [&store](const StudyQuery& q) { return store.ListStudies(q); },
      [](StudyQuery& q, const StudyRow& last) { q.after = last.key; }, visit);
}

absl::Status ForEachTrial(
    const TrialStore& store, TrialQuery query,
    absl::FunctionRef<absl::Status(const TrialRow&)> visit) {
  return Walk<TrialQuery, TrialRow>(
      query, [&store](const TrialQuery& q) { return store.ListTrials(q); },
      [](TrialQuery& q, const TrialRow& last) {
        const bool by_number = q.order == TrialQuery::Order::kNumber;
        q.after = by_number ? last.number : last.revision;
      },
      visit);
}

absl::Status ForEachMeasurement(
    const TrialStore& store, MeasurementQuery query,
    absl::FunctionRef<absl::Status(const Measurement&)> visit) {
  return Walk<MeasurementQuery, Measurement>(
      query,
      [&store](const MeasurementQuery& q) { return store.ListMeasurements(q); },
      [](MeasurementQuery& q, const Measurement& last) {
        q.after_step = last.step;
      },
      visit);
}

absl::Status ForEachSummary(
    const TrialStore& store,
    absl::FunctionRef<absl::Status(const SummaryRow&)> visit) {
  return Walk<StudyKey, SummaryRow>(
      0,
      [&store](StudyKey after) {
        return store.ListSummaries(after, kScanPage);
      },
      [](StudyKey& after, const SummaryRow& last) { after = last.study; },
      visit);
}

absl::Status ForEachBest(
    const TrialStore& store, StudyKey study,
    absl::FunctionRef<absl::Status(const BestRow&)> visit) {
  return Walk<std::int64_t, BestRow>(
      -1,
      [&store, study](std::int64_t after) {
        return store.ListBest(study, after, kScanPage);
      },
      [](std::int64_t& after, const BestRow& last) { after = last.number; },
      visit);
}

}  // namespace frostline::storage
