// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/stored_rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/rng.h"
#include "server/wire/convert.h"
#include "server/wire/limits.h"
#include "storage/trial_store.h"

namespace frostline::server {

Lookup Lookups::Begin() {
  const MutexLock lock(&mutex_);
  const auto begun = begun_.insert(group_);
  return Lookup(this, [this, begun](const void*) {
    const MutexLock end(&mutex_);
    begun_.erase(begun);
  });
}

std::int64_t Lookups::group() const {
  const MutexLock lock(&mutex_);
  return group_;
}

void Lookups::NextGroup() {
  const MutexLock lock(&mutex_);
  ++group_;
}

std::int64_t Lookups::OldestGroup() const {
  const MutexLock lock(&mutex_);
  return begun_.empty() ? group_ : *begun_.begin();
}

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

std::uint64_t HashRequest(const google::protobuf::Message& request) {
  return Fnv1a(OrderedBytes(request));
}

absl::StatusOr<std::optional<std::string>> ReplyBook::Find(
    const RequestMark& request,
    const std::optional<storage::ReplyRow>& stored) const {
  const auto fresh = fresh_.find(request.request_id);
  const storage::ReplyRow* const row = fresh != fresh_.end() ? &fresh->second
                                       : stored.has_value()  ? &*stored
                                                             : nullptr;
  if (row == nullptr) return std::optional<std::string>();
  if (row->method != request.method || row->request_hash != request.hash) {
    return MakeError(ErrorId::kRequestIdReused,
                     absl::StrCat("request id ", request.request_id,
                                  " was used for another ", row->method),
                     "draw a new request id for every new request",
                     "request_id");
  }
  return std::optional<std::string>(row->reply);
}

absl::Status ReplyBook::Remember(storage::Transaction& transaction,
                                 const RequestMark& request,
                                 const std::string& reply, WallMicros now) {
  const storage::ReplyRow row{.request_id = request.request_id,
                              .method = request.method,
                              .request_hash = request.hash,
                              .reply = reply,
                              .created = now};
  RETURN_IF_ERROR(transaction.RememberReply(row));
  Keep(request, reply, now);
  return absl::OkStatus();
}

void ReplyBook::Keep(const RequestMark& request, const std::string& reply,
                     WallMicros now) {
  order_.emplace_back(lookups_.group(), request.request_id);
  fresh_[request.request_id] = {.request_id = request.request_id,
                                .method = request.method,
                                .request_hash = request.hash,
                                .reply = reply,
                                .created = now};
}

void ReplyBook::Committed() {
  const std::int64_t oldest = lookups_.OldestGroup();
  while (!order_.empty() && order_.front().first < oldest) {
    fresh_.erase(order_.front().second);
    order_.pop_front();
  }
}

void ReplyBook::Undone() {
  while (!order_.empty() && order_.back().first == lookups_.group()) {
    fresh_.erase(order_.back().second);
    order_.pop_back();
  }
}

CurveLimit::CurveLimit(RunningTrials& running, const storage::TrialRow& row,
                       std::int64_t attempt)
    : running_(running),
      trial_{row.study, row.number},
      attempt_(attempt),
      last_step_(row.attempt == attempt ? std::optional(row.last_step)
                                        : std::nullopt) {}

// Counts only new steps: a report is repeated when its answer was lost.
std::int64_t CurveLimit::CountNew(
    const std::vector<storage::MeasurementRow>& measured,
    std::int64_t last_step) {
  return std::count_if(measured.begin(), measured.end(), [&](const auto& row) {
    return row.measurement.step > last_step;
  });
}

std::optional<std::int64_t> CurveLimit::Known() const {
  return last_step_ == -1 ? std::optional<std::int64_t>(0)
                          : running_.StepsOf(trial_, attempt_);
}

absl::StatusOr<StoredRows::Curve> CurveLimit::Read(StoredRows& rows) {
  const StoredRows::Curve* const curve = rows.CurveOf(trial_, attempt_);
  if (curve == nullptr) return absl::UnavailableError("read first");
  RETURN_IF_ERROR(curve->status);
  // If they differ, the reader could not see the last group yet.
  if (curve->last_step == last_step_) {
    running_.NoteSteps(trial_, attempt_, curve->steps);
  }
  return *curve;
}

absl::Status CurveLimit::Check(
    const std::vector<storage::MeasurementRow>& measured, StoredRows& rows) {
  const std::int64_t fresh = CountNew(measured, last_step_.value_or(-1));
  if (fresh == 0) return absl::OkStatus();
  const std::optional<std::int64_t> stored = Known();
  if (stored.has_value()) return CheckCurve(*stored + fresh, "measurements");
  if (measured.back().measurement.step < kMaxCurveSteps) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const StoredRows::Curve curve, Read(rows));
  const std::int64_t last_step = last_step_.value_or(curve.last_step);
  return CheckCurve(curve.steps + CountNew(measured, last_step),
                    "measurements");
}

void CurveLimit::NoteStored(
    const std::vector<storage::MeasurementRow>& measured) {
  const std::optional<std::int64_t> stored = Known();
  if (!stored.has_value()) return;
  running_.NoteSteps(trial_, attempt_,
                     *stored + CountNew(measured, last_step_.value_or(-1)));
}

}  // namespace frostline::server
