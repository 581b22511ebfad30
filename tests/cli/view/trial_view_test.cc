// SPDX-License-Identifier: Apache-2.0
#include "cli/view/trial_view.h"

#include <cstring>
#include <sstream>

#include "base/plain/predictions_file.h"
#include "cli/study_file/study_file.h"
#include "cli/view/outcomes_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

v1::StudySpec SpecWith(const std::string& space) {
  const auto study = ParseStudyFile(
      "id: imdb\nmodel: {id: minilm, layers: 3, heads: 2}\ndata: imdb\n"
      "maximize: accuracy\nbudget: 3\n" +
          space,
      "imdb.yaml");
  EXPECT_TRUE(study.ok()) << study.status();
  return study.ok() ? study->spec : v1::StudySpec();
}

TEST(SpaceNames, AreThoseThatTrialsUse) {
  const v1::StudySpec spec = SpecWith(
      "space:\n"
      "  prefix_depth: {lo: 0, hi: 3}\n"
      "  modules: {\"layer.0-1\": [0, 1e-5], pooler: 1e-4}\n"
      "  ties: [{name: top, modules: [layer.2.ffn, head], levels: {rates: [0, "
      "1e-3]}}]\n"
      "  parameters: {kind: [small, large]}\n");
  EXPECT_THAT(ParameterNames(spec),
              ElementsAre("prefix_depth", "layer.0", "layer.1", "top", "kind"));
  EXPECT_THAT(ModuleNames(spec),
              ElementsAre("embeddings", "layer.0", "layer.1", "layer.2",
                          "layer.2.ffn", "pooler", "head"));
}

TEST(SpaceNames, OfADecayAreItsSearchedNumbers) {
  v1::StudySpec spec;
  v1::LayerwiseDecay& decay = *spec.mutable_space()->mutable_layerwise_decay();
  decay.mutable_base_rate()->mutable_levels()->add_rates(1e-4);
  decay.mutable_decay()->set_fixed(0.9);
  EXPECT_THAT(ParameterNames(spec), ElementsAre("base_rate"));
  EXPECT_THAT(ModuleNames(spec), IsEmpty());
}

TEST(TrialTable, HasTheColumnsOfItsStudyWithoutTrials) {
  v1::StudySpec spec =
      SpecWith("space: {modules: {head: [0, 1e-3]}, parameters: {f: [a, b]}}");
  spec.add_constraints()->set_metric("latency");
  const std::vector<std::string> names = TrialTable({}, spec, true).Names();
  EXPECT_THAT(names, IsSupersetOf({"trial", "accuracy", "head", "f", "latency",
                                   "rate.layer.2", "note"}));
  EXPECT_THAT(names, Not(Contains("f1")));
}

// An imported trial, of which nobody measured anything here.
TEST(TrialTable, LeavesEmptyWhatNobodyMeasured) {
  Trials trials;
  trials.Add()->set_attempt(2);
  trials[0].mutable_usage()->set_total_seconds(1.5);
  trials.Add();
  const Table table = TrialTable(trials, {}, true);
  std::vector<std::size_t> columns;
  for (const char* const name : {"attempt", "total_seconds", "flops_spent",
                                 "energy_joules", "trained_parameters"}) {
    columns.push_back(table.Find(name).value());
  }
  EXPECT_EQ(table.WithColumns(columns).Csv(),
            "attempt,total_seconds,flops_spent,energy_joules,"
            "trained_parameters\r\n2,1.5,,,0\r\n,,,,\r\n");
}

constexpr char kTrial[] = "studies/a/trials/3";

v1::GetTrialLogReply EndedLog() {
  v1::GetTrialLogReply log;
  log.set_attempt(2);
  log.set_state(v1::ATTEMPT_STATE_COMPLETED);
  log.set_worker("workers/w");
  log.set_tail("say \"hi\"\n");
  log.mutable_place()->set_host("node7");
  log.mutable_place()->set_path("/runs/trials/a/3/2.log");
  log.mutable_place()->set_end(9);
  return log;
}

