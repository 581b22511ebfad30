// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "cli/term/table.h"
#include "cli/term/terminal.h"
#include "cli/view/access_view.h"
#include "cli/view/format.h"
#include "cli/view/registry_view.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n');
}

int WidestLine(const std::string& text) {
  int widest = 0;
  for (const std::string& line : Lines(text)) {
    widest = std::max(widest, DisplayWidth(line));
  }
  return widest;
}

TEST(Counted, OneIsNoPlural) {
  EXPECT_EQ(Counted(1, "worker"), "1 worker");
  EXPECT_EQ(Counted(0, "worker"), "0 workers");
  EXPECT_EQ(Counted(2000, "study", "studies"), "2,000 studies");
  EXPECT_EQ(Counted(1, "study", "studies"), "1 study");
}

v1::StudySpec AccuracySpec() {
  v1::StudySpec spec;
  spec.add_objectives()->set_metric("accuracy");
  return spec;
}

TEST(StudyView, ShowsWarningsAndWhatAutoStandsFor) {
  v1::Study study;
  study.add_warnings("trials are chosen by test.accuracy, …");
  study.mutable_settings()->set_auto_precision("bf16");
  const std::string text = RenderStudy(study, std::nullopt);
  EXPECT_THAT(text, HasSubstr("warning:     trials are chosen by test"));
  EXPECT_THAT(text, HasSubstr("auto (bf16, as its first trial)"));
}

v1::Trial ExampleTrial() {
  v1::Trial trial;
  trial.set_name("studies/demo/trials/17");
  trial.set_number(17);
  trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial.add_values(0.93125);
  trial.set_worker("workers/a");
  trial.mutable_start_time()->set_seconds(100);
  trial.mutable_end_time()->set_seconds(112);
  auto* const rate = trial.add_parameters();
  rate->set_name("layer.3");
  rate->mutable_value()->set_number_value(2e-5);
  return trial;
}

TEST(StudyView, SaysWhoseAStudyIs) {
  v1::Study study;
  study.set_name("studies/imdb");
  EXPECT_THAT(RenderStudy(study, std::nullopt), Not(HasSubstr("owner")));
  study.set_owner("ana");
  (*study.mutable_settings()->mutable_labels())["team"] = "nlp";
  (*study.mutable_settings()->mutable_labels())["site"] = "lab";
  EXPECT_THAT(RenderStudy(study, std::nullopt), HasSubstr("owner:       ana"));
  EXPECT_THAT(StudyTable({study}, {}, true).Render(),
              AllOf(HasSubstr("OWNER"), HasSubstr("ana"),
                    HasSubstr("site=lab, team=nlp")));
  EXPECT_THAT(StudyTable({study}, {}, false).Render(), Not(HasSubstr("ana")));
}

TEST(StudyView, ListsTheBestResultBesideItsTrial) {
  v1::Study study;
  study.set_name("studies/imdb");
  study.add_best_trials("studies/imdb/trials/17");
  study.mutable_spec()->add_objectives()->set_metric("accuracy");
  const Cell best = BestCell(ExampleTrial(), study.spec());
  const Table table = StudyTable({study}, {{study.name(), best}}, false);
  EXPECT_THAT(table.Render(80), ContainsRegex("BEST +BEST TRIAL"));
  EXPECT_THAT(table.Render(80), ContainsRegex("accuracy 0.9313 +17"));
  EXPECT_THAT(table.Csv(), HasSubstr(",0.93125,17,"));
}

TEST(StudyView, CountsWhatWasImportedBesideTheBudget) {
  v1::Study study;
  study.mutable_settings()->mutable_budget()->set_trials(200);
  study.mutable_counts()->set_succeeded(17);
  study.mutable_counts()->set_budget_used(17);
  EXPECT_EQ(ProgressText(study), "17/200 done, 0 running");
  EXPECT_THAT(StudyTable({study}, {}, false).Render(),
              Not(HasSubstr("OUTSIDE")));
  study.mutable_counts()->set_succeeded(217);
  EXPECT_EQ(ProgressText(study),
            "17/200 done, 200 outside the budget, 0 running");
  EXPECT_THAT(StudyTable({study}, {}, false).Render(),
              AllOf(HasSubstr("DONE  BUDGET  OUTSIDE"),
                    HasSubstr("  17     200      200")));
}

