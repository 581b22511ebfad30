// SPDX-License-Identifier: Apache-2.0
#include "server/wire/spec.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "frostline/v1/importance_service.pb.h"
#include "gmock/gmock.h"
#include "importance/measure/evaluate_options.h"
#include "importance/ranking.h"
#include "proto/rules.h"
#include "server/wire/convert.h"
#include "server/wire/study_checks.h"
#include "storage/factory.h"
#include "study/freezing.h"
#include "study/space.h"
#include "tests/server/driver.h"
#include "tests/server/example_study.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using Spoil = std::function<void(v1::StudySpec&, v1::StudySettings&)>;

absl::StatusOr<CheckedStudy> Check(const Spoil& spoil) {
  v1::StudySpec spec = ExampleSpec();
  v1::StudySettings settings;
  settings.mutable_budget()->set_trials(10);
  spoil(spec, settings);
  return CheckStudy(spec, settings, ExampleLease());
}

TEST(SpecCheck, AGoodStudyPassesWithItsDefaultsFilledIn) {
  const auto study = Check([](auto&, auto&) {});
  ASSERT_OK(study);
  EXPECT_EQ(study->space.size(), 2);
  EXPECT_EQ(study->pruner.name, "none");
  EXPECT_EQ(study->lease.retry.max_trial_faults, 3);
}

TEST(Constraints, SayByHowMuchATrialBreaksThem) {
  v1::StudySpec spec;
  for (const char* metric : {"seconds", "mib"}) {
    spec.add_constraints()->set_metric(metric);
  }
  spec.mutable_constraints(0)->set_upper_bound(10.0);
  storage::TrialRow row;
  row.state = TrialState::kSucceeded;
  row.values = {0.5};
  row.metrics = {{"seconds", 12.0}, {"mib", -3.0}};
  EXPECT_EQ(ConstraintsOf(row, spec), (std::vector<double>{2.0, -3.0}));
  EXPECT_EQ(RankedValuesOf(row, spec), (std::vector<double>{0.5, 2.0}));
  EXPECT_EQ(RankedValuesOf(row, v1::StudySpec()), row.values);
  row.metrics = {{"seconds", NAN}};
  EXPECT_EQ(ConstraintsOf(row, spec),
            (std::vector<double>{INFINITY, INFINITY}));
  row.state = TrialState::kPruned;
  row.metrics = {{"seconds", 12.0}};
  EXPECT_EQ(ConstraintsOf(row, spec), (std::vector<double>{2.0, -INFINITY}));
  EXPECT_EQ(ViolationOf(row, spec), 2.0);
  row.state = TrialState::kFailed;
  EXPECT_TRUE(ConstraintsOf(row, spec).empty());
}

TEST(SpecCheck, AMetricsRangeIsAsStatedAndOpenWhereNothingIsSaid) {
  const auto study = Check([](auto& spec, auto&) {
    spec.mutable_objectives(0)->mutable_range()->set_lo(-2);
    *spec.add_objectives() = spec.objectives(0);
    spec.mutable_objectives(1)->set_metric("reward");
    spec.mutable_objectives(1)->clear_range();
  });
  ASSERT_OK(study);
  ASSERT_TRUE(study->objectives[0].range.has_value());
  EXPECT_EQ(*study->objectives[0].range, (MetricRange{.lo = -2}));
  EXPECT_FALSE(study->objectives[1].range.has_value());
}

TEST(SpecCheck, AnObjectiveSaysWhichDifferencesDoNotMatter) {
  const auto study = Check([](auto& spec, auto&) {
    spec.mutable_objectives(0)->set_tolerance(0.01);
  });
  ASSERT_OK(study);
  EXPECT_EQ(study->objectives[0].tolerance, 0.01);
  for (const double bad : {-0.01, std::nan(""), HUGE_VAL}) {
    const auto refused = Check([bad](auto& spec, auto&) {
      spec.mutable_objectives(0)->set_tolerance(bad);
    });
    ASSERT_TRUE(HasErrorId(refused.status(), ErrorId::kObjectiveInvalid));
    EXPECT_EQ(DetailOf(refused.status())->field, "objectives[0].tolerance");
  }
}

