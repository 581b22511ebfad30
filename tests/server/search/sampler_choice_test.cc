// SPDX-License-Identifier: Apache-2.0
#include "server/search/sampler_choice.h"

#include <memory>

#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SamplerChoiceTest : public ::testing::Test {
 protected:
  SamplerChoiceTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})),
        driver_(*store_, clock_) {}

  // Nine points.
  absl::StatusOr<v1::CreateStudyReply> Create(const std::string& sampler,
                                              std::int64_t budget,
                                              bool dry_run = false) {
    v1::CreateStudyRequest request = ExampleStudy("a", budget);
    request.mutable_spec()->mutable_sampler()->set_name(sampler);
    request.set_validate_only(dry_run);
    return driver_.Call<v1::CreateStudyReply>(request);
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  Driver driver_;
};

TEST_F(SamplerChoiceTest, AutoSaysWhatItIsAndStaysThat) {
  ASSERT_OK_AND_ASSIGN(const auto made, Create("auto", 9));
  EXPECT_EQ(made.study().resolved_sampler(), "brute");
  EXPECT_EQ(made.study().spec().sampler().options().at("pick"), "brute");
  EXPECT_THAT(made.advice(), ElementsAre(HasSubstr("9 points")));
  // Asked for again, by somebody who does not know of the pick.
  ASSERT_OK_AND_ASSIGN(const auto again, Create("auto", 9));
  EXPECT_EQ(again.study().resolved_sampler(), "brute");
}

TEST_F(SamplerChoiceTest, ADryRunAdvisesWhatWouldBeBetter) {
  EXPECT_THAT(Create("random", 8, true)->advice(),
              ElementsAre(HasSubstr("levels-gp here, better than random")));
  EXPECT_THAT(Create("random", 9, true)->advice(),
              ElementsAre(HasSubstr("every point can be tried once")));
  EXPECT_THAT(driver_.GetStudy("a"), FailsWith(ErrorId::kStudyNotFound));
}

// In a terminal of 80 columns.
TEST_F(SamplerChoiceTest, AdviceTakesTwoLines) {
  ASSERT_OK_AND_ASSIGN(const auto made, Create("tpe", 8, true));
  ASSERT_THAT(made.advice(),
              ElementsAre(HasSubstr("every parameter has levels")));
  EXPECT_LE(made.advice(0).size() + sizeof("advice:"), 160u);
}

TEST_F(SamplerChoiceTest, FiguresOfOtherSpacesAreNoAdvice) {
  v1::CreateStudyRequest request = ExampleStudy("a", 50);
  v1::SearchSpace& space = *request.mutable_spec()->mutable_space();
  space.Clear();
  for (const char* const name : {"x", "y"}) {
    v1::ParameterSpace* const range = space.add_parameters();
    range->set_name(name);
    range->mutable_float_()->set_hi(1.0);
  }
  request.mutable_spec()->mutable_sampler()->set_name("tpe");
  request.set_validate_only(true);
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(request)->advice(), IsEmpty());
  request.mutable_spec()->mutable_sampler()->set_name("auto");
  request.set_request_id("create-study-request-auto-of-ranges");
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(request)->advice(),
              ElementsAre(testing::Not(HasSubstr("13 modules"))));
}

TEST_F(SamplerChoiceTest, WhatDoesItsJobGetsNoAdvice) {
  v1::CreateStudyRequest two = ExampleStudy("a", 5);
  *two.mutable_spec()->add_objectives() = two.spec().objectives(0);
  two.mutable_spec()->mutable_objectives(1)->set_metric("f1");
  two.mutable_spec()->mutable_sampler()->set_name("tpe");  // motpe by itself
  two.set_validate_only(true);
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(two)->advice(), IsEmpty());
  EXPECT_THAT(Create("qmc", 5, true)->advice(), IsEmpty());
}

TEST_F(SamplerChoiceTest, SaysThatAWarmStartChangesNothing) {
  ASSERT_OK(Create("random", 1));
  ASSERT_OK(driver_.Register("w", "boot"));
  ASSERT_OK(driver_.Finish(driver_.AcquireOne("w", "boot"), 0.5));
  v1::CreateStudyRequest young = ExampleStudy("b", 5);
  young.mutable_spec()->add_warm_start()->set_study("studies/a");
  const auto advice = [&](const std::string& sampler) {
    young.mutable_spec()->mutable_sampler()->set_name(sampler);
    young.set_request_id("create-study-request-" + sampler);
    young.set_validate_only(true);
    return driver_.Call<v1::CreateStudyReply>(young)->advice();
  };
  EXPECT_THAT(advice("qmc"), ElementsAre(HasSubstr("warm_start")));
  EXPECT_THAT(advice("levels-gp"), IsEmpty());
}

TEST_F(SamplerChoiceTest, APurposeLeftOpenIsBothWhereTheSamplerCan) {
  const auto purpose = [&](const std::string& sampler) {
    return Create(sampler, 8, true)->study().spec().purpose();
  };
  EXPECT_EQ(purpose("tpe"), v1::PURPOSE_BOTH);
  EXPECT_EQ(purpose("auto"), v1::PURPOSE_BOTH);  // levels-gp
  EXPECT_EQ(purpose("random"), v1::PURPOSE_BEST);
  EXPECT_EQ(purpose("grid"), v1::PURPOSE_BEST);
}

TEST_F(SamplerChoiceTest, WhatWasLeftOpenMayBeLeftOpenAgain) {
  ASSERT_OK(Create("tpe", 8));
  ASSERT_OK_AND_ASSIGN(const auto again, Create("tpe", 8));
  EXPECT_EQ(again.study().spec().purpose(), v1::PURPOSE_BOTH);
  v1::CreateStudyRequest other = ExampleStudy("a", 8);
  other.mutable_spec()->mutable_sampler()->set_name("tpe");
  other.mutable_spec()->set_purpose(v1::PURPOSE_UNDERSTAND);
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(other),
              FailsWith(ErrorId::kStudyAlreadyExists));
}

TEST_F(SamplerChoiceTest, SaysThatAPurposeChangesNothing) {
  v1::CreateStudyRequest grid = ExampleStudy("a", 9);
  grid.mutable_spec()->mutable_sampler()->set_name("grid");
  grid.mutable_spec()->set_purpose(v1::PURPOSE_UNDERSTAND);
  grid.set_validate_only(true);
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(grid)->advice(),
              ElementsAre(HasSubstr("purpose: understand changes nothing")));
}

TEST_F(SamplerChoiceTest, APurposeThatNobodyKnowsIsRefused) {
  v1::CreateStudyRequest odd = ExampleStudy("a", 9);
  odd.mutable_spec()->set_purpose(static_cast<v1::Purpose>(9));
  EXPECT_THAT(driver_.Call<v1::CreateStudyReply>(odd),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST_F(SamplerChoiceTest, WhoNamesTheBestGetsNoAdvice) {
  EXPECT_THAT(Create("levels-gp", 8, true)->advice(), IsEmpty());
  EXPECT_THAT(Create("grid", 9, true)->advice(), IsEmpty());
  EXPECT_THAT(Create("grid", 8, true)->advice(), testing::SizeIs(1));
}

}  // namespace
}  // namespace frostline::server