TEST(LogView, SaysWhereTheWholeLogLiesAndWhetherItIsKept) {
  v1::GetTrialLogReply log = EndedLog();
  const std::string begin =
      "studies/a/trials/3: attempt 2 COMPLETED; its whole log: "
      "node7:/runs/trials/a/3/2.log, ";
  EXPECT_EQ(DescribeLogPlace(kTrial, log), begin + "if it is still there\n");
  log.mutable_place()->set_kept(true);
  EXPECT_EQ(DescribeLogPlace(kTrial, log), begin + "where it is kept\n");
  log.mutable_place()->set_kept(false);
  EXPECT_EQ(DescribeLogPlace(kTrial, log),
            begin + "which went with the trial's end (the worker's --keep)\n");
  log.mutable_place()->clear_path();
  EXPECT_THAT(DescribeLogPlace(kTrial, log),
              EndsWith("only its worker, w on node7\n"));
}

TEST(LogView, SaysWhyATrialWithoutAnAttemptHasNoLog) {
  v1::Trial trial;
  trial.set_name(kTrial);
  trial.set_state(v1::TRIAL_STATE_QUEUED);
  EXPECT_EQ(DescribeNoLog(trial), "studies/a/trials/3 has not begun\n");
  trial.set_state(v1::TRIAL_STATE_CANCELLED);
  EXPECT_EQ(DescribeNoLog(trial),
            "studies/a/trials/3 is CANCELLED without having run\n");
  trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial.set_origin(v1::TRIAL_ORIGIN_IMPORTED);
  EXPECT_EQ(DescribeNoLog(trial),
            "studies/a/trials/3 was imported, so it did not run here\n");
}

TEST(LogView, IsOneObjectOfWhichTheLinesAreText) {
  const v1::GetTrialLogReply log = EndedLog();
  EXPECT_EQ(LogToJson(kTrial, log, true),
            R"({"trial": "studies/a/trials/3", "attempt": "2", )"
            R"("state": "ATTEMPT_STATE_COMPLETED", "worker": "workers/w", )"
            R"("live": false, "host": "node7", )"
            R"("path": "/runs/trials/a/3/2.log", "kept": null, "end": "9", )"
            R"("log": "say \"hi\"\n"})"
            "\n");
  EXPECT_THAT(LogToJson(kTrial, log, false),
              EndsWith("\n \"log\": \"say \\\"hi\\\"\\n\"\n}\n"));
}

TEST(LogView, AnOutcomeHasItsValuesOrItsCause) {
  v1::Trial trial;
  trial.set_name(kTrial);
  trial.set_state(v1::TRIAL_STATE_SUCCEEDED);
  trial.add_values(0.5);
  v1::StudySpec spec;
  spec.add_objectives()->set_metric("accuracy");
  EXPECT_EQ(DescribeOutcome(trial, spec),
            "studies/a/trials/3 is SUCCEEDED: accuracy 0.5\n");
  trial.clear_values();
  trial.set_state(v1::TRIAL_STATE_FAILED);
  trial.set_cause("out of memory");
  EXPECT_EQ(DescribeOutcome(trial, spec),
            "studies/a/trials/3 is FAILED: out of memory\n");
}

TEST(LogView, TellsWhatATailHasBeyondAnother) {
  EXPECT_EQ(BeyondTail("", "ab"), "ab");
  EXPECT_EQ(BeyondTail("ab", "ab"), "");
  EXPECT_EQ(BeyondTail("1\n2\n", "2\n3\n"), "3\n");
  EXPECT_EQ(BeyondTail("xab", "abab"), "ab");
  EXPECT_EQ(BeyondTail("ababab", "ababc"), "c");
  EXPECT_EQ(BeyondTail("abab", "abababx"), "abx");
  EXPECT_EQ(BeyondTail("one\n", "two\n"), "two\n");
  EXPECT_EQ(BeyondTail("one\n", ""), "");
}

