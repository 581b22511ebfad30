// SPDX-License-Identifier: Apache-2.0
//
// Curves, tables, stability, plans and comparisons of a real study.
#include "tests/server/importance/importance_fixture.h"

namespace frostline::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ImportanceVerbsTest : public ImportanceFixture {
 protected:
  template <typename Request>
  Request RequestOf() const {
    Request request;
    request.set_study("studies/a");
    *request.mutable_options() = ReportRequest().options();
    return request;
  }
};

TEST_F(ImportanceVerbsTest, MarginalsAreInDepthOrderWithTheWiresValues) {
  auto request = RequestOf<v1::GetMarginalsRequest>();
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       driver_->Call<v1::GetMarginalsReply>(request));
  ASSERT_EQ(reply.marginals_size(), 3);
  EXPECT_EQ(reply.marginals(0).parameter(), "layer.0");
  EXPECT_EQ(reply.marginals(2).parameter(), "head");
  const v1::Marginal& curve = reply.marginals(1);
  ASSERT_EQ(curve.points_size(), 3);
  EXPECT_EQ(curve.points(0).value().number_value(), 0.0);
  EXPECT_EQ(curve.points(2).value().number_value(), 1e-4);
  EXPECT_EQ(curve.best().number_value(), 1e-4);
  EXPECT_TRUE(reply.provisional());
  request.mutable_options()->add_parameters("head");
  ASSERT_OK_AND_ASSIGN(const auto one,
                       driver_->Call<v1::GetMarginalsReply>(request));
  ASSERT_EQ(one.marginals_size(), 1);
  EXPECT_EQ(one.marginals(0).parameter(), "head");
}

TEST_F(ImportanceVerbsTest, APairsTableHasACellForEachCombination) {
  auto request = RequestOf<v1::GetPairMarginalRequest>();
  request.set_first("layer.1");
  request.set_second("head");
  ASSERT_OK_AND_ASSIGN(const auto table,
                       driver_->Call<v1::PairMarginal>(request));
  EXPECT_EQ(table.first(), "layer.1");
  EXPECT_EQ(table.expected_size(), 9);
  EXPECT_EQ(table.trials_size(), 9);
  request.set_second("layer.1");
  EXPECT_THAT(driver_->Call<v1::PairMarginal>(request),
              FailsAt(ErrorId::kRequestInvalid, "second"));
  request.set_first("nobody");
  EXPECT_THAT(driver_->Call<v1::PairMarginal>(request),
              FailsAt(ErrorId::kRequestInvalid, "first"));
}

TEST_F(ImportanceVerbsTest, StabilityHasAVerdictAndBeginnings) {
  auto request = RequestOf<v1::GetStabilityRequest>();
  request.set_points(4);
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       driver_->Call<v1::GetStabilityReply>(request));
  EXPECT_NE(reply.verdict().state(), v1::StabilityVerdict::STATE_UNSPECIFIED);
  EXPECT_FALSE(reply.verdict().sentence().empty());
  // The report says the same.
  ASSERT_OK_AND_ASSIGN(const auto report, Ask(ReportRequest()));
  EXPECT_EQ(report.stability().SerializeAsString(),
            reply.verdict().SerializeAsString());
  ASSERT_GT(reply.points_size(), 0);
  EXPECT_EQ(reply.points(reply.points_size() - 1).trials(), 36);
  EXPECT_EQ(reply.points(0).parameters(2).parameter(), "head");
  request.set_points(101);
  EXPECT_THAT(driver_->Call<v1::GetStabilityReply>(request),
              FailsAt(ErrorId::kRequestInvalid, "points"));
}

TEST_F(ImportanceVerbsTest, TheStudyTakesThePlanAsATrial) {
  ASSERT_OK_AND_ASSIGN(const auto plan, driver_->Call<v1::FreezePlan>(
                                            RequestOf<v1::GetPlanRequest>()));
  EXPECT_EQ(plan.modules_size(), 5);  // embeddings and pooler are fixed
  EXPECT_FALSE(plan.supporting_trials().empty());
  EXPECT_THAT(plan.supporting_trials(0), StartsWith("studies/a/trials/"));
  v1::EnqueueTrialsRequest enqueue;
  enqueue.set_request_id(RandomHexId());
  enqueue.set_name(plan.study());
  *enqueue.add_trials() = plan.as_trial();
  ASSERT_OK_AND_ASSIGN(const auto reply,
                       driver_->Call<v1::EnqueueTrialsReply>(enqueue));
  ASSERT_EQ(reply.trials(0).parameters_size(), 3);
  for (const v1::ParameterValue& value : reply.trials(0).parameters()) {
    EXPECT_EQ(value.value().number_value(),
              plan.as_trial().values().at(value.name()).number_value());
  }
  EXPECT_EQ(reply.trials(0).labels().at("kind"), "plan");
}

