// SPDX-License-Identifier: Apache-2.0
//
// A plan as a claim that is tested: what is the least to train, which trials
// would tell most, and what became of the plan when it was run.
#include <google/protobuf/util/message_differencer.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "server/importance/convert_importance.h"
#include "tests/server/importance/importance_fixture.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;

std::string RatesOf(const v1::AskedTrial& asked) {
  std::string rates;
  for (const auto& rate : asked.rates()) {
    absl::StrAppend(&rates, rate.module(), " ", rate.rate(), ", ");
  }
  return rates;
}

class PlanVerbsTest : public ImportanceFixture {
 protected:
  template <typename Request>
  Request About(const std::string& id = "a") const {
    Request request;
    request.set_study(StudyNameOf(id));
    *request.mutable_options() = ReportRequest().options();
    return request;
  }
  absl::StatusOr<v1::GetPlanRivalsReply> Rivals(int seeds,
                                                const std::string& id = "a") {
    auto request = About<v1::GetPlanRivalsRequest>(id);
    request.set_seeds(seeds);
    return driver_->Call<v1::GetPlanRivalsReply>(request);
  }
  template <typename Trials>
  absl::StatusOr<v1::EnqueueTrialsReply> Enqueue(const std::string& id,
                                                 const Trials& trials,
                                                 bool raise = true) {
    v1::EnqueueTrialsRequest request;
    request.set_request_id(RandomHexId());
    request.set_name(StudyNameOf(id));
    request.set_raise_budget(raise);
    *request.mutable_trials() = trials;
    return driver_->Call<v1::EnqueueTrialsReply>(request);
  }
  absl::StatusOr<v1::PlanVerification> Verification(
      const std::string& batch = "") {
    v1::GetPlanVerificationRequest request;
    request.set_study("studies/a");
    request.set_batch(batch);
    return driver_->Call<v1::PlanVerification>(request);
  }
  // Trains what is queued: each rival scores `of_rival`, the plan what is left.
  void TrainAll(const std::map<std::string, double>& of_rival, double plan) {
    ASSERT_OK(driver_->Register("w", "boot"));
    while (driver_->GetStudy("a")->state() == v1::STUDY_STATE_ACTIVE) {
      const v1::Lease lease = driver_->AcquireOne("w", "boot");
      v1::GetTrialRequest request;
      request.set_name(lease.trial());
      ASSERT_OK_AND_ASSIGN(const v1::Trial trial,
                           driver_->Call<v1::Trial>(request));
      const auto label = trial.labels().find("rival");
      const auto found = label == trial.labels().end()
                             ? of_rival.end()
                             : of_rival.find(label->second);
      const double noise = 1e-3 * static_cast<double>(trial.number() % 5);
      ASSERT_OK(driver_->Finish(
          lease, (found == of_rival.end() ? plan : found->second) + noise));
    }
  }
};

TEST_F(PlanVerbsTest, ADifferenceIsDealtOutOverTheModules) {
  auto request = About<v1::ExplainDifferenceRequest>();
  request.set_first_trial(0);   // layer.0 and layer.1 frozen
  request.set_second_trial(8);  // both at 1e-4
  ASSERT_OK_AND_ASSIGN(const v1::DifferenceExplanation difference,
                       driver_->Call<v1::DifferenceExplanation>(request));
  EXPECT_EQ(difference.first(), "studies/a/trials/0");
  EXPECT_EQ(difference.second(), "studies/a/trials/8");
  EXPECT_EQ(difference.options().target(), "accuracy");
  EXPECT_NEAR(difference.seen(), 0.2201, 1e-9);
  const v1::DifferencePart& part = difference.parts(0);
  EXPECT_EQ(part.parameters(0), "layer.1");
  EXPECT_EQ(part.modules(0), "layer.1");
  EXPECT_EQ(part.first_values(0).number_value(), 0.0);
  EXPECT_EQ(part.second_values(0).number_value(), 1e-4);
  EXPECT_NEAR(part.part().value(), 0.2, 0.02);
  double sum = 0.0;
  for (const auto& each : difference.parts()) sum += each.part().value();
  EXPECT_NEAR(sum, difference.predicted().value(), 1e-9);
  EXPECT_NE(difference.verdict(), "");
  // A pruned trial has no value that counts.
  request.set_second_trial(4);
  EXPECT_THAT(driver_->Call<v1::DifferenceExplanation>(request),
              FailsAt(ErrorId::kRequestInvalid, std::string("second_trial")));
}

