// SPDX-License-Identifier: Apache-2.0
//
// What KEDA is told, by a clock that stands still: what a stream hears without
// a change of a study, and how soon after one.
#include <atomic>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/verbs/worker_verbs.h"
#include "storage/factory.h"
#include "tests/contract/forwarding_store.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using externalscaler::GetMetricsRequest;
using externalscaler::GetMetricsResponse;
using externalscaler::IsActiveResponse;
using externalscaler::ScaledObjectRef;

// Its disk is as full as a test says.
class StoreWithRoom final : public test::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  storage::DiskRoom RoomLeft() const override { return {.room = room_}; }
  void SetRoom(storage::Room room) { room_ = room; }

 private:
  std::atomic<storage::Room> room_ = storage::Room::kAmple;
};

class ScalerVerbsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = storage::OpenStore(
        storage::StoreSpec{.data_folder = "", .ephemeral = true});
    ASSERT_OK(store);
    store_ = std::make_unique<StoreWithRoom>(*std::move(store));
    driver_ = std::make_unique<Driver>(*store_, clock_);
  }
  static ScaledObjectRef Object() {
    ScaledObjectRef object;
    object.set_name("frostline-worker");
    object.set_namespace_("frostline");
    return object;
  }
  void Create(std::int64_t trials) {
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", trials)));
  }
  std::int64_t Unclaimed() {
    GetMetricsRequest request;
    *request.mutable_scaledobjectref() = Object();
    request.set_metricname(kUnclaimedTrials);
    const auto reply = driver_->Call<GetMetricsResponse>(request);
    EXPECT_OK(reply);
    return reply.ok() ? reply->metricvalues(0).metricvalue() : -1;
  }
  // A stream's next word.
  using Word = std::shared_ptr<std::promise<bool>>;
  static std::future<bool> Ask(const NextMessages& stream) {
    const Word word = std::make_shared<std::promise<bool>>();
    stream([word](absl::StatusOr<std::vector<MessagePtr>> answer) {
      if (!answer.ok() || answer->empty()) return;
      word->set_value(
          static_cast<const IsActiveResponse&>(*answer->front()).result());
    });
    return word->get_future();
  }
  // Whoever was to be told has been: the loop has ended a group since.
  void LetTheLoopTurn() {
    driver_->Waiting();
    driver_->Waiting();
  }
  static bool IsTold(const std::future<bool>& word) {
    return word.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  FakeClock clock_;
  std::unique_ptr<StoreWithRoom> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(ScalerVerbsTest, AStreamIsLookedAtAFifthOfASecondAfterAChange) {
  const NextMessages stream = driver_->Begin(Object());
  EXPECT_FALSE(Ask(stream).get());
  std::future<bool> word = Ask(stream);
  Create(1);
  LetTheLoopTurn();
  EXPECT_FALSE(IsTold(word));
  clock_.Advance(std::chrono::milliseconds(200));
  LetTheLoopTurn();
  ASSERT_TRUE(IsTold(word));
  EXPECT_TRUE(word.get());
}

TEST_F(ScalerVerbsTest, ADiskThatIsFullNeedsNoWorkersAndStreamsHearOfIt) {
  Create(8);
  const NextMessages stream = driver_->Begin(Object());
  EXPECT_TRUE(Ask(stream).get());
  EXPECT_EQ(Unclaimed(), 8);
  std::future<bool> word = Ask(stream);
  store_->SetRoom(storage::Room::kNoNewLeases);
  clock_.Advance(std::chrono::minutes(1));
  LetTheLoopTurn();
  EXPECT_EQ(Unclaimed(), 0);
  ASSERT_TRUE(IsTold(word));
  EXPECT_FALSE(word.get());
}

TEST_F(ScalerVerbsTest, AWorkerBetweenTwoTrialsHasItsNextOne) {
  Create(8);
  ASSERT_OK(driver_->Register("w", "boot"));
  const v1::Lease lease = driver_->AcquireOne("w", "boot");
  EXPECT_EQ(Unclaimed(), 7);
  ASSERT_OK(driver_->Finish(lease, 0.5));
  EXPECT_EQ(Unclaimed(), 6);
  driver_->AcquireOne("w", "boot");
  EXPECT_EQ(Unclaimed(), 6);
}

}  // namespace
}  // namespace frostline::server