TEST(StudyView, ShowsItsSpaceALineForEachKindOfValue) {
  v1::Study study;
  v1::StudySpec& spec = *study.mutable_spec();
  spec.mutable_model()->set_layers(6);
  for (const char* const select : {"embeddings", "layer.*"}) {
    v1::ModuleSpace& module = *spec.mutable_space()->add_modules();
    module.set_select(select);
    for (const double rate : {0.0, 3e-5, 3e-4}) {
      module.mutable_levels()->add_rates(rate);
    }
  }
  v1::ModuleSpace& head = *spec.mutable_space()->add_modules();
  head.set_select("head");
  head.set_fixed(1e-3);
  v1::ParameterSpace& kind = *spec.mutable_space()->add_parameters();
  kind.set_name("kind");
  kind.mutable_choices()->add_values()->set_string_value("small");
  kind.mutable_choices()->add_values()->set_string_value("large");
  v1::ParameterSpace& width = *spec.mutable_space()->add_parameters();
  width.set_name("width");
  width.mutable_int_()->set_lo(1);
  width.mutable_int_()->set_hi(9);
  width.mutable_int_()->set_step(2);
  width.mutable_when()->set_parent("kind");
  width.mutable_when()->add_values("large");
  EXPECT_THAT(
      RenderStudy(study, std::nullopt),
      HasSubstr("space:       embeddings, layer.0-5: 0, 3e-05, 0.0003\n"
                "             head: always 0.001\n"
                "             kind: small, large\n"
                "             width: 1 to 9 in steps of 2, while kind is "
                "large\n"));
}

TEST(StudyView, ShowsItsNote) {
  v1::Study study;
  EXPECT_THAT(RenderStudy(study, std::nullopt), Not(HasSubstr("note:")));
  study.mutable_settings()->set_notes("for the paper");
  EXPECT_THAT(RenderStudy(study, std::nullopt),
              HasSubstr("note:        for the paper\n"));
}

TEST(Format, BreaksKeyLinesAtBlanksAlone) {
  const std::string text = KeyLine("warning", "trials are chosen by the test") +
                           KeyLine("seed", "7");
  EXPECT_EQ(WrapKeyLines(text, 0), text);
  EXPECT_EQ(WrapKeyLines(text, 32),
            "warning:     trials are chosen\n"
            "             by the test\n"
            "seed:        7\n");
}

TEST(Format, ShowsANoteLineForLine) {
  EXPECT_EQ(NoteText("study a", "", false), "study a has no note\n");
  EXPECT_EQ(NoteText("study a", "x", true), "study a has the note\n");
  EXPECT_EQ(NoteText("study a", "# Why\n\x1b[2Jso", false), "# Why\n [2Jso\n");
}

