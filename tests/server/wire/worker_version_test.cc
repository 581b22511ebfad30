// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "gmock/gmock.h"
#include "server/wire/validate.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(WorkerVersionTest, OneMinorVersionBeforeAndAfterIsServed) {
  for (const char* const version :
       {"0.3.0", "0.4.2", "0.4.9", "0.5.0", "0.5.11~rc1"}) {
    EXPECT_OK(CheckWorkerVersion(version, "0.4.2")) << version;
  }
}

TEST(WorkerVersionTest, WhatIsFurtherAwayIsToldWhichOnesAre) {
  for (const char* const version : {"0.2.9", "0.6.0", "0.14.0", "1.4.2"}) {
    EXPECT_THAT(CheckWorkerVersion(version, "0.4.2"),
                FailsAt(ErrorId::kRequestInvalid, "worker.version"))
        << version;
  }
  const absl::Status told = CheckWorkerVersion("0.6.1", "0.4.2");
  EXPECT_THAT(told.message(),
              AllOf(HasSubstr("is 0.6, but this coordinator, 0.4.2"),
                    HasSubstr("workers of 0.3 to 0.5")));
  EXPECT_THAT(DetailOf(told)->fix, HasSubstr("start a worker of 0.4"));
  EXPECT_THAT(CheckWorkerVersion("1.9.0", "2.0.0").message(),
              HasSubstr("workers of 2.0 to 2.1"));
}

TEST(WorkerVersionTest, AWorkerOfSomebodysOwnMayBeOfNoVersion) {
  for (const char* const version : {"", "mine", "7", "v0.9", "0.x.1"}) {
    EXPECT_OK(CheckWorkerVersion(version, "0.4.2")) << version;
  }
}

TEST(WorkerVersionTest, IsLookedAtWhenAWorkerRegisters) {
  FakeClock clock;
  const auto store =
      *storage::OpenStore({.data_folder = "", .ephemeral = true});
  Driver driver(*store, clock);
  v1::RegisterRequest request;
  request.set_worker_id("w");
  request.mutable_worker()->set_boot_id("boot-1");
  request.mutable_worker()->set_slots(1);
  ASSERT_OK_AND_ASSIGN(const v1::RegisterReply reply,
                       driver.Call<v1::RegisterReply>(request));
  request.mutable_worker()->set_version(reply.coordinator_version());
  EXPECT_OK(driver.Call<v1::RegisterReply>(request));
  request.mutable_worker()->set_version("999.0.0");
  EXPECT_THAT(driver.Call<v1::RegisterReply>(request),
              FailsAt(ErrorId::kRequestInvalid, "worker.version"));
}

}  // namespace
}  // namespace frostline::server
