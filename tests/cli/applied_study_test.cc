// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/plan.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

class ApplyRequestTest : public ::testing::Test {
 protected:
  ApplyRequestTest() {
    searched_.set_name("studies/films");
    v1::StudySpec& spec = *searched_.mutable_spec();
    spec.set_seed(4);
    spec.mutable_training()->set_epochs(3);
    spec.add_enqueue()->mutable_labels()->insert({"of", "the search"});
    searched_.mutable_settings()->mutable_budget()->set_trials(200);
    searched_.mutable_settings()->mutable_pruner()->set_name("median");
    searched_.mutable_settings()->set_auto_precision("bf16");
    for (const char* const rival : {"plan", "best trial", "plan"}) {
      v1::EnqueuedTrial& trial = *rivals_.add_trials();
      (*trial.mutable_labels())["rival"] = rival;
      (*trial.mutable_labels())["predicted"] = "0.9 0.8 1 0.7 1";
      (*trial.mutable_values())["layer.0"].set_number_value(1e-4);
      trial.set_seed(static_cast<std::uint64_t>(rivals_.trials_size()));
    }
  }

  v1::Study searched_;
  v1::GetPlanRivalsReply rivals_;
};

TEST_F(ApplyRequestTest, RunsTheRivalsAndNothingElse) {
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"films-apply"}));
  EXPECT_EQ(request.study_id(), "films-apply");
  EXPECT_EQ(request.spec().enqueue_size(), 3);
  EXPECT_EQ(request.settings().budget().trials(), 3);
  EXPECT_EQ(request.spec().training().epochs(), 3);
  EXPECT_EQ(request.spec().enqueue(2).seed(), 3u);
  EXPECT_FALSE(request.settings().has_pruner());
  EXPECT_EQ(request.settings().labels().at("applies"), "films");
}

TEST_F(ApplyRequestTest, TrainsInThePrecisionOfTheSearch) {
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a"}));
  EXPECT_EQ(request.spec().training().precision(), "bf16");
  searched_.mutable_spec()->mutable_training()->set_precision("fp32");
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest asked,
                       ApplyRequest(searched_, rivals_, {"a"}));
  EXPECT_EQ(asked.spec().training().precision(), "fp32");
}

TEST_F(ApplyRequestTest, ANamedTrialTakesThePlansPlaceUnpredicted) {
  v1::Trial named;
  named.set_number(17);
  v1::ParameterValue& value = *named.add_parameters();
  value.set_name("layer.0");
  value.mutable_value()->set_number_value(0);
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a", false, &named}));
  for (const int i : {0, 2}) {
    const v1::EnqueuedTrial& trial = request.spec().enqueue(i);
    EXPECT_EQ(trial.labels().at("rival"), "trial 17");
    EXPECT_EQ(trial.labels().at("predicted"), "nan nan nan nan nan");
    EXPECT_EQ(trial.values().at("layer.0").number_value(), 0);
    EXPECT_EQ(trial.seed(), static_cast<std::uint64_t>(i + 1));
  }
  EXPECT_EQ(request.spec().enqueue(1).labels().at("rival"), "best trial");
}

TEST_F(ApplyRequestTest, ANamedTrialIsNotRunAgainstItself) {
  // It is the best trial, and the plan another.
  for (const int i : {0, 2}) {
    (*rivals_.mutable_trials(i)->mutable_values())["layer.0"].set_number_value(
        0);
  }
  auto& best = *rivals_.mutable_trials(1)->mutable_labels();
  best["predicted"] = "0.8 0.7 0.9 0.6 1";
  best["one_run"] = "0.8 0.6 1 0.5 1";
  v1::Trial named;
  named.set_number(17);
  v1::ParameterValue& value = *named.add_parameters();
  value.set_name("layer.0");
  value.mutable_value()->set_number_value(1e-4);
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a", false, &named}));
  ASSERT_EQ(request.spec().enqueue_size(), 2);
  EXPECT_EQ(request.settings().budget().trials(), 2);
  for (const v1::EnqueuedTrial& trial : request.spec().enqueue()) {
    EXPECT_EQ(trial.labels().at("rival"), "trial 17");
    EXPECT_EQ(trial.labels().at("predicted"), "0.8 0.7 0.9 0.6 1");
    EXPECT_EQ(trial.labels().at("one_run"), "0.8 0.6 1 0.5 1");
    EXPECT_EQ(trial.labels().at("of"), "2");
  }
}

TEST_F(ApplyRequestTest, APlanThatIsTheBestTrialStaysARivalOfAnother) {
  (*rivals_.mutable_trials(1)->mutable_labels())["rival"] = "head only";
  v1::Trial named;
  named.set_number(17);
  v1::ParameterValue& value = *named.add_parameters();
  value.set_name("layer.0");
  value.mutable_value()->set_number_value(0);
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a", false, &named}));
  std::vector<std::string> names;
  for (const v1::EnqueuedTrial& trial : request.spec().enqueue()) {
    names.push_back(trial.labels().at("rival"));
  }
  EXPECT_THAT(names, testing::ElementsAre("trial 17", "best trial", "head only",
                                          "trial 17", "best trial"));
  EXPECT_EQ(request.spec().enqueue(1).labels().at("predicted"),
            "0.9 0.8 1 0.7 1");
  EXPECT_EQ(request.spec().enqueue(1).values().at("layer.0").number_value(),
            1e-4);
  EXPECT_EQ(request.settings().budget().trials(), 5);
}

TEST_F(ApplyRequestTest, ExportsWhereTransformersKnowsTheHead) {
  ASSERT_OK_AND_ASSIGN(const v1::CreateStudyRequest request,
                       ApplyRequest(searched_, rivals_, {"a", true}));
  EXPECT_EQ(
      request.spec().training().extra().fields().at("export").string_value(),
      "best");
  searched_.mutable_spec()->mutable_training()->mutable_head()->set_kind("mlp");
  EXPECT_THAT(ApplyRequest(searched_, rivals_, {"a", true}).status(),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_OK(ApplyRequest(searched_, rivals_, {"a", false}).status());
  searched_.mutable_spec()->mutable_training()->clear_head();
  searched_.mutable_spec()->add_tasks()->set_name("sst");
  EXPECT_THAT(ApplyRequest(searched_, rivals_, {"a", true}).status(),
              FailsWith(ErrorId::kRequestInvalid));
}

}  // namespace
}  // namespace frostline::cli
