// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "cli/term/terminal.h"
#include "cli/term/utf8.h"
#include "cli/view/access_view.h"
#include "cli/view/format.h"
#include "cli/view/model_view.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
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

v1::StudySpec AccuracySpec() {
  v1::StudySpec spec;
  spec.add_objectives()->set_metric("accuracy");
  return spec;
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
  EXPECT_THAT(RenderStudyTable({study}, true, 0),
              AllOf(HasSubstr("OWNER"), HasSubstr("ana"),
                    HasSubstr("site=lab, team=nlp")));
  EXPECT_THAT(RenderStudyTable({study}, false, 0), Not(HasSubstr("ana")));
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

TEST(TrialView, PutsTheParametersInColumns) {
  EXPECT_EQ(RenderTrialTable({ExampleTrial()}, AccuracySpec(), 0),
            "TRIAL  STATE      accuracy  TIME  WORKER     L3\n"
            "   17  SUCCEEDED    0.9313  12 s  a       2e-05\n");
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
            "seeds:  one for each trial\n");
  reply.add_advice("use another sampler");
  EXPECT_EQ(RenderPlanInShort(reply),
            "head: levels 0, 0.001\n"
            "embeddings: always frozen\n"
            "space: infinitely many points (continuous); budget: 40 trials\n");
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

}  // namespace
}  // namespace frostline::cli
