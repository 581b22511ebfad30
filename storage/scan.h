// SPDX-License-Identifier: Apache-2.0
//
// File: scan.h
//
// A walk goes page by page, so that memory does not grow. It sets
// `query.limit`, and ends with the first error of the store or of `visit`.
#ifndef FROSTLINE_STORAGE_SCAN_H_
#define FROSTLINE_STORAGE_SCAN_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "storage/trial_store.h"

namespace frostline::storage {

inline constexpr int kScanPage = 1'000;

absl::Status ForEachStudy(
    const TrialStore& store, StudyQuery query,
    absl::FunctionRef<absl::Status(const StudyRow&)> visit);
absl::Status ForEachTrial(
    const TrialStore& store, TrialQuery query,
    absl::FunctionRef<absl::Status(const TrialRow&)> visit);
absl::Status ForEachMeasurement(
    const TrialStore& store, MeasurementQuery query,
    absl::FunctionRef<absl::Status(const Measurement&)> visit);

absl::Status ForEachSummary(
    const TrialStore& store,
    absl::FunctionRef<absl::Status(const SummaryRow&)> visit);
absl::Status ForEachBest(const TrialStore& store, StudyKey study,
                         absl::FunctionRef<absl::Status(const BestRow&)> visit);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SCAN_H_