// True a a a b, predicted a a b none; confidences 1, 0.5, 1, 0.
v1::ExampleOutcomes Classes() {
  v1::ExampleOutcomes outcomes;
  outcomes.set_count(4);
  outcomes.add_classes("a");
  outcomes.add_classes("b");
  outcomes.set_true_class(std::string("\0\0\0\1", 4));
  outcomes.set_predicted_class(std::string("\0\0\1\2", 4));
  outcomes.set_confidence(std::string("\0\x3c\0\x38\0\x3c\0\0", 8));
  return outcomes;
}

std::string Floats(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) {
    char four[4];
    std::memcpy(four, &value, 4);
    bytes.append(four, 4);
  }
  return bytes;
}

v1::ExampleOutcomes Numbers() {
  v1::ExampleOutcomes outcomes;
  outcomes.set_count(4);
  outcomes.set_true_value(Floats({0, 1, 2, 3}));
  outcomes.set_predicted_value(Floats({1, 3, 5, 9}));  // 1 + 2 x, one beside
  return outcomes;
}

TEST(OutcomesView, AConfusionCountsPairsAndScoresEachClass) {
  const std::string text = RenderConfusion(Classes(), 0);
  EXPECT_THAT(text, HasSubstr("(cut off)"));
  // a: two of three found, and nothing else taken for it.
  EXPECT_THAT(text, HasSubstr("0.6667"));
  EXPECT_THAT(text, HasSubstr("accuracy 0.5"));
  EXPECT_THAT(ConfusionToJson(Classes()), HasSubstr("\"recall\""));
}

TEST(OutcomesView, ResidualsHaveALine) {
  const LinearFit fit = FitLine(Unpack(Numbers()));
  EXPECT_NEAR(fit.slope, 2.6, 1e-12);
  EXPECT_NEAR(fit.intercept, 0.6, 1e-12);
  const std::string text = RenderConfusion(Numbers(), 0);
  EXPECT_THAT(text, HasSubstr("6 of example 3"));
  EXPECT_THAT(text, HasSubstr("2.6 * true"));
}

TEST(OutcomesView, TheSurestMistakesComeFirst) {
  const auto groups = PickExamples(Unpack(Classes()), 1);
  ASSERT_EQ(groups.size(), 4);
  EXPECT_THAT(groups[0].examples, ElementsAre(2));  // wrong, most confident
  EXPECT_THAT(groups[2].examples, ElementsAre(1));  // right, least confident
  EXPECT_THAT(groups[3].examples, ElementsAre(0));
  const auto numbers = PickExamples(Unpack(Numbers()), 1);
  EXPECT_THAT(numbers[0].examples, ElementsAre(2));
}

TEST(OutcomesView, WhatWasNotToldIsSaid) {
  v1::ExampleOutcomes marks;
  marks.set_count(4);
  EXPECT_THAT(RenderConfusion(marks, 0), HasSubstr("right or wrong alone"));
}

TEST(OutcomesView, TextsStandBesideTheirExamples) {
  const ExampleTable table = Unpack(Classes());
  const std::string text =
      RenderExamples(PickExamples(table, 1), table, {{2, "a fine film"}}, 0);
  EXPECT_THAT(text, HasSubstr("a fine film"));
}

PredictedExamples Read(const std::string& text) {
  std::istringstream file(text);
  return PredictedExamples(file);
}

TEST(PredictedExamples, OfClasses) {
  const PredictedExamples read = Read(
      "label\tprediction\tconfidence\ttext\tsecond\n"
      "yes\tno\t0.75\ta\\tb\tc\n"
      "\tno\t0.5\tunknown\td\n"
      "no\tno\t1\tlast\te\n");
  EXPECT_THAT(read.table().classes, ElementsAre("yes", "no"));
  EXPECT_THAT(read.table().truth, ElementsAre(0, 1));
  EXPECT_THAT(read.table().predicted, ElementsAre(1, 1));
  EXPECT_THAT(read.table().confidence, ElementsAre(0.75F, 1.0F));
  EXPECT_EQ(read.TextOf(0), "a\tb | c");
  EXPECT_EQ(read.TextOf(1), "last | e");
}

