// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/stored_rows.h"

#include <utility>

#include "storage/trial_store.h"

namespace frostline::server {
namespace {

TrialAsStored ReadTrial(const storage::TrialStore& store, TrialKey key) {
  TrialAsStored trial;
  auto row = store.FindTrial(key.study, key.number);
  if (!row.ok()) {
    trial.status = row.status();
    return trial;
  }
  auto attempts = store.ListAttempts(key.study, key.number);
  trial.status = attempts.status();
  trial.row = *std::move(row);
  if (attempts.ok()) trial.attempts = *std::move(attempts);
  return trial;
}

StoredRows::Curve CountSteps(const storage::TrialStore& store, TrialKey trial,
                             std::int64_t attempt) {
  StoredRows::Curve curve;
  curve.status = storage::ForEachMeasurement(
      store, {.study = trial.study, .number = trial.number, .attempt = attempt},
      [&curve](const Measurement& measured) {
        ++curve.steps;
        curve.last_step = measured.step;
        return absl::OkStatus();
      });
  return curve;
}

}  // namespace

const TrialAsStored* StoredRows::Trial(TrialKey trial) {
  const auto found = trials_.find(trial);
  if (found != trials_.end()) return &found->second;
  trials_wanted_.insert(trial);
  return nullptr;
}

const StoredRows::FirstStep* StoredRows::StepFrom(TrialKey trial,
                                                  std::int64_t attempt,
                                                  std::int64_t step) {
  const StepKey key{trial, attempt, step};
  const auto found = steps_.find(key);
  if (found != steps_.end()) return &found->second;
  steps_wanted_.insert(key);
  return nullptr;
}

const StoredRows::Curve* StoredRows::CurveOf(TrialKey trial,
                                             std::int64_t attempt) {
  const CurveKey key{trial, attempt};
  const auto found = curves_.find(key);
  if (found != curves_.end()) return &found->second;
  curves_wanted_.insert(key);
  return nullptr;
}

void StoredRows::Read(const storage::TrialStore& store) {
  for (const TrialKey& key : std::exchange(trials_wanted_, {})) {
    trials_.insert_or_assign(key, ReadTrial(store, key));
  }
  for (const StepKey& key : std::exchange(steps_wanted_, {})) {
    const auto& [trial, attempt, step] = key;
    const auto stored = store.ListMeasurements({.study = trial.study,
                                                .number = trial.number,
                                                .attempt = attempt,
                                                .after_step = step - 1,
                                                .limit = 1});
    FirstStep first = std::optional<std::int64_t>();
    if (!stored.ok()) {
      first = stored.status();
    } else if (!stored->empty()) {
      first = std::optional<std::int64_t>(stored->front().step);
    }
    steps_.insert_or_assign(key, std::move(first));
  }
  for (const CurveKey& key : std::exchange(curves_wanted_, {})) {
    curves_.insert_or_assign(key, CountSteps(store, key.first, key.second));
  }
}

}  // namespace frostline::server
