// SPDX-License-Identifier: Apache-2.0
//
// What stands beside a plan: its frontier, what it asks, what became of it.
#include <google/protobuf/text_format.h>

#include <cmath>

#include "absl/strings/str_split.h"
#include "cli/term/table.h"
#include "cli/view/plan_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kEvilPlanName[] = "<script>&\x1b[31m\"',\n";

template <typename Message>
Message ParsePlan(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

int WidestPlanLine(const std::string& text) {
  int widest = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    widest = std::max(widest, DisplayWidth(std::string(line)));
  }
  return widest;
}

v1::Frontier ExampleFrontier() {
  return ParsePlan<v1::Frontier>(R"(
    study: 'studies/imdb' tolerance: 0.01 chosen: 1 verdict: 'two are enough'
    options { target: 'accuracy' target_direction: DIRECTION_MAXIMIZE }
    best { value: 0.93 lo80: 0.92 hi80: 0.94 lo95: 0.91 hi95: 0.95 }
    by_modules { trained_parameters: 394752 seconds: 2.5 trials: 4
      predicted { value: 0.6 lo80: 0.55 hi80: 0.65 lo95: 0.5 hi95: 0.7 }
      within_tolerance_probability: 0.001 }
    by_modules { trained: 'layer.4' trained: 'layer.5'
      trained_parameters: 3943680 seconds: 3.5 trials: 2
      predicted { value: 0.92 lo80: 0.9 hi80: 0.94 lo95: 0.89 hi95: 0.95 }
      within_tolerance_probability: 0.93 }
    by_modules { trained: 'embeddings' trained: 'layer.4' trained: 'layer.5'
      trained_parameters: nan seconds: nan
      predicted { value: 0.93 lo80: 0.9 hi80: 0.96 lo95: 0.89 hi95: 0.97 }
      within_tolerance_probability: 0.97 }
    by_prefix { prefix_frozen: 5 trained: 'layer.4' trained: 'layer.5'
      trained_parameters: 3943680 seconds: 3.5
      predicted { value: 0.92 lo80: 0.9 hi80: 0.94 lo95: 0.89 hi95: 0.95 }
      within_tolerance_probability: 0.93 }
    by_prefix { prefix_frozen: 1 trained_parameters: nan seconds: nan
      predicted { value: 0.93 lo80: 0.9 hi80: 0.96 lo95: 0.89 hi95: 0.97 }
      within_tolerance_probability: 0.97 })");
}

TEST(ModuleList, JoinsNeighbours) {
  EXPECT_EQ(ModuleList({}), "nothing");
  EXPECT_EQ(ModuleList({"embeddings", "layer.0", "layer.1", "layer.3", "head"}),
            "embeddings, layer.0-1, layer.3, head");
  EXPECT_EQ(ModuleList({"layer.1.ffn", "layer.2.ffn"}),
            "layer.1.ffn, layer.2.ffn");
}

TEST(FrontierView, MarksTheLeastThatIsEnough) {
  const std::string text = RenderFrontier(ExampleFrontier(), 80);
  EXPECT_LT(text.find("two are enough"), text.find("TRAINED"));
  EXPECT_THAT(text,
              HasSubstr("2 *  0.920 (0.900 – 0.940)    93 %   3,943,680"));
  EXPECT_THAT(text, HasSubstr("< 1 %"));
  EXPECT_THAT(text, HasSubstr("within 0.01 of the best"));
  EXPECT_THAT(text, HasSubstr("below layer.4"));
  EXPECT_LE(WidestPlanLine(text), 80);
  // What is frozen from below is not all that is frozen.
  EXPECT_THAT(RenderFrontier(ExampleFrontier(), 0),
              ::testing::ContainsRegex("below layer.4 .* layer.4-5\n"));
  v1::Frontier none = ExampleFrontier();
  none.set_chosen(-1);
  EXPECT_THAT(RenderFrontier(none, 80), Not(HasSubstr("*")));
}