TEST(PredictedExamples, OfNumbers) {
  const PredictedExamples read =
      Read("label\tprediction\ttext\n2.5\t3\tone\n0\t-1.5\ttwo\n");
  EXPECT_THAT(read.table().true_value, ElementsAre(2.5, 0.0));
  EXPECT_THAT(read.table().predicted_value, ElementsAre(3.0, -1.5));
  EXPECT_EQ(read.TextOf(1), "two");
}

TEST(PredictedExamples, OfWordsInTheirSentences) {
  const PredictedExamples read = Read(
      "word\tlabel\tprediction\tconfidence\n"
      "I\tPRON\tPRON\t0.9\nrun\tVERB\t\t\n\n"
      "dogs\t\t\t\nbark\tVERB\tNOUN\t0.6\n\n");
  EXPECT_THAT(read.table().predicted, ElementsAre(0, -1, 2));
  EXPECT_EQ(read.TextOf(1), "I [run]");
  EXPECT_EQ(read.TextOf(2), "dogs [bark]");
}

TEST(PredictedExamples, OfAnEmptyFileAndOfForeignLines) {
  EXPECT_THAT(Read("").table().truth, IsEmpty());
  EXPECT_THAT(Read("label\tprediction\tconfidence\ttext\nx\n").table().truth,
              IsEmpty());
}

TEST(RenderSaid, SetsWhatWasWantedBesideWhatWasSaid) {
  std::istringstream file(
      "label\tprediction\ttext\nyes\tyes\tIs it?\n"
      "no\tyes\tIs it not?\nno\tmaybe\tWill it?\n");
  EXPECT_EQ(RenderSaid(file, 1, 0),
            "wrong, the first ones\n"
            "example  wanted  said  prompt\n"
            "      1  no      yes   Is it not?\n\n"
            "right\n"
            "example  wanted  said  prompt\n"
            "      0  yes     yes   Is it?\n");
}

// However little of an answer is shown.
TEST(RenderSaid, LongAnswersThatEndOtherwiseAreWrong) {
  const std::string begin(500, 'a');
  std::istringstream file("label\tprediction\ttext\n" + begin + "b\t" + begin +
                          "c\tprompt\n");
  EXPECT_THAT(RenderSaid(file, 1, 0), HasSubstr("right\nnone\n"));
}

TEST(UnescapeColumn, IsTheOppositeOfEscapeColumn) {
  for (const std::string text : {"a\tb\\n\r\nc", "\\", "plain", "\\\\t"}) {
    EXPECT_EQ(UnescapeColumn(EscapeColumn(text)), text);
  }
}

TEST(TrialView, ShowsWhatTrainingDidToEachModule) {
  v1::Trial trial;
  trial.set_name("studies/imdb/trials/3");
  EXPECT_THAT(RenderTrial(trial, {}), Not(HasSubstr("MOVED")));
  v1::ModuleAudit* row = trial.mutable_usage()->add_audit();
  row->set_module("layer.0");
  row->set_weight_bytes(4 << 20);
  row = trial.mutable_usage()->add_audit();
  row->set_module("layer.1");
  row->set_rate(1e-4);
  row->set_moved(0.0125);
  row->set_could_move(0.05);
  row->set_had_gradient(true);
  row->set_weight_bytes(4 << 20);
  row->set_moment_bytes(8 << 20);
  row = trial.mutable_usage()->add_audit();
  row->set_module("head");
  row->set_rate(1e-30);
  const std::string text = RenderTrial(trial, {});
  EXPECT_THAT(text, testing::ContainsRegex("layer.0 +frozen +no +4 MiB"));
  EXPECT_THAT(text, testing::ContainsRegex("layer.1 +0.0001 +1.25 % +5 % +yes +"
                                           "4 MiB +8 MiB"));
  EXPECT_THAT(text, HasSubstr("did not move: it never had a gradient"));
}

}  // namespace
}  // namespace frostline::cli
