// SPDX-License-Identifier: Apache-2.0
#include "tests/server/importance/importance_fixture.h"

namespace frostline::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Reports and pairs: every option does what it says.

class ImportanceReportTest : public ImportanceFixture {
 protected:
  std::vector<std::string> Names(const v1::ImportanceReport& report) {
    std::vector<std::string> names;
    for (const auto& row : report.parameters())
      names.push_back(row.parameter());
    return names;
  }
};

TEST_F(ImportanceReportTest, SaysWhatMatteredInDepthOrder) {
  ASSERT_OK_AND_ASSIGN(const auto report, Ask(ReportRequest()));
  EXPECT_THAT(Names(report), ElementsAre("layer.0", "layer.1", "head"));
  EXPECT_EQ(First(report), "layer.1");
  EXPECT_EQ(report.trials_used(), 36);
  EXPECT_EQ(report.trials_left_out(), 9);
  EXPECT_TRUE(report.provisional());
  EXPECT_TRUE(report.has_stability());
  EXPECT_EQ(report.options().evaluator(), "fanova");
  EXPECT_EQ(report.options().target(), "accuracy");
  EXPECT_EQ(report.options().target_direction(), v1::DIRECTION_MAXIMIZE);
  EXPECT_EQ(report.options().seed(), 7);
}

// Kept like any other, and said, also of the range that the study states.
TEST_F(ImportanceReportTest, SaysWhichResultIsOutsideOfItsMetricsRange) {
  v1::CreateStudyRequest request = ExampleStudy("percent", 20);
  request.mutable_spec()->mutable_objectives(0)->mutable_range()->set_hi(90);
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request).status());
  ASSERT_OK(driver_->Register("w", "boot"));
  for (int i = 0; i < 12; ++i) {
    v1::AcquireRequest acquire = Driver::AcquireOf("w", "boot");
    acquire.set_study("studies/percent");
    const auto leased = driver_->StartAcquire(acquire).get();
    ASSERT_OK(leased.status());
    const auto kept = driver_->Finish(leased->leases(0), 82.0 + i);
    ASSERT_OK(kept.status());
    EXPECT_EQ(kept->trial().values(0), 82.0 + i);
  }
  v1::GetReportRequest asked = PlainRequest("percent");
  asked.mutable_options()->set_target_direction(v1::DIRECTION_MINIMIZE);
  ASSERT_OK_AND_ASSIGN(const auto report, Ask(asked));
  EXPECT_EQ(report.trials_used(), 12);
  EXPECT_EQ(report.warnings(0).code(), "METRIC_OUT_OF_RANGE");
  EXPECT_THAT(report.warnings(0).sentence(),
              HasSubstr("trial 9 has accuracy 91, outside of the stated "
                        "at most 90"));
}

TEST_F(ImportanceReportTest, CountsPrunedTrialsAtAStepTheyReached) {
  v1::GetReportRequest request = PlainRequest();
  request.mutable_options()->set_at_step(2);
  ASSERT_OK_AND_ASSIGN(const auto half_way, Ask(request));
  EXPECT_EQ(half_way.trials_used(), 45);
  EXPECT_EQ(First(half_way), "layer.0");
  request.mutable_options()->set_at_step(3);
  ASSERT_OK_AND_ASSIGN(const auto at_the_end, Ask(request));
  EXPECT_EQ(at_the_end.trials_used(), 36);
  EXPECT_EQ(First(at_the_end), "layer.1");
}

TEST_F(ImportanceReportTest, ExplainsAnyMetricAndWhatTrialsTook) {
  v1::GetReportRequest request = PlainRequest();
  for (const auto& [target, first] :
       {std::pair<std::string, std::string>{"loss", "layer.0"},
        {"train_seconds", "layer.0"},
        {"trained_parameters", "head"}}) {
    request.mutable_options()->set_target(target);
    ASSERT_OK_AND_ASSIGN(const auto report, Ask(request));
    EXPECT_EQ(First(report), first) << target;
    EXPECT_EQ(report.options().target_direction(), v1::DIRECTION_MINIMIZE);
  }
}