TEST(FrontierView, SaysWhatASetTakesOfMemoryWhereTrialsTell) {
  v1::Frontier frontier = ExampleFrontier();
  EXPECT_THAT(RenderFrontier(frontier, 0), Not(HasSubstr("MIB")));
  (*frontier.mutable_by_modules(1)
        ->mutable_as_trial()
        ->mutable_labels())["predicted_peak_memory_mib"] = "812.4";
  EXPECT_THAT(RenderFrontier(frontier, 0),
              ::testing::ContainsRegex("SECONDS +MIB +TRIALS"));
  EXPECT_THAT(RenderFrontier(frontier, 0),
              ::testing::ContainsRegex(" 812 +[0-9]+ "));
  EXPECT_THAT(FrontierCsv(frontier), HasSubstr(",2,true,812.4\r\n"));
}

// Nobody knows whether a set will do that leaves out what all trials froze.
TEST(FrontierView, HasNoPercentageWhereNothingIsKnown) {
  v1::Frontier frontier = ExampleFrontier();
  frontier.set_chosen(-1);
  frontier.mutable_by_modules(0)->set_within_tolerance_probability(NAN);
  EXPECT_THAT(RenderFrontier(frontier, 80),
              HasSubstr("0    0.600 (0.550 – 0.650)       -  "));
  EXPECT_THAT(RenderFrontierInShort(frontier, 80), HasSubstr("97 %"));
  EXPECT_THAT(FrontierCsv(frontier), Not(HasSubstr("nan")));
}

TEST(FrontierView, KeepsItsModulesWholeOnANarrowTerminal) {
  v1::Frontier frontier = ExampleFrontier();
  for (const char* const module : {"pooler", "head.sst", "head.sts"}) {
    frontier.mutable_by_modules(2)->add_trained(module);
  }
  const std::string text = RenderFrontier(frontier, 80);
  EXPECT_LE(WidestPlanLine(text), 80);
  EXPECT_THAT(text, HasSubstr("MODULES …\n"));
  EXPECT_THAT(text, HasSubstr("embeddings, layer.4-5,"));
  EXPECT_THAT(text, HasSubstr(" head.sts\n"));
}

TEST(FrontierView, SaysOfAllLayersThatTheyAreAll) {
  v1::Frontier frontier = ExampleFrontier();
  frontier.mutable_by_prefix(0)->set_prefix_frozen(7);  // of six layers
  const std::string text = RenderFrontier(frontier, 80);
  EXPECT_THAT(text, HasSubstr("\nall layers "));
  EXPECT_THAT(text, Not(HasSubstr("layer.6")));
  EXPECT_THAT(FrontierSvg(frontier), HasSubstr("all layers frozen"));
}

TEST(FrontierView, InShortHasAFewRowsAndTheChosenOne) {
  v1::Frontier frontier = ExampleFrontier();
  for (int i = 0; i < 24; ++i) {
    *frontier.add_by_modules() = frontier.by_modules(2);
  }
  for (const int chosen : {-1, 0, 1, 13, 26}) {
    frontier.set_chosen(chosen);
    const std::string text = RenderFrontierInShort(frontier, 80);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
    EXPECT_EQ(text.find('*') != std::string::npos, chosen >= 0) << text;
  }
}

TEST(FrontierView, CsvHasARowForEachSet) {
  const std::string text = FrontierCsv(ExampleFrontier());
  EXPECT_THAT(text, HasSubstr("\r\nmodules,2,layer.4 layer.5,0,0.92,0.9,0.94,"
                              "0.89,0.95,0.93,3943680,3.5,2,true,\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nprefix,0,,1,0.93,"));
}

TEST(FrontierView, DrawsEverySetAndEscapesAllText) {
  v1::Frontier frontier = ExampleFrontier();
  std::string svg = FrontierSvg(frontier);
  EXPECT_THAT(svg, StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, HasSubstr("class=\"best\""));
  EXPECT_THAT(svg, HasSubstr("2: layer.4-5"));
  EXPECT_THAT(svg, HasSubstr("frozen below layer.4"));
  frontier.set_study(kEvilPlanName);
  frontier.set_verdict(kEvilPlanName);
  frontier.mutable_by_modules(1)->set_trained(0, kEvilPlanName);
  svg = FrontierSvg(frontier);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(FrontierSvg({}), Not(HasSubstr("inf")));
}

