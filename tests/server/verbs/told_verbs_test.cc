// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include "tests/server/importance/importance_fixture.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;

// Studies that the caller keeps.

class ToldTest : public ImportanceFixture {
 protected:
  static v1::SuggestRequest Told(const v1::StudySpec& spec) {
    v1::SuggestRequest request;
    v1::ToldStudy& study = *request.mutable_study();
    *study.mutable_space() = spec.space();
    *study.mutable_model() = spec.model();
    *study.mutable_objectives() = spec.objectives();
    study.set_seed(spec.seed());
    *request.mutable_sampler() = spec.sampler();
    return request;
  }

  static v1::ImportedTrial AsTold(
      const google::protobuf::RepeatedPtrField<v1::ParameterValue>& point,
      v1::TrialState state) {
    v1::ImportedTrial trial;
    trial.set_state(state);
    for (const v1::ParameterValue& one : point) {
      (*trial.mutable_parameters())[one.name()] = one.value();
    }
    return trial;
  }

  absl::StatusOr<v1::SuggestReply> Suggest(const v1::SuggestRequest& request) {
    return driver_->Call<v1::SuggestReply>(request);
  }
  absl::StatusOr<v1::ExplainReply> Explain(const v1::ExplainRequest& request) {
    return driver_->Call<v1::ExplainReply>(request);
  }

  // What Create() creates, with the trials that Import() imports.
  v1::ExplainRequest ToldReport() {
    v1::ExplainRequest request;
    const auto study = driver_->GetStudy("a");
    *request.mutable_study() = Told(study->spec()).study();
    for (int i = 0; i < 45; ++i) {
      *request.mutable_study()->add_trials() = TrialOf(i);
    }
    *request.mutable_options() = ReportRequest().options();
    return request;
  }
};

// To the bit, with one trial that runs beside, whatever the sampler.
TEST_F(ToldTest, ProposesWhatAStudyHereProposes) {
  for (const char* sampler : {"tpe", "levels-gp", "random"}) {
    SCOPED_TRACE(sampler);
    v1::CreateStudyRequest create = ExampleStudy(sampler, 60);
    create.mutable_spec()->mutable_sampler()->set_name(sampler);
    v1::ParameterSpace& dropout =
        *create.mutable_spec()->mutable_space()->add_parameters();
    dropout.set_name("dropout");
    dropout.mutable_float_()->set_hi(0.5);
    ASSERT_OK(driver_->Call<v1::CreateStudyReply>(create).status());
    const auto lease = [&](const std::string& worker) {
      EXPECT_OK(driver_->Register(worker, "boot").status());
      v1::AcquireRequest acquire = Driver::AcquireOf(worker, "boot");
      acquire.set_study(StudyNameOf(sampler));
      return driver_->StartAcquire(acquire).get()->leases(0);
    };
    v1::SuggestRequest told = Told(create.spec());
    for (int i = 0; i < 30; ++i) {
      ASSERT_OK_AND_ASSIGN(const v1::SuggestReply reply, Suggest(told));
      ASSERT_EQ(reply.suggestions_size(), 1);
      EXPECT_EQ(reply.suggestions(0).number(), i);
      const bool goes_on = i == 3;
      const v1::Lease next = lease(goes_on ? "other" : "w");
      ASSERT_EQ(next.spec().parameters_size(), 3);
      for (int p = 0; p < 3; ++p) {
        EXPECT_EQ(next.spec().parameters(p).SerializeAsString(),
                  reply.suggestions(0).parameters(p).SerializeAsString());
      }
      EXPECT_EQ(next.spec().rates_size(), reply.suggestions(0).rates_size());
      *told.mutable_study()->add_trials() =
          AsTold(next.spec().parameters(), v1::TRIAL_STATE_RUNNING);
      if (goes_on) continue;
      const double score = next.spec().rates(1).rate() * 1000 + 0.01 * (i % 5);
      ASSERT_OK(driver_->Finish(next, score).status());
      v1::ImportedTrial& ended = *told.mutable_study()->mutable_trials(i);
      ended.set_state(v1::TRIAL_STATE_SUCCEEDED);
      (*ended.mutable_metrics())["accuracy"] = score;
    }
  }
}

TEST_F(ToldTest, AnswersTheSameRequestAlikeAndStoresNothing) {
  const v1::SuggestRequest told = Told(ExampleSpec());
  ASSERT_OK_AND_ASSIGN(const v1::SuggestReply first, Suggest(told));
  ASSERT_OK_AND_ASSIGN(const v1::SuggestReply again, Suggest(told));
  EXPECT_EQ(first.SerializeAsString(), again.SerializeAsString());
  v1::ListStudiesRequest list;
  ASSERT_OK_AND_ASSIGN(const auto page,
                       driver_->Call<v1::ListStudiesReply>(list));
  EXPECT_EQ(page.studies_size(), 1);  // the fixture's
}

