// SPDX-License-Identifier: Apache-2.0
//
// A trial's life as spans: given a coordinator, when attempts end, then a sink
// has their trace.
#include "server/ledger/attempt_spans.h"

#include <mutex>

#include "gmock/gmock.h"
#include "proto/wire_values.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::seconds;

class Kept final : public spans::SpanSink {
 public:
  void Take(spans::Span span) override {
    const std::lock_guard lock(mutex_);
    spans_.push_back(std::move(span));
  }
  // The newest of that name.
  spans::Span Newest(const std::string& name) {
    const std::lock_guard lock(mutex_);
    for (auto span = spans_.rbegin(); span != spans_.rend(); ++span) {
      if (span->name == name) return *span;
    }
    ADD_FAILURE() << "no span " << name;
    return {};
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return spans_.size();
  }

 private:
  std::mutex mutex_;
  std::vector<spans::Span> spans_;
};

class AttemptSpansTest : public ::testing::Test {
 protected:
  AttemptSpansTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("a", 100)));
    EXPECT_OK(driver_->Register("w1", "boot-1"));
    EXPECT_OK(driver_->Register("w2", "boot-1"));
  }
  void Restart() {
    driver_.reset();
    CoordinatorOptions options;
    options.spans = &kept_;
    options.restart_grace = seconds(0);
    driver_ = std::make_unique<Driver>(*store_, clock_, std::move(options));
    ASSERT_OK(driver_->started());
  }
  // What is answered after it has been committed is seen by this call.
  void Settle() { (void)driver_->GetStudy("a"); }
  // Its worker is silent for longer than its lease. In small steps: a
  // coordinator that stood still takes no lease away.
  void LoseIt() {
    for (int second = 0; second < 62; ++second) {
      clock_.Advance(seconds(1));
      for (int i = 0; i < 2; ++i) Settle();
    }
    ASSERT_NE(kept_.Newest("attempt").error, "");
  }

  FakeClock clock_;
  Kept kept_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(AttemptSpansTest, ALifeIsTheTraceOfItsLease) {
  const WallMicros created = clock_.Wall();
  const v1::Lease lease = driver_->AcquireOne("w1", "boot-1");
  clock_.Advance(seconds(5));
  ASSERT_OK(driver_->Finish(lease, 0.5));
  Settle();

  const v1::LeaseRef ref = Driver::RefOf(lease);
  const spans::Span trial = kept_.Newest("trial");
  EXPECT_EQ(trial.context.trace_id, proto::TraceOfAttempt(ref).trace_id);
  EXPECT_EQ(trial.context.span_id, proto::RootSpanOfAttempt(ref));
  EXPECT_EQ(trial.parent, "");
  EXPECT_EQ(trial.begin, created);
  EXPECT_EQ(trial.end, created + 5'000'000);
  EXPECT_EQ(trial.error, "");
  const spans::Span attempt = kept_.Newest("attempt");
  EXPECT_EQ(attempt.context.span_id, proto::TraceOfAttempt(ref).span_id);
  EXPECT_EQ(attempt.parent, trial.context.span_id);
  EXPECT_EQ(kept_.Newest("queued").parent, trial.context.span_id);
}

TEST_F(AttemptSpansTest, ASecondAttemptLinksToTheFirst) {
  const v1::Lease first = driver_->AcquireOne("w1", "boot-1");
  LoseIt();
  EXPECT_EQ(kept_.Newest("attempt").context.span_id,
            proto::TraceOfAttempt(Driver::RefOf(first)).span_id);
  EXPECT_EQ(kept_.Newest("trial").error, "");  // it runs again
  const WallMicros lost = kept_.Newest("attempt").end;

  const v1::Lease second = driver_->AcquireOne("w2", "boot-1");
  const WallMicros begun = clock_.Wall();
  ASSERT_EQ(second.trial(), first.trial());
  ASSERT_OK(driver_->Finish(second, 0.5));
  Settle();
  const spans::Span trial = kept_.Newest("trial");
  EXPECT_NE(trial.context.trace_id,
            proto::TraceOfAttempt(Driver::RefOf(first)).trace_id);
  ASSERT_EQ(trial.links.size(), 1u);
  EXPECT_EQ(trial.links[0].span_id,
            proto::RootSpanOfAttempt(Driver::RefOf(first)));
  EXPECT_EQ(trial.begin, lost);
  EXPECT_EQ(kept_.Newest("queued").end, begun);
}

TEST_F(AttemptSpansTest, ACoordinatorThatCameSinceSaysWhatItSaw) {
  (void)driver_->AcquireOne("w1", "boot-1");
  LoseIt();
  Restart();
  const v1::Lease second = driver_->AcquireOne("w2", "boot-1");
  ASSERT_EQ(second.attempt(), 2);
  const std::size_t before = kept_.size();
  ASSERT_OK(driver_->Finish(second, 0.5));
  Settle();
  EXPECT_EQ(kept_.size(), before + 2);  // it does not know since when it waited
  EXPECT_EQ(kept_.Newest("trial").begin, kept_.Newest("attempt").begin);
}

TEST_F(AttemptSpansTest, ALostOneThatGoesOnIsNotItsOwnSuccessor) {
  const v1::Lease lease = driver_->AcquireOne("w1", "boot-1");
  const WallMicros begun = clock_.Wall();
  LoseIt();
  ASSERT_OK(driver_->Heartbeat("w1", "boot-1", lease));
  ASSERT_OK(driver_->Finish(lease, 0.5));
  Settle();
  const spans::Span trial = kept_.Newest("trial");
  EXPECT_TRUE(trial.links.empty());
  EXPECT_LE(trial.begin, begun);
  EXPECT_LE(kept_.Newest("queued").end, begun);
}

TEST_F(AttemptSpansTest, AnswersThatCameTwiceAreToldOnce) {
  const v1::Lease lease = driver_->AcquireOne("w1", "boot-1");
  ASSERT_OK(driver_->Finish(lease, 0.5));
  Settle();
  const std::size_t before = kept_.size();
  ASSERT_OK(driver_->Finish(lease, 0.5));
  Settle();
  EXPECT_EQ(kept_.size(), before);
}

}  // namespace
}  // namespace frostline::server
