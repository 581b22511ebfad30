// SPDX-License-Identifier: Apache-2.0
#include "server/search/observed_steps.h"

#include "base/status_macros.h"
#include "server/wire/observation.h"
#include "storage/scan.h"

namespace frostline::server {
namespace {

absl::StatusOr<std::vector<IntermediateValue>> ReadIntermediate(
    const storage::TrialRow& row, const CheckedStudy& study,
    const storage::TrialStore& store) {
  std::vector<IntermediateValue> values;
  const storage::MeasurementQuery query{
      .study = row.study, .number = row.number, .attempt = row.attempt};
  RETURN_IF_ERROR(storage::ForEachMeasurement(
      store, query, [&](const Measurement& measured) {
        for (const IntermediateValue& value :
             IntermediateOf({measured}, study)) {
          values.push_back(value);
        }
        return absl::OkStatus();
      }));
  return values;
}

}  // namespace

std::vector<IntermediateValue> IntermediateOf(
    const std::vector<Measurement>& measurements, const CheckedStudy& study) {
  std::vector<IntermediateValue> values;
  for (const Measurement& measurement : measurements) {
    const auto found = measurement.metrics.find(study.objectives[0].metric);
    if (found == measurement.metrics.end()) continue;
    values.push_back({measurement.step, found->second});
  }
  return values;
}

absl::StatusOr<Observation> ReadObservation(const storage::TrialRow& row,
                                            const CheckedStudy& study,
                                            const storage::TrialStore& store) {
  Observation seen = ObservationOf(row);
  if (row.last_step >= 0 && study.pruner.name != "none") {
    ASSIGN_OR_RETURN(seen.intermediate, ReadIntermediate(row, study, store));
  }
  return seen;
}

}  // namespace frostline::server