TEST_F(ToldTest, EachOfSeveralPointsKnowsThoseBeforeIt) {
  v1::SuggestRequest told = Told(ExampleSpec());
  told.mutable_sampler()->set_name("grid");
  told.set_count(20);
  ASSERT_OK_AND_ASSIGN(const v1::SuggestReply all, Suggest(told));
  EXPECT_TRUE(all.exhausted());
  EXPECT_EQ(all.resolved_sampler(), "grid");
  std::set<std::string> points;
  for (const v1::Suggestion& one : all.suggestions()) {
    points.insert(AsTold(one.parameters(), v1::TRIAL_STATE_QUEUED)
                      .parameters()
                      .at("layer.1")
                      .SerializeAsString() +
                  one.parameters(0).SerializeAsString());
  }
  EXPECT_EQ(points.size(), 9);
}

// A lost node says nothing of its trial's point, and its number is taken.
TEST_F(ToldTest, ACancelledTrialTakesANumberAndNothingElse) {
  v1::SuggestRequest told = Told(ExampleSpec());
  ASSERT_OK_AND_ASSIGN(const v1::SuggestReply first, Suggest(told));
  told.set_count(2);
  *told.mutable_study()->add_trials() =
      AsTold(first.suggestions(0).parameters(), v1::TRIAL_STATE_CANCELLED);
  ASSERT_OK_AND_ASSIGN(const v1::SuggestReply next, Suggest(told));
  EXPECT_EQ(next.suggestions(0).number(), 1);
  EXPECT_EQ(next.suggestions(1).number(), 2);
}

TEST_F(ToldTest, SaysWhatIsWrongAndWhere) {
  v1::SuggestRequest empty;
  EXPECT_THAT(Suggest(empty).status(), FailsWith(ErrorId::kObjectiveInvalid));
  v1::SuggestRequest outside = Told(ExampleSpec());
  v1::ImportedTrial& trial = *outside.mutable_study()->add_trials();
  trial.set_state(v1::TRIAL_STATE_RUNNING);
  (*trial.mutable_parameters())["layer.0"].set_number_value(0.5);
  (*trial.mutable_parameters())["layer.1"].set_number_value(0.0);
  const absl::Status status = Suggest(outside).status();
  EXPECT_THAT(status, FailsWith(ErrorId::kValueOutOfSpace));
  EXPECT_THAT(DetailOf(status)->field, HasSubstr("study.trials[0]"));
  v1::SuggestRequest unknown = Told(ExampleSpec());
  unknown.mutable_sampler()->set_name("oracle");
  EXPECT_THAT(Suggest(unknown).status(), FailsWith(ErrorId::kSamplerInvalid));
}

TEST_F(ToldTest, ExplainsWhatAReportHereExplains) {
  v1::ExplainRequest request = ToldReport();
  request.set_with_marginals(true);
  ASSERT_OK_AND_ASSIGN(v1::ImportanceReport stored, Ask(ReportRequest()));
  stored.clear_study();
  stored.clear_revision();
  stored.clear_compute_time();
  stored.clear_compute_seconds();
  stored.clear_provisional();
  ASSERT_OK_AND_ASSIGN(const v1::ExplainReply told, Explain(request));
  EXPECT_EQ(told.report().DebugString(), stored.DebugString());
  v1::GetMarginalsRequest curves;
  curves.set_study("studies/a");
  *curves.mutable_options() = request.options();
  ASSERT_OK_AND_ASSIGN(const auto marginals,
                       driver_->Call<v1::GetMarginalsReply>(curves));
  ASSERT_EQ(told.marginals_size(), marginals.marginals_size());
  for (int i = 0; i < told.marginals_size(); ++i) {
    EXPECT_EQ(told.marginals(i).DebugString(),
              marginals.marginals(i).DebugString());
  }
}

TEST_F(ToldTest, ExplainsAStepAFilterAndNamedParameters) {
  v1::ExplainRequest request = ToldReport();
  request.mutable_options()->set_at_step(2);
  request.mutable_options()->set_filter("labels.half = \"even\"");
  request.mutable_options()->add_parameters("layer.0");
  v1::GetReportRequest same = ReportRequest();
  *same.mutable_options() = request.options();
  ASSERT_OK_AND_ASSIGN(const v1::ImportanceReport stored, Ask(same));
  ASSERT_OK_AND_ASSIGN(const v1::ExplainReply told, Explain(request));
  ASSERT_EQ(told.report().parameters_size(), 1);
  EXPECT_EQ(told.report().parameters(0).DebugString(),
            stored.parameters(0).DebugString());
  EXPECT_EQ(told.report().trials_used(), stored.trials_used());
  EXPECT_EQ(told.marginals_size(), 0);
}

TEST_F(ToldTest, TooFewTrialsExplainNothing) {
  v1::ExplainRequest request = ToldReport();
  request.mutable_study()->mutable_trials()->DeleteSubrange(3, 42);
  EXPECT_THAT(Explain(request).status(), FailsWith(ErrorId::kTrialsTooFew));
}

}  // namespace
}  // namespace frostline::server