TEST_F(ImportanceReportTest, TurnsTheDirectionRound) {
  v1::GetReportRequest request = PlainRequest();
  request.mutable_options()->set_target("loss");
  ASSERT_OK_AND_ASSIGN(const auto lower, Ask(request));
  EXPECT_GT(lower.parameters(0).direction(), 0.0);
  request.mutable_options()->set_target_direction(v1::DIRECTION_MAXIMIZE);
  ASSERT_OK_AND_ASSIGN(const auto higher, Ask(request));
  EXPECT_LT(higher.parameters(0).direction(), 0.0);
}

TEST_F(ImportanceReportTest, NamesTheTargetsThereAreForOneThereIsNot) {
  v1::GetReportRequest request = ReportRequest();
  request.mutable_options()->set_target("f1");
  const auto unknown = Ask(request);
  EXPECT_THAT(unknown, FailsAt(ErrorId::kRequestInvalid, "options.target"));
  EXPECT_EQ(DetailOf(unknown.status())->fix,
            "there are: accuracy, loss, train_seconds, trained_parameters");
  request.mutable_options()->set_at_step(2);
  EXPECT_EQ(DetailOf(Ask(request).status())->fix, "there are: accuracy");
  request.mutable_options()->clear_target();
  request.mutable_options()->set_best_by("f1");
  EXPECT_THAT(Ask(request),
              FailsAt(ErrorId::kRequestInvalid, "options.best_by"));
}

TEST_F(ImportanceReportTest, UsesOnlyTrialsThatMatchTheFilter) {
  v1::GetReportRequest request = PlainRequest();
  request.mutable_options()->set_filter("labels.half = \"even\"");
  ASSERT_OK_AND_ASSIGN(const auto report, Ask(request));
  EXPECT_EQ(report.trials_used() + report.trials_left_out(), 23);
  request.mutable_options()->set_filter("nonsense = 3");
  EXPECT_THAT(Ask(request), FailsWith(ErrorId::kFilterInvalid));
}

TEST_F(ImportanceReportTest, ShowsTheNamedParametersOfTheSameNumbers) {
  ASSERT_OK_AND_ASSIGN(const auto all, Ask(PlainRequest()));
  v1::GetReportRequest request = PlainRequest();
  request.mutable_options()->add_parameters("layer.1");
  ASSERT_OK_AND_ASSIGN(const auto some, Ask(request));
  ASSERT_EQ(some.parameters_size(), 1);
  EXPECT_EQ(some.parameters(0).DebugString(), all.parameters(1).DebugString());
  EXPECT_EQ(some.pairs_size(), 2);
  EXPECT_EQ(some.total_pairs(), 2);
  EXPECT_THAT(some.options().parameters(), ElementsAre("layer.1"));
  request.mutable_options()->add_parameters("layer.9");
  const auto unknown = Ask(request);
  EXPECT_THAT(unknown,
              FailsAt(ErrorId::kRequestInvalid, "options.parameters[1]"));
  EXPECT_THAT(DetailOf(unknown.status())->fix, HasSubstr("head"));
}

void AddSubset(v1::GetReportRequest& request,
               const std::vector<std::string>& names) {
  v1::ParameterSubset* const subset = request.mutable_options()->add_subsets();
  for (const std::string& name : names) subset->add_parameters(name);
}

