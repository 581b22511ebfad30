// SPDX-License-Identifier: Apache-2.0
#include "storage/memory/memory_store.h"

#include "tests/contract/deferring_store.h"
#include "tests/contract/trial_store_contract.h"

namespace frostline {
namespace {

absl::StatusOr<std::unique_ptr<TrialStore>> OpenMemory(const std::string&) {
  return std::make_unique<MemoryStore>();
}

// What a networked store may do that neither of ours does.
absl::StatusOr<std::unique_ptr<TrialStore>> OpenDeferring(const std::string&) {
  return std::make_unique<DeferringStore>(std::make_unique<MemoryStore>());
}

INSTANTIATE_TEST_SUITE_P(Memory, TrialStoreContract,
                         testing::Values(StoreMaker{"memory", OpenMemory},
                                         StoreMaker{"deferring",
                                                    OpenDeferring}),
                         NameOfStore);

}  // namespace
}  // namespace frostline