TEST(StudyView, SaysWhatItsTrialsCostAndWhatSharingSaved) {
  v1::Study study;
  v1::StudyUsage& usage = *study.mutable_usage();
  usage.set_trials(1240);
  usage.set_total_seconds(130);
  usage.set_train_seconds(100);
  usage.set_flops_spent(4e13);
  EXPECT_THAT(
      RenderStudy(study, std::nullopt),
      AllOf(HasSubstr("cost:        2m10s of 1,240 trials, 1m40s of that in "
                      "training steps\nwork:        40 TFLOP done\n"),
            Not(HasSubstr("prefixes:")), Not(HasSubstr("would have taken"))));
  usage.set_flops_shared(6e13);
  usage.set_prefix_hits(12'000);
  usage.set_prefix_misses(800);
  usage.set_prefix_bytes(100 << 20);
  usage.mutable_without_sharing()->set_least(190.2);
  usage.mutable_without_sharing()->set_most(325);
  EXPECT_THAT(
      RenderStudy(study, std::nullopt),
      HasSubstr("work:        40 TFLOP done, 60 TFLOP shared\n"
                "prefixes:    rows taken 12,000, computed 800; 100 MiB stored\n"
                "estimate:    this study would have taken about 3m10s to 5m25s "
                "without sharing\n"));
  usage.mutable_without_freezing()->set_least(400);
  usage.mutable_without_freezing()->set_most(400.2);
  EXPECT_THAT(RenderStudy(study, std::nullopt),
              HasSubstr("without sharing, about 6m40s had frozen modules cost "
                        "what trained ones do\n"));
}

TEST(StudyView, OfASkippedBackwardAloneSaysSoInOneSentence) {
  v1::Study study;
  study.mutable_usage()->set_trials(1);
  study.mutable_usage()->mutable_without_freezing()->set_least(7);
  study.mutable_usage()->mutable_without_freezing()->set_most(9);
  EXPECT_THAT(RenderStudy(study, std::nullopt),
              HasSubstr("estimate:    this study would have taken about 7.0 s "
                        "to 9.0 s had frozen modules cost"));
}

v1::CreateStudyReply ReplyWith(const std::vector<double>& chances) {
  v1::CreateStudyReply reply;
  reply.mutable_study()->mutable_spec()->mutable_model()->set_id("minilm");
  reply.mutable_study()->mutable_spec()->mutable_data()->set_id("imdb");
  for (std::size_t i = 0; i < chances.size(); ++i) {
    reply.mutable_prefixes()->add_chance(chances[i]);
    reply.mutable_prefixes()->set_expected(reply.prefixes().expected() +
                                           double(i) * chances[i]);
  }
  return reply;
}

TEST(PrefixView, SaysWhatTrialsCanShareAndWhatThatTakes) {
  v1::CreateStudyReply reply = ReplyWith({0, 0.25, 0.25, 0.5});
  registry::BoundaryNeeds needs{.texts = 25'000,
                                .tokens = 64,
                                .hidden = 384,
                                .layers = 2,
                                .top_is_one_token = true};
  EXPECT_EQ(
      RenderPrefixes(reply, needs, 1000),
      "prefixes: 2.25 of 3 leading modules (embeddings, layers) are frozen on "
      "average; 75 % of the space freezes the embeddings and a layer, which "
      "frostline-trainer shares\n"
      "boundaries: at most 2.325 GiB on a node that sees all of it: 2 depths, "
      "25,000 texts of up to 64 tokens, 384 numbers of 4 bytes each; with all "
      "layers frozen, of one token. The worker's --prefix-bytes bounds it\n");
  needs.number_bytes = 2;
  EXPECT_THAT(RenderPrefixes(reply, needs, 1000),
              AllOf(HasSubstr("at most 1.162 GiB"),
                    HasSubstr("384 numbers of 2 bytes each")));
  EXPECT_THAT(RenderPrefixes(reply, std::nullopt, 1000),
              HasSubstr("how large they are is not known here: no registry was "
                        "found that has minilm and imdb"));
  reply.mutable_study()->mutable_spec()->mutable_freeze()->set_prefix_dropout(
      v1::FreezeSemantics::HF);
  EXPECT_THAT(RenderPrefixes(reply, needs, 1000),
              HasSubstr("boundaries: of evaluations alone (prefix_dropout hf), "
                        "at most"));
}

TEST(PrefixView, SaysWhereNothingOrLittleIsShared) {
  v1::CreateStudyReply reply = ReplyWith({6.0 / 7, 6.0 / 49, 1.0 / 49});
  EXPECT_THAT(RenderPrefixes(reply, std::nullopt, 1000),
              AllOf(HasSubstr("0.1633 of 2 leading modules"),
                    HasSubstr("2.041 % of the space freezes"),
                    HasSubstr("search prefix_depth to share more")));
  EXPECT_THAT(
      RenderPrefixes(ReplyWith({0.5, 0.5, 0}), std::nullopt, 1000),
      AllOf(HasSubstr("so nothing is shared\n"), Not(HasSubstr("boundaries"))));
  EXPECT_EQ(RenderPrefixes(v1::CreateStudyReply(), std::nullopt, 1000), "");
  reply.mutable_study()->mutable_spec()->mutable_freeze()->set_mode(
      v1::FreezeSemantics::LR0);
  EXPECT_EQ(RenderPrefixes(reply, std::nullopt, 1000),
            "prefixes: nothing is shared, as lr0 computes frozen modules\n");
}

TEST(TrialView, ExplainsTheMarkOfFrozenModulesWhereThereIsOne) {
  v1::Trial trial;
  v1::ModuleRate& head = *trial.add_rates();
  head.set_module("head");
  head.set_rate(1e-3);
  EXPECT_THAT(RenderRates(trial), Not(HasSubstr("frozen")));
  head.set_rate(0);
  EXPECT_THAT(RenderRates(trial), HasSubstr("*\n(* frozen)\n"));
}

TEST(TrialView, SaysWhatATrialCost) {
  v1::Trial trial = ExampleTrial();
  EXPECT_THAT(RenderTrial(trial, AccuracySpec()), Not(HasSubstr("cost:")));
  trial.mutable_usage()->set_train_seconds(8);
  trial.mutable_usage()->set_flops_spent(9.996e11);
  trial.mutable_usage()->set_flops_skipped(2e9);
  EXPECT_THAT(RenderTrial(trial, AccuracySpec()),
              HasSubstr("cost:        8.0 s in training steps\n"
                        "work:        1 TFLOP done, 2 GFLOP skipped\n"));
}

TEST(AccessView, SaysWhoOneIs) {
  v1::Identity who;
  who.set_role(v1::ROLE_VIEWER);
  who.set_proof("token");
  (*who.mutable_study_labels())["team"] = "nlp";
  EXPECT_EQ(DescribeIdentity(who),
            "any worker, viewer of studies with team=nlp, by token");
  EXPECT_EQ(NameOf(v1::ROLE_ADMIN), "admin");
  EXPECT_EQ(NameOf(v1::Role(77)), "none");
}

TEST(AccessView, WritesAnEntryAsItsFileHasIt) {
  v1::AuditEntry entry;
  entry.set_sequence(7);
  entry.set_outcome("CREDENTIALS_MISSING");  // and no role, then
  entry.set_chain_sha256(std::string(32, '\x01'));
  EXPECT_THAT(AuditJsonLine(entry),
              AllOf(HasSubstr("\"role\":\"\""), HasSubstr("\"sequence\":7,"),
                    HasSubstr("\"chain_sha256\":\"0101")));
}

TEST(Format, WritesNumbersForPeople) {
  EXPECT_EQ(FormatRate(0.0), "frozen");
  EXPECT_EQ(FormatRate(2e-5), "2e-05");
  EXPECT_EQ(FormatNumber(0.93125), "0.9313");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(-123), "-123");
  EXPECT_EQ(FormatSeconds(0.42), "0.4 s");
  EXPECT_EQ(FormatSeconds(59.4), "59 s");
  EXPECT_EQ(FormatSeconds(184), "3m04s");
  EXPECT_EQ(FormatSeconds(7800), "2h10m");
  google::protobuf::Timestamp time;
  EXPECT_EQ(FormatTime(time), "");
  time.set_seconds(1767225600);
  EXPECT_EQ(FormatTime(time), "2026-01-01 00:00:00Z");
}

