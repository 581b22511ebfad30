// SPDX-License-Identifier: Apache-2.0
//
// The thread that owns the state waits for no disk but that of its commits:
// what memory lacks is read on other threads, and the call runs again with it.
#include "tests/server/counting_fixture.h"

namespace frostline::server {
namespace {

class LoopReadsTest : public CountingFixture {
 protected:
  void SetUp() override {
    CountingFixture::SetUp();
    ASSERT_OK(driver_->Register("w", "boot-1"));
    ended_ = driver_->AcquireOne("w", "boot-1");
    ASSERT_OK(driver_->Report(ended_, 1, 0.5));
    ASSERT_OK(driver_->Finish(ended_, 0.5));
    ASSERT_OK(driver_->GetStudy("a"));  // a later group: the end is stored
    store_->TakeReadsByWriter();
  }

  template <typename Request>
  static Request Named(const std::string& name) {
    Request request;
    if constexpr (requires { request.set_request_id(""); }) {
      request.set_request_id(RandomHexId());
    }
    request.set_name(name);
    return request;
  }

  v1::Lease ended_;
};

TEST_F(LoopReadsTest, WhatATrialThatHasEndedIsAskedOrTold) {
  const std::string name = ended_.trial();
  EXPECT_OK(driver_->Finish(ended_, 0.5));  // said again
  EXPECT_EQ(driver_->Heartbeat("w", "boot-1", ended_)->directives(0).action(),
            v1::Directive::LEASE_LOST);
  auto update = Named<v1::UpdateTrialRequest>(name);
  update.set_note("odd");
  update.mutable_update_mask()->add_paths("note");
  EXPECT_EQ(driver_->Call<v1::Trial>(update)->note(), "odd");
  EXPECT_THAT(driver_->Call<v1::Trial>(Named<v1::CancelTrialRequest>(name)),
              FailsWith(ErrorId::kTrialTerminal));
  EXPECT_OK(driver_->Call<v1::Trial>(Named<v1::RetryTrialRequest>(name)));
  auto from = Named<v1::RetryTrialRequest>(name);
  from.set_from_checkpoint(true);
  EXPECT_THAT(driver_->Call<v1::Trial>(from),
              FailsWith(ErrorId::kTrialNotFound));
  auto explain = Named<v1::ExplainStudyRequest>("studies/a");
  explain.set_trial_number(0);
  EXPECT_OK(driver_->Call<v1::ExplainStudyReply>(explain));
  EXPECT_OK(
      driver_->Call<v1::GetTrialLogReply>(Named<v1::GetTrialLogRequest>(name)));
  EXPECT_EQ(store_->TakeReadsByWriter(), 0);
}

TEST_F(LoopReadsTest, WhatIsSaidTwice) {
  const v1::Lease lease = driver_->AcquireOne("w", "boot-1");
  EXPECT_OK(driver_->Report(lease, 1, 0.5));
  EXPECT_OK(driver_->Report(lease, 3, 0.6));
  EXPECT_OK(driver_->Report(lease, 1, 0.5));
  EXPECT_THAT(driver_->Report(lease, 2, 0.5),
              FailsWith(ErrorId::kStepOutOfOrder));
  EXPECT_THAT(driver_->Report(lease, 3, 0.7),
              FailsWith(ErrorId::kReportConflict));
  auto pause = Named<v1::PauseStudyRequest>("studies/a");
  EXPECT_OK(driver_->Call<v1::Study>(pause));
  EXPECT_OK(driver_->Call<v1::Study>(pause));
  pause.set_reason("another");
  EXPECT_THAT(driver_->Call<v1::Study>(pause),
              FailsWith(ErrorId::kRequestIdReused));
  EXPECT_EQ(store_->TakeReadsByWriter(), 0);
}

TEST_F(LoopReadsTest, ListsAndANewStudyThatStartsFromAnother) {
  v1::CreateStudyRequest warm = ExampleStudy("b", 3);
  warm.mutable_spec()->mutable_sampler()->set_name("tpe");
  warm.mutable_spec()->add_warm_start()->set_study("studies/a");
  EXPECT_OK(driver_->Call<v1::CreateStudyReply>(warm));
  EXPECT_EQ(driver_->Call<v1::ListStudiesReply>(v1::ListStudiesRequest())
                ->studies_size(),
            2);
  EXPECT_EQ(driver_->Call<v1::ListWorkersReply>(v1::ListWorkersRequest())
                ->workers_size(),
            1);
  EXPECT_OK(driver_->Call<v1::ServerInfo>(v1::GetInfoRequest()));
  EXPECT_EQ(store_->TakeReadsByWriter(), 0);
}

}  // namespace
}  // namespace frostline::server