// Its replay must not change.
TEST(SpecCheck, AStudyFromBeforePurposesIsForTheBestValue) {
  const auto old = Check([](auto&, auto&) {});
  ASSERT_OK(old);
  EXPECT_EQ(old->sampler.purpose, Purpose::kBest);
  const auto both =
      Check([](auto& spec, auto&) { spec.set_purpose(v1::PURPOSE_BOTH); });
  ASSERT_OK(both);
  EXPECT_EQ(both->sampler.purpose, Purpose::kBoth);
}

// The operator may have taken it away since.
TEST(SpecCheck, AStudyStoredWithANotificationStillLoads) {
  EXPECT_OK(Check([](auto&, auto& settings) { settings.add_notify("mail"); }));
}

struct Mistake {
  const char* name;
  ErrorId id;
  Spoil spoil;
};

class BadStudy : public ::testing::TestWithParam<Mistake> {};

TEST_P(BadStudy, IsRefusedWithItsFieldAndFix) {
  const auto study = Check(GetParam().spoil);
  EXPECT_THAT(study, FailsWith(GetParam().id));
  ASSERT_TRUE(DetailOf(study.status()).has_value());
  EXPECT_NE(DetailOf(study.status())->field, "");
  EXPECT_NE(DetailOf(study.status())->fix, "");
}