TEST(Format, WritesJsonWithAllFieldsUnderTheirProtoNames) {
  v1::Study study;
  study.set_state_reason("why");
  EXPECT_THAT(ToJson(study), HasSubstr("\"state_reason\": \"why\""));
  EXPECT_THAT(ToJson(study), HasSubstr("\"best_trials\": []"));
}

TEST(TrialView, OfATrialThatWaitsAgainNoTimePasses) {
  v1::Trial trial = ExampleTrial();
  trial.clear_end_time();
  trial.set_state(v1::TRIAL_STATE_QUEUED);
  EXPECT_EQ(SecondsOf(trial), -1.0);
  trial.set_state(v1::TRIAL_STATE_RUNNING);
  EXPECT_GT(SecondsOf(trial), 0.0);
}

TEST(TrialView, PutsTheParametersInColumns) {
  EXPECT_EQ(RenderTrialTable({ExampleTrial()}, AccuracySpec(), 0),
            "TRIAL  STATE      accuracy  TIME  WORKER     L3\n"
            "   17  SUCCEEDED    0.9313  12 s  a       2e-05\n");
}

TEST(TrialView, ShowsItsParametersBeforeWhatSaysLittle) {
  v1::Trial trial = ExampleTrial();
  trial.clear_worker();
  trial.clear_start_time();
  for (int layer = 0; layer < 7; ++layer) {
    v1::ParameterValue& value = *trial.add_parameters();
    value.set_name("layer." + std::to_string(10 + layer));
    value.mutable_value()->set_number_value(3e-4);
  }
  const std::string text = RenderTrialTable({trial}, AccuracySpec(), 80);
  EXPECT_THAT(text, AllOf(HasSubstr("L10"), HasSubstr("L16"),
                          HasSubstr("accuracy"), Not(HasSubstr("WORKER"))));
  EXPECT_LE(WidestLine(text), 80);
}

