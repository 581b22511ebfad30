// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/storage/workload.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "tests/contract/full_rows.h"
#include "tests/contract/row_text.h"

namespace frostline::test {
namespace {

constexpr storage::StudyKey kStudy = 1;

absl::StatusOr<std::vector<std::string>> ReadTexts(
    const storage::TrialStore& store) {
  std::vector<std::string> texts;
  ASSIGN_OR_RETURN(const auto studies, store.ListStudies({}));
  texts.push_back(absl::StrCat(studies.size(), " studies"));
  ASSIGN_OR_RETURN(const auto trials, store.ListTrials(TrialsOf(kStudy, 1000)));
  for (const storage::TrialRow& trial : trials) {
    texts.push_back(Text(trial));
    ASSIGN_OR_RETURN(const auto measurements,
                     store.ListMeasurements({.study = kStudy,
                                             .number = trial.number,
                                             .attempt = trial.attempt}));
    for (const Measurement& measurement : measurements) {
      texts.push_back(Text(measurement));
    }
    ASSIGN_OR_RETURN(const auto outcome,
                     store.FindOutcome(kStudy, trial.number));
    if (outcome.has_value()) texts.push_back(Text(*outcome));
  }
  return texts;
}

}  // namespace

// In the order of ReadTexts().
std::vector<std::string> Workload::TextsOf(const State& state) {
  std::vector<std::string> texts = {
      absl::StrCat(state.has_study ? 1 : 0, " studies")};
  for (const auto& [number, trial] : state.trials) {
    texts.push_back(Text(trial));
    for (auto it = state.measurements.lower_bound({number, 0});
         it != state.measurements.end() && it->first.first == number; ++it) {
      texts.push_back(Text(it->second.measurement));
    }
    const auto outcome = state.outcomes.find(number);
    if (outcome != state.outcomes.end()) texts.push_back(Text(outcome->second));
  }
  return texts;
}

absl::Status Workload::Write(storage::Transaction& transaction, State& state) {
  if (!state.has_study) {
    RETURN_IF_ERROR(transaction.InsertStudy(FullStudy("imdb")).status());
    state.has_study = true;
  }
  const auto next = static_cast<std::int64_t>(state.trials.size());
  const storage::TrialRow trial = FullTrial(kStudy, next);
  RETURN_IF_ERROR(transaction.InsertTrial(trial));
  state.trials[next] = trial;
  for (std::uint64_t i = rng_.Below(4); i > 0; --i) {
    RETURN_IF_ERROR(
        transaction.Operation([&] { return Change(transaction, state); }));
  }
  return absl::OkStatus();
}

absl::Status Workload::Change(storage::Transaction& transaction, State& state) {
  const auto number = static_cast<std::int64_t>(
      rng_.Below(static_cast<std::uint64_t>(state.trials.size())));
  storage::TrialRow& trial = state.trials[number];
  const std::uint64_t kind = rng_.Below(8);
  if (kind == 0) {
    storage::OutcomeRow outcome = FullOutcome(kStudy, number);
    outcome.data = std::string(rng_.Below(20'000), 'x');
    state.outcomes[number] = outcome;
    return transaction.PutOutcome(outcome);
  }
  if (kind < 4) {
    auto step = static_cast<std::int64_t>(rng_.Below(1000));
    const storage::MeasurementRow row =
        FullMeasurement(kStudy, number, trial.attempt, step);
    state.measurements[{number, step}] = row;  // the same if it was there
    return transaction.AddMeasurements({row});
  }
  const storage::TrialGuard guard = GuardOf(trial);
  trial.priority += 1;
  trial.cause = std::string(rng_.Below(300), 'c');
  return transaction.UpdateTrial(trial, guard);
}

absl::StatusOr<storage::Epoch> Workload::Lead(storage::TrialStore& store) {
  if (epoch_ > 0 && rng_.Below(8) > 0) return epoch_;
  epoch_ = 0;
  ASSIGN_OR_RETURN(epoch_, store.TakeLead());
  epoch_was_given_twice_ = epoch_was_given_twice_ || epoch_ <= highest_;
  highest_ = epoch_;
  return epoch_;
}

absl::Status Workload::Step(storage::TrialStore& store) {
  State after = stored_;
  ASSIGN_OR_RETURN(const storage::Epoch epoch, Lead(store));
  ASSIGN_OR_RETURN(const std::unique_ptr<storage::Transaction> transaction,
                   store.Begin(epoch));
  RETURN_IF_ERROR(Write(*transaction, after));
  const absl::Status status = transaction->Commit();
  if (status.ok()) {
    stored_ = std::move(after);
    ++acknowledged_;
  } else if (!HasErrorId(status, ErrorId::kStoreFull)) {
    in_doubt_ = std::move(after);
  }
  return status;
}

testing::AssertionResult Workload::Check(const storage::TrialStore& store) {
  if (epoch_was_given_twice_) {
    return testing::AssertionFailure() << "epoch " << epoch_ << " came twice";
  }
  const auto texts = ReadTexts(store);
  if (!texts.ok()) {
    return testing::AssertionFailure() << DescribeError(texts.status());
  }
  if (in_doubt_.has_value() && *texts == TextsOf(*in_doubt_)) {
    stored_ = *std::move(in_doubt_);
  }
  in_doubt_.reset();
  const std::vector<std::string> expected = TextsOf(stored_);
  if (*texts == expected) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "after " << acknowledged_ << " transactions " << texts->size()
         << " rows are stored, acknowledged are " << expected.size();
}

}  // namespace frostline::test