TEST_F(PlanVerbsTest, TunabilityIsOfAReportThatAsksForIt) {
  v1::GetReportRequest request = PlainRequest();
  ASSERT_OK_AND_ASSIGN(v1::ImportanceReport report, Ask(request));
  EXPECT_EQ(report.tunability_size(), 0);
  request.mutable_options()->set_tunability(true);
  ASSERT_OK_AND_ASSIGN(report, Ask(request));
  ASSERT_EQ(report.tunability_size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(report.tunability(i).parameter(),
              report.parameters(i).parameter());
    EXPECT_LT(report.tunability(i).gain().value(), 0.02);
  }
  request.mutable_options()->add_parameters("layer.1");
  ASSERT_OK_AND_ASSIGN(report, Ask(request));
  ASSERT_EQ(report.tunability_size(), 1);
  EXPECT_EQ(report.tunability(0).parameter(), "layer.1");
}

TEST_F(PlanVerbsTest, TheFrontierGoesFromNothingTrainedToAll) {
  ASSERT_OK_AND_ASSIGN(
      const v1::Frontier frontier,
      driver_->Call<v1::Frontier>(About<v1::GetFrontierRequest>()));
  ASSERT_GT(frontier.by_modules_size(), 1);
  for (int i = 1; i < frontier.by_modules_size(); ++i) {
    EXPECT_GT(frontier.by_modules(i).trained_size(),
              frontier.by_modules(i - 1).trained_size());
  }
  EXPECT_EQ(frontier.study(), "studies/a");
  EXPECT_TRUE(frontier.provisional());
  EXPECT_GT(frontier.tolerance(), 0.0);
  EXPECT_LT(frontier.chosen(), frontier.by_modules_size());
  // A set of it is a trial that the study takes.
  v1::EnqueueTrialsRequest some;
  *some.add_trials() = frontier.by_modules(1).as_trial();
  EXPECT_OK(Enqueue("a", some.trials()));
}

TEST_F(PlanVerbsTest, PlanAndFrontierGoByOneTolerance) {
  const auto plan_of = [this](double tolerance) {
    auto request = About<v1::GetPlanRequest>();
    request.set_tolerance(tolerance);
    return driver_->Call<v1::FreezePlan>(request)->tolerance();
  };
  const double unnoticed = plan_of(0.0);
  EXPECT_GT(unnoticed, 0.0);
  EXPECT_EQ(
      driver_->Call<v1::Frontier>(About<v1::GetFrontierRequest>())->tolerance(),
      unnoticed);
  EXPECT_EQ(plan_of(0.25), 0.25);
}

// Reports, plans and frontiers of a study that looks at the test split say so.
TEST_F(PlanVerbsTest, AllCarryThatTheTestSplitChose) {
  Create("t", "test.loss");
  Import("t", 0, 45);
  const auto warns = [](const auto& answer) {
    return answer.ok() && answer->warnings_size() > 0 &&
           answer->warnings(0).code() == "TEST_OBJECTIVE";
  };
  EXPECT_TRUE(
      warns(driver_->Call<v1::FreezePlan>(About<v1::GetPlanRequest>("t"))));
  EXPECT_TRUE(
      warns(driver_->Call<v1::Frontier>(About<v1::GetFrontierRequest>("t"))));
  EXPECT_TRUE(warns(
      driver_->Call<v1::ImportanceReport>(About<v1::GetReportRequest>("t"))));
  EXPECT_FALSE(
      warns(driver_->Call<v1::FreezePlan>(About<v1::GetPlanRequest>())));
  v1::GetStudyRequest get;
  get.set_name("studies/t");
  EXPECT_THAT(driver_->Call<v1::Study>(get)->warnings(0),
              HasSubstr("trials are chosen by test.loss"));
}