TEST_F(ImportanceReportTest, AnswersForNamedSetsOfParameters) {
  v1::GetReportRequest request = PlainRequest();
  AddSubset(request, {"head", "layer.1"});
  AddSubset(request, {"layer.0", "head", "layer.1"});
  AddSubset(request, {"layer.1"});
  ASSERT_OK_AND_ASSIGN(const auto report, Ask(request));
  ASSERT_EQ(report.subsets_size(), 3);
  EXPECT_THAT(report.subsets(0).parameters(), ElementsAre("head", "layer.1"));
  EXPECT_GT(report.subsets(0).together().value(), 0.9);
  EXPECT_NEAR(report.subsets(1).together().value(), 1.0, 1e-9);
  EXPECT_EQ(report.subsets(2).together().DebugString(),
            report.parameters(1).main().DebugString());
  EXPECT_EQ(report.options().subsets_size(), 3);
  // Other sets are another question, also where others are shown.
  v1::GetReportRequest other = PlainRequest();
  AddSubset(other, {"layer.0"});
  other.mutable_options()->add_parameters("head");
  ASSERT_OK_AND_ASSIGN(const auto little, Ask(other));
  ASSERT_EQ(little.subsets_size(), 1);
  EXPECT_LT(little.subsets(0).together().value(), 0.1);
  ASSERT_OK_AND_ASSIGN(const auto none, Ask(PlainRequest()));
  EXPECT_EQ(none.subsets_size(), 0);
}

TEST_F(ImportanceReportTest, RefusesSetsThatAreNone) {
  using Sets = std::vector<std::vector<std::string>>;
  const std::pair<const char*, Sets> mistakes[] = {
      {"options.subsets[1]", {{"head"}, {"head", "layer.9"}}},
      {"options.subsets[0]", {{"head", "layer.0", "head"}}},
      {"options.subsets[0]", {{}}},
      {"options.subsets", Sets(65, {"head"})},
  };
  for (const auto& [field, sets] : mistakes) {
    v1::GetReportRequest request = ReportRequest();
    for (const auto& names : sets) AddSubset(request, names);
    EXPECT_THAT(Ask(request), FailsAt(ErrorId::kRequestInvalid, field));
  }
  v1::GetReportRequest request = ReportRequest();
  AddSubset(request, {"head", "layer.0"});
  request.mutable_options()->set_evaluator("mdi");
  EXPECT_THAT(Ask(request),
              FailsAt(ErrorId::kRequestInvalid, "options.subsets"));
}

TEST_F(ImportanceReportTest, LeavesOutWhatIsNotAskedFor) {
  v1::GetReportRequest request = ReportRequest();
  request.mutable_options()->set_without_intervals(true);
  request.mutable_options()->set_without_pairs(true);
  ASSERT_OK_AND_ASSIGN(const auto report, Ask(request));
  EXPECT_EQ(report.pairs_size(), 0);
  EXPECT_FALSE(report.has_stability());
  EXPECT_EQ(report.parameters(0).main().lo95(),
            report.parameters(0).main().value());
}

TEST_F(ImportanceReportTest, PassesTheOptionsOfPedAnovaOn) {
  v1::GetReportRequest request = PlainRequest();
  request.mutable_options()->set_evaluator("ped-anova");
  ASSERT_OK_AND_ASSIGN(const auto tenth, Ask(request));
  request.mutable_options()->mutable_ped_anova()->set_target_quantile(0.5);
  ASSERT_OK_AND_ASSIGN(const auto half, Ask(request));
  EXPECT_NE(tenth.parameters(1).main().value(),
            half.parameters(1).main().value());
  request.mutable_options()->mutable_ped_anova()->set_target_quantile(7.0);
  EXPECT_THAT(Ask(request), FailsWith(ErrorId::kRequestInvalid));
}

TEST_F(ImportanceReportTest, NeverMakesUpANumber) {
  Create("few");
  Import("few", 0, 3);
  const auto few = Ask(ReportRequest("few"));
  EXPECT_THAT(few, FailsWith(ErrorId::kTrialsTooFew));
  EXPECT_EQ(few.status().code(), absl::StatusCode::kFailedPrecondition);
  v1::GetReportRequest constant = ReportRequest();
  constant.mutable_options()->set_filter("values[0] < 0.5001");
  EXPECT_FALSE(Ask(constant).ok());
}

