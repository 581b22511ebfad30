// SPDX-License-Identifier: Apache-2.0
//
// File: workload.h
//
// Random transactions on a store, and the record of what it acknowledged. When
// a commit fails for want of power nobody knows whether it happened: then all
// of it must be there afterwards, or nothing.
#ifndef FROSTLINE_TESTS_FAULT_STORAGE_WORKLOAD_H_
#define FROSTLINE_TESTS_FAULT_STORAGE_WORKLOAD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/rng.h"
#include "gtest/gtest.h"
#include "storage/trial_store.h"

namespace frostline::test {

class Workload {
 public:
  explicit Workload(std::uint64_t seed) : rng_(seed) {}

  // One transaction. The store's error, if there was one.
  absl::Status Step(storage::TrialStore& store);
  // Every acknowledged row is there as it was last written, and no other; and
  // no epoch was given twice.
  testing::AssertionResult Check(const storage::TrialStore& store);

  std::int64_t acknowledged() const { return acknowledged_; }  // transactions

 private:
  struct State {
    bool has_study = false;
    std::map<std::int64_t, storage::TrialRow> trials;
    std::map<std::pair<std::int64_t, std::int64_t>, storage::MeasurementRow>
        measurements;  // by number and step
    std::map<std::int64_t, storage::OutcomeRow> outcomes;
  };

  static std::vector<std::string> TextsOf(const State& state);
  absl::Status Write(storage::Transaction& transaction, State& state);
  absl::Status Change(storage::Transaction& transaction, State& state);
  // Takes the lead at first, and now and then: it must rise for ever.
  absl::StatusOr<storage::Epoch> Lead(storage::TrialStore& store);

  Rng rng_;
  State stored_;
  std::optional<State> in_doubt_;
  std::int64_t acknowledged_ = 0;
  storage::Epoch epoch_ = 0;    // 0: it must be taken
  storage::Epoch highest_ = 0;  // of all that were told
  bool epoch_was_given_twice_ = false;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FAULT_STORAGE_WORKLOAD_H_