TEST_F(ImportanceVerbsTest, APlanSaysWhichCommandVerifiesIt) {
  auto request = RequestOf<v1::GetPlanRequest>();
  request.set_tolerance(0.003);
  request.mutable_options()->set_filter("labels.half != 'it''s'");
  ASSERT_OK_AND_ASSIGN(const auto open, driver_->Call<v1::FreezePlan>(request));
  ASSERT_EQ(open.verify_size(), 1);
  EXPECT_EQ(open.verify(0),
            "frostline plan a --filter 'labels.half != "
            "'\\''it'\\'''\\''s'\\''' --tolerance 0.003 --verify");
  v1::StopStudyRequest stop;
  stop.set_request_id(RandomHexId());
  stop.set_name("studies/a");
  ASSERT_OK(driver_->Call<v1::Study>(stop).status());
  ASSERT_OK_AND_ASSIGN(const auto stopped,
                       driver_->Call<v1::FreezePlan>(request));
  EXPECT_FALSE(stopped.provisional());
  EXPECT_TRUE(stopped.verify().empty());  // it takes no more trials
}

TEST_F(ImportanceVerbsTest, APlanIsOfAllModulesAndGivesUpNoNonsense) {
  auto request = RequestOf<v1::GetPlanRequest>();
  request.mutable_options()->add_parameters("head");
  EXPECT_THAT(driver_->Call<v1::FreezePlan>(request),
              FailsAt(ErrorId::kRequestInvalid, "options.parameters"));
  request.mutable_options()->clear_parameters();
  request.set_tolerance(-1.0);
  EXPECT_THAT(driver_->Call<v1::FreezePlan>(request),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST_F(ImportanceVerbsTest, ComparesTwoStudiesByWhatTheyShare) {
  Create("b");
  Import("b", 20, 60);
  v1::CompareStudiesRequest request;
  request.set_first("studies/a");
  request.set_second("studies/b");
  *request.mutable_options() = ReportRequest().options();
  ASSERT_OK_AND_ASSIGN(const auto comparison,
                       driver_->Call<v1::StudyComparison>(request));
  EXPECT_EQ(comparison.first(), "studies/a");
  EXPECT_EQ(comparison.second(), "studies/b");
  EXPECT_THAT(comparison.shared_parameters(),
              ElementsAre("layer.0", "layer.1", "head"));
  EXPECT_GT(comparison.first_revision(), 0);
  EXPECT_FALSE(comparison.sentence().empty());
  request.set_second("studies/none");
  EXPECT_THAT(driver_->Call<v1::StudyComparison>(request),
              FailsWith(ErrorId::kStudyNotFound));
}

TEST_F(ImportanceVerbsTest, StudiesOfTwoMetricsAreNotCompared) {
  v1::CreateStudyRequest other = ExampleStudy("b", 20);
  other.mutable_spec()->mutable_objectives(0)->set_metric("loss");
  other.mutable_spec()->mutable_objectives(0)->set_direction(
      v1::DIRECTION_MINIMIZE);
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(other));
  v1::CompareStudiesRequest request;
  request.set_first("studies/a");
  request.set_second("studies/b");
  *request.mutable_options() = ReportRequest().options();
  const auto refused = driver_->Call<v1::StudyComparison>(request);
  EXPECT_THAT(refused, FailsAt(ErrorId::kRequestInvalid, "options.target"));
  EXPECT_THAT(
      refused.status().message(),
      AllOf(HasSubstr("a is about accuracy"), HasSubstr("b about loss")));
  // Asked for one that both have, it gets as far as the other's trials.
  request.mutable_options()->set_target("loss");
  EXPECT_THAT(driver_->Call<v1::StudyComparison>(request),
              FailsWith(ErrorId::kTrialsTooFew));
}

// A comparison makes reports without it, which must not be answered as whole.
TEST_F(ImportanceVerbsTest, AReportHasItsVerdictAfterAComparisonToo) {
  Create("b");
  Import("b", 20, 60);
  v1::CompareStudiesRequest request;
  request.set_first("studies/a");
  request.set_second("studies/b");
  *request.mutable_options() = ReportRequest().options();
  ASSERT_OK(driver_->Call<v1::StudyComparison>(request).status());
  ASSERT_OK_AND_ASSIGN(
      const auto report,
      driver_->Call<v1::ImportanceReport>(RequestOf<v1::GetReportRequest>()));
  EXPECT_TRUE(report.has_stability());
}

}  // namespace
}  // namespace frostline::server
