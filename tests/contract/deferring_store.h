// SPDX-License-Identifier: Apache-2.0
//
// File: deferring_store.h
//
// A store that keeps every refusal for the commit that trial_store.h lets it
// keep, as one that is a network away would. Everything else is the store's
// below it.
#ifndef FROSTLINE_TESTS_CONTRACT_DEFERRING_STORE_H_
#define FROSTLINE_TESTS_CONTRACT_DEFERRING_STORE_H_

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/contract/forwarding_store.h"

namespace frostline::test {

class DeferringStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  absl::StatusOr<std::unique_ptr<storage::Transaction>> Begin(
      storage::Epoch epoch) override;
  std::string Describe() const override {
    return absl::StrCat("deferring ", below().Describe());
  }
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_CONTRACT_DEFERRING_STORE_H_