TEST_F(ImportanceReportTest, NamesTheFieldOfEveryBadOption) {
  const std::pair<const char*, std::function<void(v1::ImportanceOptions&)>>
      mistakes[] = {
          {"options.top_quantile",
           [](v1::ImportanceOptions& o) { o.set_top_quantile(1.5); }},
          {"options.top_quantile",
           [](v1::ImportanceOptions& o) { o.set_top_quantile(std::nan("")); }},
          {"options.trees", [](v1::ImportanceOptions& o) { o.set_trees(-1); }},
          {"options.bootstraps",
           [](v1::ImportanceOptions& o) { o.set_bootstraps(-1); }},
          {"options.at_step",
           [](v1::ImportanceOptions& o) { o.set_at_step(-1); }},
          {"options.target_direction",
           [](v1::ImportanceOptions& o) {
             o.set_target_direction(static_cast<v1::Direction>(9));
           }},
      };
  for (const auto& [field, spoil] : mistakes) {
    v1::GetReportRequest request = ReportRequest();
    spoil(*request.mutable_options());
    EXPECT_THAT(Ask(request), FailsAt(ErrorId::kRequestInvalid, field));
  }
  v1::GetReportRequest request = ReportRequest();
  request.mutable_options()->set_evaluator("oracle");
  EXPECT_THAT(Ask(request), FailsWith(ErrorId::kEvaluatorUnknown));
}

class ListPairsTest : public ImportanceFixture {
 protected:
  v1::ListPairsRequest PageRequest(int page_size) const {
    v1::ListPairsRequest request;
    request.set_study("studies/a");
    *request.mutable_options() = PlainRequest().options();
    request.set_page_size(page_size);
    return request;
  }
  absl::StatusOr<v1::ListPairsReply> List(const v1::ListPairsRequest& request) {
    return driver_->Call<v1::ListPairsReply>(request);
  }
};

TEST_F(ListPairsTest, PagesThroughThePairsOfTheReport) {
  ASSERT_OK_AND_ASSIGN(const auto report, Ask(PlainRequest()));
  v1::ListPairsRequest request = PageRequest(2);
  ASSERT_OK_AND_ASSIGN(const auto first, List(request));
  EXPECT_EQ(first.total_size(), 3);
  ASSERT_EQ(first.pairs_size(), 2);
  request.set_page_token(first.next_page_token());
  ASSERT_OK_AND_ASSIGN(const auto last, List(request));
  ASSERT_EQ(last.pairs_size(), 1);
  EXPECT_EQ(last.next_page_token(), "");
  EXPECT_EQ(last.pairs(0).DebugString(), report.pairs(2).DebugString());
}

TEST_F(ListPairsTest, ServesTheFirstPagesRevisionThoughTheStudyMovesOn) {
  v1::ListPairsRequest request = PageRequest(2);
  ASSERT_OK_AND_ASSIGN(const auto first, List(request));
  Import("a", 45, 60);
  request.set_page_token(first.next_page_token());
  ASSERT_OK_AND_ASSIGN(const auto last, List(request));
  EXPECT_EQ(last.revision(), first.revision());
  // Another coordinator, or this one later, does not have that report.
  driver_->coordinator().Drain();
  driver_ = std::make_unique<Driver>(*store_, clock_);
  EXPECT_THAT(List(request), FailsWith(ErrorId::kPageTokenInvalid));
}

TEST_F(ListPairsTest, TakesNoTokenOfAnotherQuestion) {
  ASSERT_OK_AND_ASSIGN(const auto first, List(PageRequest(2)));
  v1::ListPairsRequest other = PageRequest(2);
  other.set_page_token(first.next_page_token());
  other.mutable_options()->set_seed(99);
  EXPECT_THAT(List(other), FailsWith(ErrorId::kPageTokenInvalid));
  other = PageRequest(2);
  other.set_page_token("nonsense");
  EXPECT_THAT(List(other), FailsWith(ErrorId::kPageTokenInvalid));
}

// Curves, tables, stability, plans and comparisons of a real study.

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
