// SPDX-License-Identifier: Apache-2.0
#include "storage/memory/memory_store.h"

#include "tests/contract/deferring_store.h"
#include "tests/contract/trial_store_contract.h"

namespace frostline::storage {
namespace {

using test::TrialStoreContract;

absl::StatusOr<std::unique_ptr<TrialStore>> OpenMemory(const std::string&) {
  return std::make_unique<MemoryStore>();
}

// What a networked store may do that neither of ours does.
absl::StatusOr<std::unique_ptr<TrialStore>> OpenDeferring(const std::string&) {
  return std::make_unique<test::DeferringStore>(
      std::make_unique<MemoryStore>());
}

INSTANTIATE_TEST_SUITE_P(Memory, TrialStoreContract,
                         testing::Values(test::StoreMaker{"memory", OpenMemory},
                                         test::StoreMaker{"deferring",
                                                          OpenDeferring}),
                         test::NameOfStore);

}  // namespace
}  // namespace frostline::storage
