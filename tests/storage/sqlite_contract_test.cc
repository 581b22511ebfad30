// SPDX-License-Identifier: Apache-2.0
#include "storage/factory.h"
#include "tests/contract/trial_store_contract.h"

namespace frostline::storage {
namespace {

using test::TrialStoreContract;

absl::StatusOr<std::unique_ptr<TrialStore>> OpenSqlite(
    const std::string& folder) {
  return OpenStore({.data_folder = folder});
}

INSTANTIATE_TEST_SUITE_P(Sqlite, TrialStoreContract,
                         testing::Values(test::StoreMaker{"sqlite",
                                                          OpenSqlite}),
                         test::NameOfStore);

}  // namespace
}  // namespace frostline::storage
