// SPDX-License-Identifier: Apache-2.0
//
// File: counting_fixture.h
//
// A coordinator on a store that counts what is read, with a study "a" of eight
// trials.
#ifndef FROSTLINE_TESTS_SERVER_COUNTING_FIXTURE_H_
#define FROSTLINE_TESTS_SERVER_COUNTING_FIXTURE_H_

#include <memory>

#include "gtest/gtest.h"
#include "storage/factory.h"
#include "tests/server/counting_store.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {

class CountingFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = storage::OpenStore(
        storage::StoreSpec{.data_folder = "", .ephemeral = true});
    ASSERT_OK(store);
    store_ = std::make_unique<CountingStore>(*std::move(store));
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 8)));
  }

  FakeClock clock_;
  std::unique_ptr<CountingStore> store_;
  std::unique_ptr<Driver> driver_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_COUNTING_FIXTURE_H_