TEST(TrialView, ShowsAParetoSetAtAnyWidth) {
  v1::StudySpec spec = AccuracySpec();
  spec.add_objectives()->set_metric("seconds");
  std::vector<v1::Trial> front = {ExampleTrial(), ExampleTrial()};
  front[0].add_values(120.5);
  front[1].set_number(4);
  front[1].set_values(0, 0.875);
  front[1].add_values(30);
  EXPECT_EQ(RenderFront(front, spec, 0),
            "the best trials (Pareto set): none of these 2 can be bettered in "
            "one objective without loss in another\n"
            "TRIAL  STATE      accuracy  seconds  TIME  WORKER     L3\n"
            "   17  SUCCEEDED    0.9313    120.5  12 s  a       2e-05\n"
            "    4  SUCCEEDED     0.875       30  12 s  a       2e-05\n");
  for (const int width : {40, 80, 200}) {
    const std::string text = RenderFront(front, spec, width);
    EXPECT_LE(WidestLine(text), width) << text;
    EXPECT_THAT(text, HasSubstr("0.9313"));  // what it is about stays
    EXPECT_THAT(text, HasSubstr("120.5"));
  }
  front.resize(1);
  EXPECT_THAT(RenderFront(front, spec, 80),
              testing::StartsWith("the best trial: no other is better"));
}

v1::Trial TrialWithModel() {
  v1::Trial trial = ExampleTrial();
  v1::TrainedModel& model = *trial.mutable_usage()->mutable_model();
  model.set_host("gpu03");
  model.set_folder("/data/my runs/trials/demo/17/1/model");
  model.set_bytes(90868373);
  model.set_sums_sha256(std::string(64, 'a'));
  return trial;
}