const Mistake kMistakes[] = {
    {"no_objective", ErrorId::kObjectiveInvalid,
     [](auto& spec, auto&) { spec.clear_objectives(); }},
    {"no_direction", ErrorId::kObjectiveInvalid,
     [](auto& spec, auto&) { spec.mutable_objectives(0)->clear_direction(); }},
    {"metric_range_reversed", ErrorId::kRangeInvalid,
     [](auto& spec, auto&) {
       spec.mutable_objectives(0)->mutable_range()->set_lo(1);
       spec.mutable_objectives(0)->mutable_range()->set_hi(0);
     }},
    {"metric_range_of_one_value", ErrorId::kRangeInvalid,
     [](auto& spec, auto&) {
       spec.mutable_objectives(0)->mutable_range()->set_lo(1);
       spec.mutable_objectives(0)->mutable_range()->set_hi(1);
     }},
    {"metric_range_not_finite", ErrorId::kRangeInvalid,
     [](auto& spec, auto&) {
       spec.mutable_objectives(0)->mutable_range()->set_hi(INFINITY);
     }},
    {"metric_range_no_number", ErrorId::kRangeInvalid,
     [](auto& spec, auto&) {
       spec.mutable_objectives(0)->mutable_range()->set_lo(NAN);
     }},
    {"constraint_without_metric", ErrorId::kRequestInvalid,
     [](auto& spec, auto&) { spec.add_constraints()->set_upper_bound(1); }},
    {"constraint_twice", ErrorId::kRequestInvalid,
     [](auto& spec, auto&) {
       spec.add_constraints()->set_metric("train_seconds");
       spec.add_constraints()->set_metric("train_seconds");
     }},
    {"constraint_of_a_long_name", ErrorId::kRequestInvalid,
     [](auto& spec, auto&) {
       spec.add_constraints()->set_metric(std::string(300, 'x'));
     }},
    {"constraint_not_finite", ErrorId::kRequestInvalid,
     [](auto& spec, auto&) {
       spec.add_constraints()->set_metric("train_seconds");
       spec.mutable_constraints(0)->set_upper_bound(NAN);
     }},
    {"seventeen_constraints", ErrorId::kFieldTooLarge,
     [](auto& spec, auto&) {
       for (int i = 0; i < 17; ++i) {
         spec.add_constraints()->set_metric("m" + std::to_string(i));
       }
     }},
    {"empty_levels", ErrorId::kLevelsInvalid,
     [](auto& spec, auto&) {
       spec.mutable_space()
           ->mutable_modules(0)
           ->mutable_levels()
           ->clear_rates();
     }},
    {"reversed_range", ErrorId::kRangeInvalid,
     [](auto& spec, auto&) {
       auto* p = spec.mutable_space()->add_parameters();
       p->set_name("dropout");
       p->mutable_float_()->set_lo(1);
     }},
    {"no_domain", ErrorId::kStudyFieldMissing,
     [](auto& spec, auto&) {
       spec.mutable_space()->add_parameters()->set_name("dropout");
     }},
    {"module_twice", ErrorId::kModuleDuplicate,
     [](auto& spec, auto&) {
       *spec.mutable_space()->add_modules() = spec.space().modules(0);
     }},
    {"unknown_module", ErrorId::kModuleUnknown,
     [](auto& spec, auto&) {
       spec.mutable_space()->mutable_modules(0)->set_select("layer.7");
     }},
    {"billion_grid_points", ErrorId::kSpaceTooLarge,
     [](auto& spec, auto&) {
       spec.mutable_sampler()->set_name("grid");
       for (int i = 0; i < 9; ++i) {
         auto* p = spec.mutable_space()->add_parameters();
         p->set_name("p" + std::to_string(i));
         p->mutable_int_()->set_lo(1);
         p->mutable_int_()->set_hi(10);
       }
     }},
    {"unknown_sampler", ErrorId::kSamplerInvalid,
     [](auto& spec, auto&) { spec.mutable_sampler()->set_name("oracle"); }},
    {"unknown_sampler_option", ErrorId::kSamplerInvalid,
     [](auto& spec, auto&) {
       (*spec.mutable_sampler()->mutable_options())["luck"] = "1";
     }},
    {"unknown_pruner", ErrorId::kPrunerInvalid,
     [](auto&, auto& settings) { settings.mutable_pruner()->set_name("axe"); }},
    {"no_budget", ErrorId::kBudgetInvalid,
     [](auto&, auto& settings) { settings.clear_budget(); }},
    {"budget_too_large", ErrorId::kBudgetInvalid,
     [](auto&, auto& settings) {
       settings.mutable_budget()->set_trials(1'000'001);
     }},
    {"short_ttl", ErrorId::kRequestInvalid,
     [](auto& spec, auto&) {
       spec.mutable_lease()->mutable_ttl()->set_nanos(1);
     }},
    {"slow_heartbeat", ErrorId::kRequestInvalid,
     [](auto& spec, auto&) {
       spec.mutable_lease()->mutable_ttl()->set_seconds(60);
       spec.mutable_lease()->mutable_heartbeat_interval()->set_seconds(59);
     }},
    {"large_notes", ErrorId::kFieldTooLarge,
     [](auto&, auto& settings) {
       settings.set_notes(std::string(20'000, 'x'));
     }},
    {"enqueued_out_of_space", ErrorId::kValueOutOfSpace,
     [](auto& spec, auto&) {
       (*spec.add_enqueue()->mutable_values())["layer.0"].set_number_value(0.5);
     }},
    {"enqueued_unknown_strategy", ErrorId::kStudyFieldUnknown,
     [](auto& spec, auto&) {
       spec.add_enqueue()->mutable_strategy()->set_name("all_of_it");
     }},
    {"answer_not_named", ErrorId::kRequestInvalid,
     [](auto&, auto& settings) { settings.mutable_stop_when(); }},
    {"answer_unlikely", ErrorId::kRequestInvalid,
     [](auto&, auto& settings) {
       settings.mutable_stop_when()->mutable_frontier()->set_probability(0.4);
     }},
    {"answer_too_sure", ErrorId::kRequestInvalid,
     [](auto&, auto& settings) {
       settings.mutable_stop_when()->mutable_frontier()->set_probability(1.0);
     }},
    {"answer_tolerates_no_number", ErrorId::kRequestInvalid,
     [](auto&, auto& settings) {
       settings.mutable_stop_when()->mutable_frontier()->set_tolerance(NAN);
     }},
    {"answer_of_two_objectives", ErrorId::kRequestInvalid,
     [](auto& spec, auto& settings) {
       settings.mutable_stop_when()->mutable_frontier();
       spec.add_objectives()->set_metric("seconds");
       spec.mutable_objectives(1)->set_direction(v1::DIRECTION_MINIMIZE);
     }},
    {"more_enqueued_than_budget", ErrorId::kBudgetInvalid,
     [](auto& spec, auto&) {
       for (int i = 0; i < 11; ++i) spec.add_enqueue();
     }},
    {"deeply_nested_extra", ErrorId::kFieldTooLarge,
     [](auto& spec, auto&) {
       google::protobuf::Value value;
       for (int i = 0; i < 40; ++i) {
         google::protobuf::Value outer;
         *outer.mutable_list_value()->add_values() = value;
         value = outer;
       }
       (*spec.mutable_training()->mutable_extra()->mutable_fields())["x"] =
           value;
     }},
    {"negative_lora_alpha", ErrorId::kRequestInvalid,
     [](auto& spec, auto&) {
       spec.mutable_training()->mutable_lora()->set_alpha(-1);
     }},
    {"negative_epochs", ErrorId::kRequestInvalid,
     [](auto& spec, auto&) { spec.mutable_training()->set_epochs(-7); }},
    {"share_that_is_no_number", ErrorId::kRequestInvalid,
     [](auto& spec, auto&) {
       spec.mutable_data()->set_train_share(std::nan(""));
     }},
    {"choice_that_is_no_value", ErrorId::kRangeInvalid,
     [](auto& spec, auto&) {
       auto* p = spec.mutable_space()->add_parameters();
       p->set_name("optimizer");
       p->mutable_choices()->add_values();
     }},
};

INSTANTIATE_TEST_SUITE_P(All, BadStudy, ::testing::ValuesIn(kMistakes),
                         [](const auto& mistake) {
                           return std::string(mistake.param.name);
                         });

TEST(SpecCheck, AnEnqueuedTrialTakesItsValuesAndDrawsTheRest) {
  const CheckedStudy study = *Check([](auto&, auto&) {});
  v1::EnqueuedTrial trial;
  (*trial.mutable_values())["layer.0"].set_number_value(1e-4);
  ASSERT_OK_AND_ASSIGN(const Point point,
                       PointFromEnqueued(study, trial, "enqueue[0]", 3));
  EXPECT_EQ(point[0], 2);
  EXPECT_OK(study.space.Check(point));
  EXPECT_TRUE(SamePoint(point, *PointFromEnqueued(study, trial, "", 3)));
}

TEST(SpecCheck, AStrategyBecomesThePointWithItsRates) {
  CheckedStudy study = *Check([](v1::StudySpec& spec, auto&) {
    auto* head = spec.mutable_space()->add_modules();
    head->set_select("head");
    head->mutable_levels()->add_rates(1e-4);
    for (const char* module : {"embeddings", "pooler"}) {
      auto* entry = spec.mutable_space()->add_modules();
      entry->set_select(module);
      entry->mutable_levels()->add_rates(0);
      entry->mutable_levels()->add_rates(1e-4);
    }
  });
  v1::EnqueuedTrial trial;
  trial.mutable_strategy()->set_name("last_k");
  trial.mutable_strategy()->set_k(1);
  trial.mutable_strategy()->set_rate(1e-4);
  ASSERT_OK_AND_ASSIGN(const Point point,
                       PointFromEnqueued(study, trial, "enqueue[0]", 0));
  for (const ModuleRate& rate : study.space.Rates(point)) {
    const bool frozen = rate.module == "embeddings" || rate.module == "layer.0";
    EXPECT_EQ(rate.rate, frozen ? 0.0 : 1e-4) << rate.module;
  }
}

// The two parameters of layerwise_decay take a strategy's numbers.
TEST(SpecCheck, AStrategyOfDecayingRatesIsAPointOfLayerwiseDecay) {
  CheckedStudy study = *Check([](v1::StudySpec& spec, auto&) {
    spec.mutable_space()->Clear();
    spec.mutable_model()->set_layers(3);
    auto& decay = *spec.mutable_space()->mutable_layerwise_decay();
    decay.mutable_base_rate()->mutable_levels()->add_rates(2e-5);
    decay.mutable_decay()->mutable_levels()->add_rates(0.9);
    decay.mutable_decay()->mutable_levels()->add_rates(1.0);
  });
  v1::EnqueuedTrial trial;
  trial.mutable_strategy()->set_name("decay");
  trial.mutable_strategy()->set_rate(2e-5);
  trial.mutable_strategy()->set_factor(0.9);
  ASSERT_OK_AND_ASSIGN(const Point point,
                       PointFromEnqueued(study, trial, "enqueue[0]", 0));
  EXPECT_TRUE(SamePoint(point, {0, 0}));
  trial.mutable_strategy()->set_factor(0.8);
  EXPECT_THAT(PointFromEnqueued(study, trial, "enqueue[0]", 0),
              FailsWith(ErrorId::kValueOutOfSpace));
}

v1::CreateStudyRequest TwoObjectives() {
  v1::CreateStudyRequest request = ExampleStudy("a", 4);
  v1::Objective& second = *request.mutable_spec()->add_objectives();
  second.set_metric("seconds");
  second.set_direction(v1::DIRECTION_MINIMIZE);
  return request;
}

v1::StudySettings WithPruner(v1::StudySettings settings) {
  settings.mutable_pruner()->set_name("median");
  return settings;
}

// Early versions took a pruner beside several objectives.
TEST(StoredStudy, APrunerThatIsRefusedTodayIsIgnoredInAStoredStudy) {
  const v1::CreateStudyRequest request = TwoObjectives();
  const v1::StudySettings settings = WithPruner(request.settings());
  EXPECT_THAT(CheckStudy(request.spec(), settings, ExampleLease()),
              FailsAt(ErrorId::kPrunerInvalid, "pruner.name"));
  storage::StudyRow row;
  row.id = "a";
  row.spec = request.spec().SerializeAsString();
  row.settings = settings.SerializeAsString();
  ASSERT_OK_AND_ASSIGN(const CheckedStudy checked,
                       CheckStored(row, ExampleLease()));
  EXPECT_EQ(checked.pruner.name, "none");
  // So its settings can be changed.
  EXPECT_OK(CheckStudy(checked.spec, checked.settings, ExampleLease()));
  // A pruner that judges one objective is kept.
  v1::StudySpec one = request.spec();
  one.mutable_objectives()->RemoveLast();
  row.spec = one.SerializeAsString();
  ASSERT_OK_AND_ASSIGN(const CheckedStudy kept,
                       CheckStored(row, ExampleLease()));
  EXPECT_EQ(kept.pruner.name, "median");
}

TEST(StoredStudy, OneWithSeveralObjectivesAndAPrunerGoesOn) {
  FakeClock clock;
  const auto store =
      *storage::OpenStore({.data_folder = "", .ephemeral = true});
  {
    Driver driver(*store, clock);
    ASSERT_OK(driver.Call<v1::CreateStudyReply>(TwoObjectives()));
  }
  storage::StudyRow row = (*store->ListStudies({})).front();
  const std::int64_t etag = row.etag++;
  row.settings = WithPruner(TwoObjectives().settings()).SerializeAsString();
  {
    ASSERT_OK_AND_ASSIGN(const storage::Epoch epoch, store->TakeLead());
    ASSERT_OK_AND_ASSIGN(const auto transaction, store->Begin(epoch));
    ASSERT_OK(transaction->Operation(
        [&] { return transaction->UpdateStudy(row, etag); }));
    ASSERT_OK(transaction->Commit());
  }
  Driver driver(*store, clock);
  ASSERT_OK(driver.Register("w", "boot-1"));
  const v1::Lease lease = driver.AcquireOne("w", "boot-1");
  ASSERT_OK_AND_ASSIGN(const auto reply, driver.Report(lease, 1, 0.5));
  EXPECT_EQ(reply.directive().action(), v1::Directive::CONTINUE);
  v1::UpdateStudyRequest raise;
  raise.set_request_id(RandomHexId());
  raise.set_name("studies/a");
  raise.mutable_settings()->mutable_budget()->set_trials(7);
  raise.mutable_update_mask()->add_paths("budget.trials");
  EXPECT_OK(driver.Call<v1::Study>(raise));
}

using ::testing::HasSubstr;

v1::StudySpec Maximizing(const std::string& metric) {
  v1::StudySpec spec = ExampleSpec();
  spec.mutable_objectives(0)->set_metric(metric);
  return spec;
}

TEST(TestObjective, IsRefusedUnlessAllowed) {
  for (const char* const metric : {"test.accuracy", "sts.test.pearson"}) {
    v1::StudySpec spec = Maximizing(metric);
    EXPECT_THAT(CheckTestObjective(spec),
                FailsAt(ErrorId::kObjectiveInvalid, "objectives[0].metric"));
    spec.set_allow_test_objective(true);
    EXPECT_OK(CheckTestObjective(spec));
  }
}

TEST(TestObjective, OtherMetricsAndOtherSetsPass) {
  for (const char* const metric :
       {"accuracy", "imdb.accuracy", "latest.accuracy", "test_accuracy"}) {
    EXPECT_OK(CheckTestObjective(Maximizing(metric))) << metric;
    EXPECT_FALSE(TestObjectiveWarning(Maximizing(metric)).has_value());
  }
}

// A trial that breaks one is worse than any that does not.
TEST(TestObjective, AConstraintChoosesToo) {
  v1::StudySpec spec = ExampleSpec();
  spec.add_constraints()->set_metric("test.loss");
  EXPECT_THAT(CheckTestObjective(spec),
              FailsAt(ErrorId::kObjectiveInvalid, "constraints[0].metric"));
}

TEST(TestObjective, ReportsSayItAllowedOrNot) {
  const auto warning = TestObjectiveWarning(Maximizing("test.accuracy"));
  ASSERT_TRUE(warning.has_value());
  EXPECT_THAT(*warning, HasSubstr("trials are chosen by test.accuracy"));
}

v1::StudySpec SpecOf(const std::string& metric) {
  v1::StudySpec spec;
  spec.add_objectives()->set_metric(metric);
  return spec;
}

v1::StudySpec SpecOf(double lo, double hi, double step) {
  v1::StudySpec spec;
  v1::FloatRange& range =
      *spec.mutable_space()->add_parameters()->mutable_float_();
  range.set_lo(lo);
  range.set_hi(hi);
  range.set_step(step);
  return spec;
}

// A metric that a study may ask for is one that a worker may bring.
// Rooms that do not know the contract have bounds of their own.
TEST(Rules, HaveTheBoundsOfTheRoomsThatKeepThem) {
  using proto::MaxItems;
  using proto::MostOf;
  EXPECT_EQ(MostOf<v1::ModelRef>("layers"), kMaxLayers);
  EXPECT_EQ(MostOf<v1::ModelRef>("heads"), kMaxHeads);
  EXPECT_EQ(MaxItems<v1::ImportanceOptions>("parameters"), kMaxParameters);
  EXPECT_EQ(MaxItems<v1::ImportanceOptions>("subsets"),
            static_cast<int>(importance::kMaxSubsets));
  EXPECT_EQ(MaxItems<v1::ParameterSubset>("parameters"),
            static_cast<int>(importance::kMaxSubset));
  EXPECT_EQ(MostOf<v1::GetStabilityRequest>("points"),
            importance::kMaxStabilityPoints);
}

TEST(NewStudy, AnObjectiveHasANameThatAMetricMayHave) {
  for (const std::size_t bytes : {1U, 255U, 256U, 257U, 4'096U, 100'000U}) {
    const std::string name(bytes, 'm');
    v1::Outcome outcome;
    (*outcome.mutable_metrics())[name] = 0.5;
    if (proto::CheckRules(outcome).ok()) {
      EXPECT_OK(CheckNewStudy(SpecOf(name)));
      continue;
    }
    EXPECT_GT(bytes, 256u);
    EXPECT_THAT(CheckNewStudy(SpecOf(name)),
                FailsAt(ErrorId::kFieldTooLarge, "objectives[0].metric"));
  }
}

TEST(NewStudy, SoHasTheMetricThatStopsTrainingAndEverySet) {
  v1::StudySpec stops, sets;
  v1::Training& training = *stops.mutable_training();
  training.mutable_early_stopping()->set_metric(std::string(256, 'm'));
  EXPECT_OK(CheckNewStudy(stops));
  training.mutable_early_stopping()->set_metric(std::string(257, 'm'));
  EXPECT_THAT(CheckNewStudy(stops), FailsAt(ErrorId::kFieldTooLarge,
                                            "training.early_stopping.metric"));
  sets.mutable_training()->add_also_evaluate("imdb");
  sets.mutable_training()->add_also_evaluate(std::string(257, 's'));
  EXPECT_THAT(CheckNewStudy(sets),
              FailsAt(ErrorId::kFieldTooLarge, "training.also_evaluate[1]"));
}

TEST(NewStudy, ATrialCanEndWithEveryMetricThatIsAskedFor) {
  v1::StudySpec spec;
  const int most = proto::MaxItems<v1::Outcome>("metrics");
  for (int i = 0; i < most; ++i) {
    spec.add_objectives()->set_metric(absl::StrCat("m", i));
  }
  spec.add_constraints()->set_metric("m7");
  EXPECT_OK(CheckNewStudy(spec));
  spec.add_constraints()->set_metric("memory");
  EXPECT_THAT(CheckNewStudy(spec),
              FailsAt(ErrorId::kFieldTooLarge, "objectives"));
}

TEST(NewStudy, NeighboursOnAGridAreDifferentNumbers) {
  for (const auto& good :
       {SpecOf(0, 1, 0), SpecOf(0, 1, 0.1), SpecOf(0, 1, 1e-15),
        SpecOf(1e-300, 2e-300, 1e-301), SpecOf(-1e300, 1e300, 1e290)}) {
    EXPECT_OK(CheckNewStudy(good)) << good.DebugString();
  }
  for (const auto& bad :
       {SpecOf(0, 1, 5e-324), SpecOf(0, 1, 1e-300), SpecOf(0, 1, 1e-17),
        SpecOf(1e9, 1e9 + 1, 1e-9), SpecOf(-1e300, 0, 1)}) {
    EXPECT_THAT(CheckNewStudy(bad), FailsAt(ErrorId::kRangeInvalid,
                                            "space.parameters[0].float.step"))
        << bad.DebugString();
  }
  v1::StudySpec decay;
  v1::FloatRange& range = *decay.mutable_space()
                               ->mutable_layerwise_decay()
                               ->mutable_decay()
                               ->mutable_float_();
  range.set_hi(1);
  range.set_step(5e-324);
  EXPECT_THAT(CheckNewStudy(decay),
              FailsAt(ErrorId::kRangeInvalid,
                      "space.layerwise_decay.decay.float.step"));
}

TEST(NewStudy, LabelsOfAnEnqueuedTrialAreTold) {
  v1::StudySpec spec;
  auto& labels = *spec.add_enqueue()->mutable_labels();
  labels["prompt"] = std::string(64 * 1024 - 6, 'p');
  EXPECT_OK(CheckNewStudy(spec));
  labels["prompt"] += "p";
  EXPECT_THAT(CheckNewStudy(spec),
              FailsAt(ErrorId::kFieldTooLarge, "enqueue[0].labels"));
}

TEST(NewStudy, WhatATrainerIsToldIsJson) {
  v1::StudySpec spec;
  auto& fields = *spec.mutable_training()->mutable_extra()->mutable_fields();
  fields["deep"].mutable_list_value()->add_values()->set_number_value(1.5);
  EXPECT_OK(CheckNewStudy(spec));
  fields["deep"].mutable_list_value()->add_values()->set_number_value(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(CheckNewStudy(spec),
              FailsAt(ErrorId::kRequestInvalid, "training.extra.deep"));
}

// Each control character is six of JSON.
TEST(NewStudy, ATrialFitsIntoTheLineThatItsTrainerReads) {
  v1::StudySpec spec;
  v1::ParameterSpace& prompt = *spec.mutable_space()->add_parameters();
  prompt.mutable_choices()->add_values()->set_string_value("short");
  prompt.mutable_choices()->add_values()->set_string_value(
      std::string(70'000, '\x01'));
  EXPECT_OK(CheckNewStudy(spec));
  prompt.mutable_choices()->add_values()->set_string_value(
      std::string(100'000, '\x01'));
  EXPECT_THAT(CheckNewStudy(spec), FailsAt(ErrorId::kFieldTooLarge, "spec"));
}

// One that is stored already is read all the same.
TEST(NewStudy, IsAskedWhereAStudyIsMade) {
  const auto store = storage::OpenStore({.data_folder = "", .ephemeral = true});
  ASSERT_OK(store);
  const FakeClock clock;
  Driver driver(**store, clock);
  v1::CreateStudyRequest request = ExampleStudy("long", 8);
  request.mutable_spec()->mutable_objectives(0)->set_metric(
      std::string(257, 'm'));
  EXPECT_THAT(driver.Call<v1::CreateStudyReply>(request),
              FailsAt(ErrorId::kFieldTooLarge, "objectives[0].metric"));
  EXPECT_OK(CheckStudy(request.spec(), request.settings(), ExampleLease()));
}

TEST(ObservationOf, ATrialThatNeverHadTheMemorySaysWhereNotToGo) {
  storage::TrialRow row;
  row.state = TrialState::kFailed;
  row.failure = FailureClass::kTrial;
  EXPECT_EQ(ObservationOf(row).state, TrialState::kFailed);
  row.failure = FailureClass::kOutOfMemory;
  EXPECT_EQ(ObservationOf(row).state, TrialState::kInfeasible);
  EXPECT_TRUE(ObservationOf(row).out_of_memory);
  row.state = TrialState::kQueued;  // it is tried again
  EXPECT_EQ(ObservationOf(row).state, TrialState::kRunning);
  EXPECT_FALSE(ObservationOf(row).out_of_memory);
}

}  // namespace
}  // namespace frostline::server
