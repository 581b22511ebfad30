// SPDX-License-Identifier: Apache-2.0
#include "storage/scan.h"

#include <vector>

#include "base/status_macros.h"

namespace frostline::storage {
namespace {

// `list` answers the page after the query's place, `move` moves the place to
// behind a row.
template <typename Query, typename Row, typename List, typename Move>
absl::Status Walk(Query query, List list, Move move,
                  absl::FunctionRef<absl::Status(const Row&)> visit) {
  query.limit = kScanPage;
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

}  // namespace frostline::storage
