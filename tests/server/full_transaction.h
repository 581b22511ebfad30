// SPDX-License-Identifier: Apache-2.0
//
// File: full_transaction.h
//
// A transaction of a store that finds at the commit that there is no room.
#ifndef FROSTLINE_TESTS_SERVER_FULL_TRANSACTION_H_
#define FROSTLINE_TESTS_SERVER_FULL_TRANSACTION_H_

#include "base/error.h"
#include "tests/contract/forwarding_store.h"

namespace frostline::server {

class FullTransaction final : public test::ForwardingTransaction {
 public:
  using ForwardingTransaction::ForwardingTransaction;

  absl::Status Commit() override {
    RollBack();
    return MakeError(ErrorId::kStoreFull, "no room for the log", "make room");
  }
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_FULL_TRANSACTION_H_