TEST(ModelView, SaysWhereAModelIsAndHowToFetchIt) {
  const std::string text = RenderModelElsewhere(TrialWithModel(), "best", 0);
  EXPECT_THAT(text, HasSubstr("gpu03\n"));
  EXPECT_THAT(text, HasSubstr("/data/my runs/trials/demo/17/1/model\n"));
  EXPECT_THAT(text, HasSubstr("90,868,373\n"));
  EXPECT_THAT(text, HasSubstr("  rsync -a "
                              "'gpu03:/data/my runs/trials/demo/17/1/model/' "
                              "best/\n"));
  EXPECT_THAT(text, HasSubstr("sha256sum -c SHA256SUMS"));
  // Prose wraps; what is pasted does not.
  for (const int width : {40, 80, 200}) {
    const std::string wrapped =
        RenderModelElsewhere(TrialWithModel(), "best", width);
    EXPECT_THAT(wrapped, HasSubstr("model/' best/\n")) << width;
    for (const std::string& line : Lines(wrapped)) {
      if (line.find('/') != std::string::npos) continue;
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST(ModelView, KeepsEscapesOfAHostFromTheTerminal) {
  v1::Trial trial = TrialWithModel();
  trial.mutable_usage()->mutable_model()->set_host("\x1b[31mevil\n");
  EXPECT_THAT(RenderModelElsewhere(trial, "d", 80), Not(HasSubstr("\x1b")));
  EXPECT_THAT(RenderTrial(trial, AccuracySpec()), Not(HasSubstr("\x1b")));
}

TEST(ModelView, WritesJsonOfACopyAndOfNone) {
  EXPECT_THAT(
      ModelJson(TrialWithModel(), "/data/best", {"config.json"}),
      AllOf(HasSubstr("\"copied\": true"), HasSubstr("\"to\": \"/data/best\""),
            HasSubstr("\"config.json\"")));
  EXPECT_THAT(
      ModelJson(TrialWithModel(), "", {}),
      AllOf(HasSubstr("\"copied\": false"), HasSubstr("\"host\": \"gpu03\"")));
}

TEST(ModelView, KnowsTheWordsOfExport) {
  v1::StudySpec spec;
  EXPECT_FALSE(ExportsModels(spec));
  auto& word =
      (*spec.mutable_training()->mutable_extra()->mutable_fields())["export"];
  for (const char* const text : {"best", "all"}) {
    word.set_string_value(text);
    EXPECT_TRUE(ExportsModels(spec)) << text;
  }
  word.set_string_value("none");
  EXPECT_FALSE(ExportsModels(spec));
  word.set_bool_value(true);
  EXPECT_TRUE(ExportsModels(spec));
}

TEST(ShellWord, IsOneWordWhateverIsInIt) {
  EXPECT_EQ(ShellWord("gpu03:/a/b.c_d-e+f"), "gpu03:/a/b.c_d-e+f");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("$(reboot)"), "'$(reboot)'");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(TrialView, ShowsSeedsWhereTheyAreKnown) {
  v1::Trial seeded = ExampleTrial();
  seeded.set_seed(1234567);
  seeded.set_repeat(2);
  const std::string table =
      RenderTrialTable({ExampleTrial(), seeded}, AccuracySpec(), 0);
  EXPECT_THAT(table, HasSubstr("WORKER     SEED     L3\n"));
  EXPECT_THAT(table, HasSubstr("a       1234567  2e-05\n"));
  const std::string shown = RenderTrial(seeded, AccuracySpec());
  EXPECT_THAT(shown, HasSubstr("1234567\n"));
  EXPECT_THAT(shown, HasSubstr("its point ran 2 times before\n"));
  EXPECT_THAT(RenderTrial(ExampleTrial(), AccuracySpec()),
              testing::Not(HasSubstr("seed:")));
}

TEST(TrialView, SaysATrialInALine) {
  EXPECT_EQ(TrialLine(ExampleTrial(), AccuracySpec()),
            "trial 17  SUCCEEDED  accuracy 0.9313  12 s  worker a");
  v1::Trial failed = ExampleTrial();
  failed.clear_values();
  failed.set_state(v1::TRIAL_STATE_FAILED);
  failed.set_cause("out of\nmemory");
  EXPECT_THAT(TrialLine(failed, AccuracySpec()),
              HasSubstr("worker a  out of memory"));
}

TEST(StudyView, ShowsProgressAndTheResolvedSpace) {
  v1::CreateStudyReply reply;
  reply.mutable_study()->mutable_settings()->mutable_budget()->set_trials(40);
  auto* const head = reply.add_modules();
  head->set_module("head");
  head->set_parameter("head");
  head->set_domain("levels 0, 0.001");
  reply.add_modules()->set_module("embeddings");
  reply.set_space_size(std::numeric_limits<double>::infinity());
  EXPECT_EQ(RenderPlan(reply, 0),
            "MODULE      PARAMETER  RATES\n"
            "head        head       levels 0, 0.001\n"
            "embeddings  (fixed)    frozen\n"
            "space:  infinitely many points (continuous)\n"
            "budget: 40 trials\n"
            "seeds:  one for each trial\n"
            "warning: nothing gives a rate to embeddings, so they stay frozen "
            "in every trial; name them, or write default:\n");
  reply.add_advice("use another sampler");
  EXPECT_EQ(RenderPlanInShort(reply),
            "head: levels 0, 0.001\n"
            "embeddings: always frozen\n"
            "space: infinitely many points (continuous); budget: 40 trials\n");
}

TEST(StudyView, RatesThatDecayByLayerAreNotFixed) {
  v1::CreateStudyReply reply;
  reply.mutable_study()
      ->mutable_spec()
      ->mutable_space()
      ->mutable_layerwise_decay();
  const auto add = [&reply](const char* module, const char* domain) {
    auto* const one = reply.add_modules();
    one->set_module(module);
    one->set_domain(domain);
  };
  add("embeddings", "frozen");
  add("layer.0", "base_rate * decay^1");
  add("head", "base_rate * decay^0");
  EXPECT_THAT(RenderPlan(reply, 0),
              HasSubstr("MODULE      PARAMETER         RATES\n"
                        "embeddings  (fixed)           frozen\n"
                        "layer.0     base_rate, decay  base_rate * decay^1\n"
                        "head        base_rate, decay  base_rate * decay^0\n"));
  EXPECT_THAT(RenderPlanInShort(reply),
              HasSubstr("embeddings: always frozen\n"
                        "layer.0: base_rate * decay^1\n"));
}

TEST(StudyView, SaysWhichSeedsTheTrialsGet) {
  v1::CreateStudyReply reply;
  v1::StudySpec& spec = *reply.mutable_study()->mutable_spec();
  spec.mutable_training()->set_seed(5);
  EXPECT_THAT(RenderPlan(reply, 0), HasSubstr("seeds:  5 for all trials\n"));
  spec.clear_training();
  spec.set_seeds(v1::SEED_MODE_PAIRED);
  spec.mutable_repeat()->set_times(3);
  spec.mutable_repeat()->set_leaders(2);
  spec.mutable_repeat()->set_after(30);
  EXPECT_THAT(RenderPlan(reply, 0),
              HasSubstr("seeds:  paired: the same for the first run of every "
                        "point; the 2 leading points run 3 times each, from "
                        "trial 30 on\n"));
}

TEST(StudyView, SaysWhatRangeTheMetricsHave) {
  v1::CreateStudyReply reply;
  v1::StudySpec& spec = *reply.mutable_study()->mutable_spec();
  spec.add_objectives()->set_metric("accuracy");
  v1::Objective& reward = *spec.add_objectives();
  reward.set_metric("reward");
  EXPECT_THAT(RenderPlan(reply, 0),
              HasSubstr("range:  accuracy 0 … 1 (presumed from its name)\n"));
  reward.mutable_range()->set_lo(-5);
  EXPECT_THAT(RenderStudy(reply.study(), std::nullopt),
              HasSubstr("accuracy 0 … 1 (presumed from its name), "
                        "reward -5 or more\n"));
}

TEST(StudyView, SaysInALineWhatTrialsAreFor) {
  v1::CreateStudyReply reply;
  reply.mutable_study()->mutable_spec()->set_purpose(v1::PURPOSE_UNDERSTAND);
  EXPECT_THAT(
      RenderPlan(reply, 0),
      HasSubstr(
          "purpose: understand: every trial is chosen for what it tells\n"));
  EXPECT_THAT(RenderStudy(reply.study(), std::nullopt),
              HasSubstr("purpose:     understand\n"));
  reply.mutable_study()->clear_spec();  // from before purposes were
  EXPECT_THAT(RenderPlan(reply, 0), Not(HasSubstr("purpose")));
}

v1::Worker WorkerWith(const std::string& id,
                      const std::vector<std::string>& models,
                      const std::string& sum) {
  v1::Worker worker;
  worker.set_name("workers/" + id);
  worker.set_state(v1::WORKER_STATE_ACTIVE);
  worker.set_slots(2);
  worker.mutable_hardware()->set_host(id + ".lan");
  worker.mutable_stock();
  for (const std::string& model : models) {
    v1::StockItem* const item = worker.mutable_stock()->add_models();
    item->set_id(model);
    item->set_sha256(sum);
  }
  worker.mutable_stock()->add_data_sets()->set_id("imdb");
  return worker;
}

void ExpectWithin(const std::string& text, int width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(DisplayWidth(line), width) << line;
  }
}

TEST(FleetStock, SaysWhoHasWhatAndWhereSumsDiffer) {
  v1::Worker gone = WorkerWith("gone", {"bert"}, "cc");
  gone.set_state(v1::WORKER_STATE_GONE);
  v1::Worker any;
  any.set_name("workers/any");
  any.set_state(v1::WORKER_STATE_ACTIVE);
  const std::string text = RenderFleetStock(
      {WorkerWith("a", {"bert", "minilm"}, std::string(64, 'a')),
       WorkerWith("b", {"bert"}, std::string(64, 'b')), gone, any},
      0);
  EXPECT_THAT(text, AllOf(HasSubstr("bert    model      1  aaaaaaaa  a\n"),
                          HasSubstr("bert    model      1  bbbbbbbb  b\n"),
                          HasSubstr("minilm  model      1  aaaaaaaa  a\n"),
                          HasSubstr("imdb    data set   2            a, b\n"),
                          HasSubstr("taken to have everything: any\n"),
                          Not(HasSubstr("gone"))));
  EXPECT_EQ(RenderFleetStock({}, 0), "");
}

TEST(FleetStock, FitsEachWidth) {
  const std::vector<v1::Worker> workers = {
      WorkerWith("a-worker-of-a-long-name", {"bert-base-multilingual-cased"},
                 std::string(64, 'a')),
      WorkerWith("b", {"minilm"}, std::string(64, 'b'))};
  for (const int width : {40, 80, 200}) {
    ExpectWithin(RenderFleetStock(workers, width), width);
    ExpectWithin(StockTable(workers).Render(width), width);
    EXPECT_THAT(StockTable(workers).Render(width), HasSubstr("ID"));
  }
  EXPECT_THAT(
      StockTable(workers).Render(200),
      AllOf(HasSubstr("bert-base-multilingual-cased"), HasSubstr("b.lan")));
}

TEST(StockTable, TellsAWorkerThatHasNothingFromOneThatDidNotSay) {
  v1::Worker silent = WorkerWith("silent", {}, "");
  silent.clear_stock();
  const std::string text =
      StockTable({WorkerWith("empty", {}, ""), silent}).Render();
  EXPECT_THAT(text, AllOf(HasSubstr("empty   ACTIVE      2  none    imdb"),
                          HasSubstr("silent  ACTIVE      2  any     any")));
}

TEST(DescribeData, SaysWhatIsOddAboutRows) {
  registry::DataFacts facts;
  facts.id = "d";
  facts.splits = {
      {.name = "train", .rows = 1200, .empty_texts = 3, .left_out = 1},
      {.name = "test", .labelled = false, .rows = 1}};
  facts.classes = {{"no", 700}, {"yes", 500}};
  EXPECT_EQ(DescribeData(facts),
            "d: classification\n"
            "  train: 1,200 rows, 1 more without a label left out, of which 3 "
            "with an empty text\n"
            "  test: 1 row, without labels\n"
            "  2 classes: no 700, yes 500\n");
}

}  // namespace
}  // namespace frostline::cli
