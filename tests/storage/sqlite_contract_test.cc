// SPDX-License-Identifier: Apache-2.0
#include "storage/factory.h"
#include "tests/contract/deferring_store.h"
#include "tests/contract/trial_store_contract.h"

namespace frostline::storage {
namespace {

using test::TrialStoreContract;

absl::StatusOr<std::unique_ptr<TrialStore>> OpenSqlite(
    const std::string& folder) {
  return OpenStore({.data_folder = folder});
}

absl::StatusOr<std::unique_ptr<TrialStore>> OpenEphemeral(const std::string&) {
  return OpenStore({.data_folder = "", .ephemeral = true});
}

// What a networked store may do and ours does not.
absl::StatusOr<std::unique_ptr<TrialStore>> OpenDeferring(const std::string&) {
  ASSIGN_OR_RETURN(std::unique_ptr<TrialStore> below, OpenEphemeral(""));
  return std::make_unique<test::DeferringStore>(std::move(below));
}

INSTANTIATE_TEST_SUITE_P(
    Sqlite, TrialStoreContract,
    testing::Values(test::StoreMaker{"sqlite", OpenSqlite},
                    test::StoreMaker{"ephemeral", OpenEphemeral},
                    test::StoreMaker{"deferring", OpenDeferring}),
    test::NameOfStore);

}  // namespace
}  // namespace frostline::storage
