// SPDX-License-Identifier: Apache-2.0
//
// The database is removed under a whole coordinator.
#include <filesystem>
#include <future>

#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RemovedStoreTest : public ::testing::Test {
 protected:
  RemovedStoreTest()
      : store_(*storage::OpenStore({.data_folder = folder_.File("data")})) {
    CoordinatorOptions options;
    options.on_fatal = [this](const absl::Status& why) {
      fatal_.set_value(why);
    };
    driver_ = std::make_unique<Driver>(*store_, clock_, std::move(options));
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 5)));
    EXPECT_OK(driver_->Register("w", "boot-1"));
    lease_ = driver_->AcquireOne("w", "boot-1");
  }
  void Remove() {
    std::filesystem::remove(folder_.File("data/frostline.sqlite"));
  }

  TempFolder folder_;
  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::promise<absl::Status> fatal_;
  std::unique_ptr<Driver> driver_;
  v1::Lease lease_;
};

TEST_F(RemovedStoreTest, ACoordinatorThatWritesNothingNoticesInHalfASecond) {
  auto fatal = fatal_.get_future();
  Remove();
  clock_.Advance(milliseconds(500));
  ASSERT_EQ(fatal.wait_for(seconds(20)), std::future_status::ready);
  EXPECT_THAT(fatal.get(), FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(driver_->Finish(lease_, 0.5),
              FailsWith(ErrorId::kCoordinatorDraining));
}

TEST_F(RemovedStoreTest, NothingIsAcknowledgedAfterwards) {
  auto fatal = fatal_.get_future();
  Remove();
  EXPECT_THAT(driver_->Finish(lease_, 0.5), FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(fatal.get(), FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(driver_->Heartbeat("w", "boot-1", lease_),
              FailsWith(ErrorId::kCoordinatorDraining));
}

}  // namespace
}  // namespace frostline::server