v1::PlanVerification ExampleVerification() {
  return ParsePlan<v1::PlanVerification>(R"(
    study: 'studies/imdb' batch: 'r128' target: 'accuracy' ended: 6 total: 6
    verdict: 'the plan scored 0.912' seed_deviation: 0.008 evaluation_rows: 200
    rivals { name: 'plan' predicted { value: 0.905 lo80: 0.89 hi80: 0.92 }
      seen { value: 0.912 } difference { value: nan } seed_noise: nan
      row_noise: nan p: nan adjusted_p: nan runs { trial: 'studies/imdb/trials/36' seed: 9
        state: TRIAL_STATE_SUCCEEDED value: 0.912 } }
    rivals { name: 'head only' predicted { value: 0.6 lo80: 0.5 hi80: 0.7 }
      seen { value: 0.712 } difference { value: -0.2 } seed_noise: 0.02
      row_noise: 0.03 exceeds_seeds: true exceeds_rows: true p: 0.004
      adjusted_p: 0.012
      runs { trial: 'studies/imdb/trials/37' seed: 9
        state: TRIAL_STATE_INFEASIBLE value: nan } })");
}

TEST(VerificationView, SetsSeenBesidePredicted) {
  const std::string text = RenderVerification(ExampleVerification(), 80);
  EXPECT_THAT(text, HasSubstr("6 of 6 trials have ended"));
  EXPECT_THAT(text, HasSubstr("plan       0.905 (0.890–0.920)  0.912     1"));
  EXPECT_THAT(text, HasSubstr("-0.200  ±0.020*  ±0.030*  0.012\n"));
  EXPECT_THAT(RenderVerification(ExampleVerification(), 100),
              HasSubstr("plan       0.905 (0.890 – 0.920)  0.912     1"));
  EXPECT_THAT(text, HasSubstr("19 times in 20; * exceeded"));
  EXPECT_LE(WidestPlanLine(text), 80);
  v1::PlanVerification applied = ExampleVerification();
  applied.mutable_rivals(0)->set_name("trial 14");
  EXPECT_THAT(RenderVerification(applied, 80), HasSubstr("LESS TRIAL 14"));
  EXPECT_THAT(text, HasSubstr("LESS PLAN"));
  v1::PlanVerification open = ExampleVerification();
  open.set_ended(2);
  EXPECT_THAT(RenderVerification(open, 80), HasSubstr("scored 0.912, so far"));
}

// As wide as the demo's: no column is lost, and RUNS is where it differs.
TEST(VerificationView, KeepsItsLastColumnOnANarrowTerminal) {
  v1::PlanVerification verification = ExampleVerification();
  v1::VerifiedRival& best = *verification.add_rivals();
  best = verification.rivals(1);
  best.set_name("best trial");
  best.set_adjusted_p(0.0004);
  for (v1::VerifiedRival& rival : *verification.mutable_rivals()) {
    rival.mutable_runs(0)->set_value(0.9);
  }
  const std::string text = RenderVerification(verification, 80);
  EXPECT_THAT(text, HasSubstr("±0.030*  < 0.001\n"));
  EXPECT_THAT(text, Not(HasSubstr("RUNS")));
  EXPECT_LE(WidestPlanLine(text), 80);
  EXPECT_THAT(RenderVerification(verification, 120), HasSubstr("RUNS"));
}

TEST(VerificationView, CsvHasARowForEachRun) {
  EXPECT_THAT(VerificationCsv(ExampleVerification()),
              HasSubstr("\r\nhead only,0.6,0.5,0.7,0,0,37,9,INFEASIBLE,,-0.2,"
                        "0.02,0.03,0.004,0.012\r\n"));
}

TEST(AskedView, SaysWhatEachWouldTellAndItsRates) {
  const auto reply = ParsePlan<v1::AskPlanReply>(R"(
    options { target: 'accuracy' }
    trials { expected_reduction: 0.12 reason: 'tells whether layer.2 is worth it'
      rates { module: 'embeddings' } rates { module: 'layer.0' rate: 1e-4 }
      rates { module: 'layer.1' rate: 1e-4 } })");
  EXPECT_EQ(RenderAsked(reply, 0),
            "trials that would tell most of what the plan leaves open: accuracy"
            "\n\n"
            "1:              tells whether layer.2 is worth it (so far 12 % of "
            "what is open)\n"
            "  rates:        0.0001 layer.0-1; frozen embeddings\n");
  EXPECT_THAT(AskedCsv(reply), HasSubstr("\r\n1,0.12,tells"));
}

}  // namespace
}  // namespace frostline::cli
