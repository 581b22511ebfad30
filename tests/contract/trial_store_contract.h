// SPDX-License-Identifier: Apache-2.0
//
// File: trial_store_contract.h
//
// What storage/trial_store.h promises, as tests that every backend runs:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, TrialStoreContract,
//                            testing::Values(StoreMaker{"memory", OpenMemory}),
//                            NameOfStore);
#ifndef FROSTLINE_TESTS_CONTRACT_TRIAL_STORE_CONTRACT_H_
#define FROSTLINE_TESTS_CONTRACT_TRIAL_STORE_CONTRACT_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/trial_store.h"
#include "tests/contract/full_rows.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {

// A backend under test. The folder is empty, and the store's alone.
struct StoreMaker {
  std::string name;
  std::function<absl::StatusOr<std::unique_ptr<storage::TrialStore>>(
      const std::string& folder)>
      open;
};

// For messages of failed tests.
inline void PrintTo(const StoreMaker& maker, std::ostream* out) {
  *out << maker.name;
}

inline std::string NameOfStore(
    const testing::TestParamInfo<StoreMaker>& tested) {
  return tested.param.name;
}

class TrialStoreContract : public testing::TestWithParam<StoreMaker> {
 protected:
  void SetUp() override;

  absl::Status Write(Body body) {
    return frostline::test::Write(*store_, body);
  }
  // The store's answer, early or at the commit, to a write in this epoch.
  absl::Status WriteIn(storage::Epoch epoch);
  storage::StudyKey AddStudy(const std::string& id);
  void AddTrial(const storage::TrialRow& trial);
  storage::TrialRow Trial(storage::StudyKey study, std::int64_t number);
  std::vector<std::int64_t> Numbers(const storage::TrialQuery& query);

  TempFolder folder_;
  std::unique_ptr<storage::TrialStore> store_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_CONTRACT_TRIAL_STORE_CONTRACT_H_