TEST_F(PlanVerbsTest, AnswersAreKeptByRevision) {
  auto request = About<v1::AskPlanRequest>();
  request.set_trials(2);
  ASSERT_OK_AND_ASSIGN(const auto first,
                       driver_->Call<v1::AskPlanReply>(request));
  store_->TakeReads();
  ASSERT_OK_AND_ASSIGN(const auto again,
                       driver_->Call<v1::AskPlanReply>(request));
  EXPECT_EQ(store_->TakeReads(), 0);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(first, again));
}

TEST_F(PlanVerbsTest, PlanFrontierAndRivalsStandOnOneReadingOfTheStudy) {
  ASSERT_OK(
      driver_->Call<v1::FreezePlan>(About<v1::GetPlanRequest>()).status());
  store_->TakeReads();
  auto frontier = About<v1::GetFrontierRequest>();
  ASSERT_OK(driver_->Call<v1::Frontier>(frontier).status());
  frontier.set_tolerance(0.03);
  ASSERT_OK(driver_->Call<v1::Frontier>(frontier).status());
  ASSERT_OK(Rivals(2).status());
  EXPECT_EQ(store_->TakeReads(), 0);
}

TEST_F(PlanVerbsTest, WhatIsQueuedOrRunningIsNotAskedAgain) {
  auto request = About<v1::AskPlanRequest>();
  request.set_trials(3);
  ASSERT_OK_AND_ASSIGN(const v1::AskPlanReply first,
                       driver_->Call<v1::AskPlanReply>(request));
  v1::EnqueueTrialsRequest trials;
  std::set<std::string> open;
  for (const v1::AskedTrial& asked : first.trials()) {
    *trials.add_trials() = asked.as_trial();
    open.insert(RatesOf(asked));
  }
  ASSERT_OK(Enqueue("a", trials.trials()));
  ASSERT_OK(driver_->Register("w", "boot"));
  driver_->AcquireOne("w", "boot");
  ASSERT_OK_AND_ASSIGN(const v1::AskPlanReply second,
                       driver_->Call<v1::AskPlanReply>(request));
  EXPECT_EQ(second.trials_size(), 3);
  for (const v1::AskedTrial& asked : second.trials()) {
    EXPECT_FALSE(open.contains(RatesOf(asked))) << RatesOf(asked);
  }
}

TEST_F(PlanVerbsTest, AskedTrialsAreOnesThatTheStudyTakes) {
  auto request = About<v1::AskPlanRequest>();
  request.set_trials(3);
  ASSERT_OK_AND_ASSIGN(const v1::AskPlanReply reply,
                       driver_->Call<v1::AskPlanReply>(request));
  v1::EnqueueTrialsRequest trials;
  for (const v1::AskedTrial& asked : reply.trials()) {
    EXPECT_FALSE(asked.reason().empty());
    EXPECT_EQ(asked.rates_size(), 5);
    *trials.add_trials() = asked.as_trial();
  }
  ASSERT_OK_AND_ASSIGN(const auto enqueued, Enqueue("a", trials.trials()));
  ASSERT_EQ(enqueued.trials_size(), 3);
  EXPECT_EQ(enqueued.trials(0).labels().at("kind"), "asked");
  EXPECT_EQ(enqueued.budget_raised_by(), 0);  // there is room for 20
  EXPECT_EQ(enqueued.budget(), 20);
}

TEST_F(PlanVerbsTest, NonsenseIsRefusedByName) {
  auto ask = About<v1::AskPlanRequest>();
  for (const int count : {0, -1, 65, 1'000'000'000}) {
    ask.set_trials(count);
    EXPECT_THAT(driver_->Call<v1::AskPlanReply>(ask),
                FailsAt(ErrorId::kRequestInvalid, "trials"));
  }
  EXPECT_THAT(Rivals(0), FailsAt(ErrorId::kRequestInvalid, "seeds"));
  EXPECT_THAT(Rivals(33), FailsAt(ErrorId::kRequestInvalid, "seeds"));
  auto frontier = About<v1::GetFrontierRequest>();
  for (const double tolerance :
       {std::nan(""), -0.1, std::numeric_limits<double>::infinity()}) {
    frontier.set_tolerance(tolerance);
    EXPECT_THAT(driver_->Call<v1::Frontier>(frontier),
                FailsAt(ErrorId::kRequestInvalid, "tolerance"));
  }
  EXPECT_THAT(Rivals(2, "nobody"), FailsWith(ErrorId::kStudyNotFound));
  auto foreign = About<v1::GetPlanRivalsRequest>();
  foreign.set_seeds(1);
  foreign.mutable_options()->set_target("bleu");
  EXPECT_THAT(driver_->Call<v1::GetPlanRivalsReply>(foreign),
              FailsAt(ErrorId::kRequestInvalid, "options.target"));
  foreign.mutable_options()->clear_target();
  foreign.mutable_options()->set_at_step(2);
  EXPECT_THAT(driver_->Call<v1::GetPlanRivalsReply>(foreign),
              FailsAt(ErrorId::kRequestInvalid, "options.at_step"));
}

// What another tool would be told trains other weights than the study did.
TEST_F(PlanVerbsTest, NoToolHasWordsForBiasesOrForARulesLayers) {
  v1::Training biases;
  biases.set_trains("biases");
  v1::Training rule;
  (*rule.mutable_extra()->mutable_fields())["layers_by"].set_string_value(
      "lisa");
  v1::Training rates = rule;
  (*rates.mutable_extra()->mutable_fields())["layers_by"].set_string_value(
      "rates");
  const auto said = [&](const std::string& id, const v1::Training& training) {
    Create(id, "", training);
    Import(id, 0, 45);
    auto ask = About<v1::GetPlanRequest>(id);
    ask.set_for_tool("peft");
    return driver_->Call<v1::FreezePlan>(ask);
  };
  const absl::Status of_biases = said("b", biases).status();
  EXPECT_THAT(of_biases, FailsAt(ErrorId::kRequestInvalid, "for_tool"));
  EXPECT_THAT(of_biases.message(), HasSubstr("trains biases"));
  const absl::Status of_rule = said("c", rule).status();
  EXPECT_THAT(of_rule, FailsAt(ErrorId::kRequestInvalid, "for_tool"));
  EXPECT_THAT(of_rule.message(), HasSubstr("training.extra.layers_by"));
  ASSERT_OK_AND_ASSIGN(const v1::FreezePlan plan, said("d", rates));
  EXPECT_EQ(plan.in_tool().tool(), "peft");
}

TEST_F(PlanVerbsTest, RivalsArePairedBySeed) {
  ASSERT_OK_AND_ASSIGN(const v1::GetPlanRivalsReply reply, Rivals(3));
  EXPECT_EQ(reply.rivals(0).name(), "plan");
  ASSERT_OK_AND_ASSIGN(
      const v1::FreezePlan plan,
      driver_->Call<v1::FreezePlan>(About<v1::GetPlanRequest>()));
  EXPECT_EQ(reply.rivals(0).predicted().SerializeAsString(),
            plan.predicted_score().SerializeAsString());
  ASSERT_EQ(reply.trials_size(), 3 * reply.rivals_size());
  std::map<std::string, std::set<std::uint64_t>> seeds;
  for (const v1::EnqueuedTrial& trial : reply.trials()) {
    seeds[trial.labels().at("rival")].insert(trial.seed());
  }
  for (const v1::PlanRival& rival : reply.rivals()) {
    EXPECT_EQ(seeds[rival.name()].size(), 3u);
    EXPECT_EQ(seeds[rival.name()], seeds["plan"]);
  }
}

TEST_F(PlanVerbsTest, APlanIsJudgedByWhatWasSaidBeforeItRan) {
  EXPECT_THAT(Verification(), FailsWith(ErrorId::kTrialNotFound));
  ASSERT_OK_AND_ASSIGN(const v1::GetPlanRivalsReply rivals, Rivals(3));
  ASSERT_OK(Enqueue("a", rivals.trials()));
  ASSERT_OK_AND_ASSIGN(v1::PlanVerification seen, Verification());
  EXPECT_EQ(seen.ended(), 0);
  EXPECT_EQ(seen.total(), rivals.trials_size());
  EXPECT_THAT(seen.verdict(), HasSubstr("no run of the plan has a result"));
  // All but the plan score far from what anybody would have predicted.
  TrainAll({{"best trial", 0.2}, {"all trained", 0.3}, {"head only", 0.9}},
           0.7);
  ASSERT_OK_AND_ASSIGN(seen, Verification());
  EXPECT_EQ(seen.ended(), seen.total());
  ASSERT_EQ(seen.rivals_size(), rivals.rivals_size());
  for (int r = 0; r < seen.rivals_size(); ++r) {
    EXPECT_EQ(seen.rivals(r).predicted().SerializeAsString(),
              rivals.rivals(r).predicted().SerializeAsString());
    EXPECT_EQ(seen.rivals(r).one_run().SerializeAsString(),
              rivals.rivals(r).one_run().SerializeAsString());
  }
  EXPECT_NEAR(seen.rivals(0).seen().value(), 0.702, 0.0021);
  for (int r = 1; r < seen.rivals_size(); ++r) {
    const v1::VerifiedRival& rival = seen.rivals(r);
    EXPECT_TRUE(rival.exceeds_seeds()) << rival.name();
    EXPECT_TRUE(std::isnan(rival.row_noise()));  // nobody has sent rows
    EXPECT_EQ(rival.difference().value() > 0.0, rival.name() == "head only");
  }
  EXPECT_EQ(seen.evaluation_rows(), 0);
}

TEST_F(PlanVerbsTest, ABatchIsAskedForByName) {
  ASSERT_OK_AND_ASSIGN(const auto first, Rivals(1));
  ASSERT_OK(Enqueue("a", first.trials()));
  ASSERT_OK_AND_ASSIGN(const auto one, Verification());
  ASSERT_OK_AND_ASSIGN(const auto second, Rivals(2));
  ASSERT_OK(Enqueue("a", second.trials()));
  ASSERT_OK_AND_ASSIGN(const auto two, Verification());
  EXPECT_NE(one.batch(), two.batch());
  EXPECT_EQ(two.total(), second.trials_size());
  ASSERT_OK_AND_ASSIGN(const auto again, Verification(one.batch()));
  EXPECT_EQ(again.total(), first.trials_size());
  EXPECT_THAT(Verification("r0"), FailsAt(ErrorId::kTrialNotFound, "batch"));
}

TEST(VerifyLabels, KeepWhatWasSaidToTheBit) {
  const importance::Interval predicted = {1.0 / 3.0, 0.1, 0.7, -2e-300,
                                          std::nan("")};
  v1::EnqueuedTrial enqueued;
  MarkToVerify({.batch = "r7",
                .rival = "best trial",
                .objective = {"accuracy", Direction::kMaximize},
                .total = 12,
                .seed = 5,
                .predicted = predicted,
                .one_run = {}},
               enqueued);
  v1::Trial noted;
  *noted.mutable_labels() = enqueued.labels();
  storage::TrialRow trial;
  trial.labels = noted.SerializeAsString();
  auto mark = VerifyMarkOf(trial);
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->predicted.value, predicted.value);
  EXPECT_EQ(mark->predicted.lo95, predicted.lo95);
  EXPECT_TRUE(std::isnan(mark->predicted.hi95));
  EXPECT_EQ(mark->objective.direction, Direction::kMaximize);
  EXPECT_EQ(mark->total, 12);
  // Labels that somebody has written by hand are no mark.
  (*noted.mutable_labels())["predicted"] = "very good";
  trial.labels = noted.SerializeAsString();
  EXPECT_FALSE(VerifyMarkOf(trial).has_value());
  EXPECT_FALSE(VerifyMarkOf(storage::TrialRow()).has_value());
}

}  // namespace
}  // namespace frostline::server
