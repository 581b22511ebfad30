// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/tensor.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/data/data_fixture.h"
#include "tests/worker/trainer/trial/trial_world.h"
#include "worker/registry/fit.h"
#include "worker/trainer/trial/batch_maker.h"
#include "worker/trainer/trial/scores.h"

namespace frostline::trainer {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Key;

// Trials of several tasks.

constexpr char kTasks[] =
    R"({"name": "words", "data": {"id": "words"}, "head": {"kind": "mlp"}},
       {"name": "alike", "data": {"id": "scores"}, "loss_weight": 0.2,
        "head": {"kind": "cosine", "scale": 5}})";

Expected<TrialMessage> ReadTasks(const TrialWorld& world,
                                 const std::string& training,
                                 const std::string& tasks = kTasks,
                                 const std::string& rates = "") {
  std::string line = world.Message(training, rates);
  const std::string data = R"("data": {"id": "words"})";
  line.replace(line.find(data), data.size(), "\"tasks\": [" + tasks + "]");
  const std::string metric = R"("metric": "accuracy")";
  line.replace(line.find(metric), metric.size(), R"("metric": "mean")");
  return ReadTrialMessage(Json::Parse(line).value().root());
}

TrialMessage Trial(const TrialWorld& world, const std::string& training,
                   const std::string& tasks = kTasks,
                   const std::string& rates = "") {
  Expected<TrialMessage> trial = ReadTasks(world, training, tasks, rates);
  EXPECT_TRUE(trial.ok()) << trial.fault().cause;
  return std::move(trial).value();
}

Metrics ScoredTasks(TrialEnd end) {
  end.metrics.erase("train_seconds");
  end.metrics.erase("peak_memory_mib");
  return end.metrics;
}

TEST(TaskTrials, EachTaskIsMeasuredAndTheMeanOfAll) {
  TrialWorld world;
  const TrialEnd end = world.Run(Trial(world, R"("epochs": 6,)"));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_DOUBLE_EQ(
      end.metrics.at("mean"),
      (end.metrics.at("words.accuracy") + end.metrics.at("alike.pearson")) / 2);
  EXPECT_THAT(end.metrics, Contains(Key("alike.mse")));
  EXPECT_LT(world.witness.reports.back().metrics.at("train_loss"),
            world.witness.reports.front().metrics.at("train_loss"));
}

// However batches are mixed, and gradients too.
TEST(TaskTrials, GoOnAfterAnyStopAsIfNothingHadBeen) {
  for (const std::string mixing :
       {R"("task_mixing": "random",)", R"("task_mixing": "in_proportion",)",
        R"("task_mixing": "joined", "gradient_surgery": "pcgrad",)",
        R"("smart": {"weight": 1, "bregman": 1},)"}) {
    TrialWorld world;
    const TrialMessage whole = Trial(world, R"("epochs": 2,)" + mixing);
    const TrialEnd end = world.Run(whole);
    ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
    int stops = 0;
    for (int asked = 3; asked < 30; asked += 4) {
      Witness first;
      first.StopAfter(asked, StopReason::kPreempt);
      if (world.Run(whole, first).state != TrialState::kStopped) break;
      if (first.checkpoint.empty()) continue;
      ++stops;
      TrialMessage rest = whole;
      rest.resume_path = world.folder() + "/" + first.checkpoint;
      rest.resume_step = first.checkpoint_step;
      Witness second;
      EXPECT_EQ(ScoredTasks(world.Run(rest, second)), ScoredTasks(end))
          << mixing;
      EXPECT_THAT(second.log, HasSubstr("goes on from step"));
    }
    EXPECT_GT(stops, 1);
  }
}

TEST(TaskTrials, EachTaskLeavesItsOutcomesAndItsPredictions) {
  TrialWorld world;
  const TrialMessage trial = Trial(world, R"("report_example_outcomes": true,
                      "predictions": ["dev"],)");
  const TrialEnd end = world.Run(trial);
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  ASSERT_EQ(end.evaluations.size(), 2U);
  EXPECT_EQ(end.evaluations[0].task, "words");
  EXPECT_EQ(end.evaluations[0].encoding, "PACKED_BITS");
  EXPECT_EQ(end.evaluations[1].task, "alike");
  EXPECT_EQ(end.evaluations[1].encoding, "FLOAT16");
  for (const char* const task : {"words", "alike"}) {
    EXPECT_TRUE(std::filesystem::exists(trial.folder + "/predictions/" + task +
                                        "/validation.tsv"));
  }
}

TEST(TaskTrials, StepsWithAConflictAreCounted) {
  TrialWorld world;
  const std::string opposite =
      R"({"name": "a", "data": {"id": "words"}},
         {"name": "b", "data": {"id": "words",
          "label_map": {"yes": "no", "no": "yes"}}})";
  const TrialEnd end =
      world.Run(Trial(world, R"("epochs": 4, "task_mixing": "joined",
                "gradient_surgery": "dominant",)",
                      opposite));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_GT(end.metrics.at("gradient_conflicts"), 0.0);
  EXPECT_LE(end.metrics.at("gradient_conflicts"), end.metrics.at("steps"));
}

// What no task trains is a prefix that is shared.
TEST(TaskTrials, ModulesThatAllTasksFreezeAreShared) {
  TrialWorld world;
  const std::string frozen =
      R"({"name": "a", "data": {"id": "words"}, "freeze": ["layer.0"]},
         {"name": "b", "data": {"id": "words"}, "freeze": ["layer.0"]})";
  const TrialEnd end = world.Run(Trial(world, "", frozen));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  EXPECT_THAT(world.witness.log, HasSubstr("no task trains it: layer.0"));
  EXPECT_GT(end.usage->flops_shared, 0.0);
}

TEST(TaskTrials, WhatDoesNotGoTogetherIsNamed) {
  const TrialWorld world;
  const std::string a = R"({"name": "a", "data": {"id": "words"})";
  const auto cause = [&](const std::string& training,
                         const std::string& tasks) {
    const Expected<TrialMessage> trial = ReadTasks(world, training, tasks);
    return trial.ok() ? std::string() : trial.fault().cause;
  };
  EXPECT_THAT(cause("", a + "}, " + a + "}"), HasSubstr("two tasks"));
  EXPECT_THAT(cause("", a + R"(, "share": 1}, {"name": "b",
                              "data": {"id": "words"}})"),
              HasSubstr("share"));
  EXPECT_THAT(cause(R"("gradient_surgery": "pcgrad",)", kTasks),
              HasSubstr("gradient_surgery"));
  EXPECT_THAT(cause("", a + R"(, "loss": "hinge"})"), HasSubstr("loss"));
  EXPECT_THAT(cause("", a + R"(, "head": {"kind": "features",
                                        "pair": "joint"}})"),
              HasSubstr("head.pair"));
}

TEST(TaskTrials, WhatTheDataDoNotHaveIsNamedBeforeTraining) {
  TrialWorld world;
  const auto cause = [&](const std::string& more) {
    std::vector<std::string> log;
    const TrialMessage trial = Trial(
        world, "", R"({"name": "a", "data": {"id": "words"},)" + more + "}");
    const Expected<TrialSetup> setup =
        world.trial_preparer().Prepare(trial, {}, log);
    return setup.ok() ? std::string() : setup.fault().cause;
  };
  EXPECT_THAT(cause(R"("loss": "squared_error")"), HasSubstr("the loss is"));
  EXPECT_THAT(cause(R"("head": {"kind": "cosine"})"), HasSubstr("cosine"));
  EXPECT_THAT(cause(R"("head": {"kind": "features"})"),
              HasSubstr("no second text"));
  EXPECT_THAT(cause(R"("freeze": ["layer.9"])"), HasSubstr("layer.9"));
}

TEST(TaskTrials, AnObjectiveOfNoTaskIsNamed) {
  TrialWorld world;
  TrialMessage trial = Trial(world, "");
  trial.objectives[0].metric = "sts.pearson";
  const TrialEnd end = world.Run(trial);
  EXPECT_EQ(end.state, TrialState::kFailed);
  EXPECT_THAT(end.cause, HasSubstr("sts.pearson"));
}

// --- whose batches come when ---

MixOptions Mix(TaskMixing mixing, std::vector<double> shares) {
  MixOptions options;
  options.mixing = mixing;
  options.batches = {.batch_size = 2, .seed = 5};
  options.shares = std::move(shares);
  return options;
}

const std::vector<std::vector<std::uint32_t>> kLengths = {
    std::vector<std::uint32_t>(12, 4), std::vector<std::uint32_t>(6, 9)};

TEST(TaskBatches, InProportionSharesAlwaysHold) {
  TaskBatches batches(kLengths, Mix(TaskMixing::kInProportion, {1, 2}));
  int of_second = 0;
  for (int i = 1; i <= 9; ++i) {
    of_second += batches.Next().front().task == 1 ? 1 : 0;
    EXPECT_NEAR(of_second, i * 2.0 / 3.0, 1.0);
  }
  EXPECT_TRUE(batches.AtEpochEnd());
}

TEST(TaskBatches, JoinedSetsAreDrawnWithoutReplacement) {
  TaskBatches batches(kLengths, Mix(TaskMixing::kJoined, {1, 1}));
  std::set<std::pair<std::size_t, std::uint32_t>> seen;
  bool mixed = false;
  while (!batches.AtEpochEnd()) {
    const std::vector<TaskRows> parts = batches.Next();
    mixed = mixed || parts.size() == 2;
    for (const TaskRows& part : parts) {
      for (const std::uint32_t row : part.rows) {
        EXPECT_TRUE(seen.emplace(part.task, row).second);
      }
    }
  }
  EXPECT_EQ(seen.size(), 18U);
  EXPECT_EQ(batches.BatchesOf(0), 9U);
}

TEST(TaskBatches, GoOnFromAnyPosition) {
  for (const TaskMixing mixing : {TaskMixing::kRandom, TaskMixing::kJoined}) {
    TaskBatches whole(kLengths, Mix(mixing, {1, 1}));
    for (int i = 0; i < 20; ++i) {
      TaskBatches rest(kLengths, Mix(mixing, {1, 1}));
      rest.Seek(whole.position());
      TaskBatches copy(kLengths, Mix(mixing, {1, 1}));
      copy.Seek(whole.position());
      const std::vector<TaskRows> next = whole.Next();
      EXPECT_EQ(rest.Next().front().rows, next.front().rows);
      EXPECT_EQ(copy.Next().front().task, next.front().task);
      EXPECT_EQ(rest.position(), whole.position());
    }
  }
}

// 900 draws at 3 : 1; a share's deviation is .014.
TEST(TaskBatches, RandomTurnsComeByTheirShares) {
  TaskBatches batches(kLengths, Mix(TaskMixing::kRandom, {3, 1}));
  int of_second = 0;
  std::set<int> of_epochs;  // how many were the second's in an epoch
  for (int epoch = 0; epoch < 100; ++epoch) {
    int here = 0;
    do {
      here += batches.Next().front().task == 1 ? 1 : 0;
    } while (!batches.AtEpochEnd());
    of_second += here;
    of_epochs.insert(here);
  }
  EXPECT_NEAR(of_second / 900.0, 0.25, 0.06);
  EXPECT_GT(of_epochs.size(), 3U);
}

TEST(TaskBatches, InProportionNoTaskIsABatchBehind) {
  const std::vector<std::vector<std::uint32_t>> lengths(
      4, std::vector<std::uint32_t>(20, 5));
  const std::vector<double> shares = {5, 1, 1, 1};
  TaskBatches batches(lengths, Mix(TaskMixing::kInProportion, shares));
  std::vector<double> had(4, 0.0);
  for (int i = 1; i <= 40; ++i) {
    had[batches.Next().front().task] += 1.0;
    for (std::size_t task = 0; task < had.size(); ++task) {
      EXPECT_LT(shares[task] / 8.0 * i - had[task], 1.0) << i;
    }
  }
}

// "0:2,5@0 " of a batch: whose rows, which, in which pass.
std::string InWords(const std::vector<TaskRows>& batch) {
  std::string shown;
  for (const TaskRows& part : batch) {
    shown += std::to_string(part.task) + ":";
    for (const std::uint32_t row : part.rows) {
      shown += std::to_string(row) + ",";
    }
    shown += "@" + std::to_string(part.epoch) + " ";
  }
  return shown;
}

TEST(TaskBatches, FromAnyStepOnTheOrderIsTheSame) {
  for (const TaskMixing mixing :
       {TaskMixing::kRandom, TaskMixing::kInProportion, TaskMixing::kJoined}) {
    TaskBatches whole(kLengths, Mix(mixing, {1, 2}));
    std::vector<MixPosition> positions;
    std::vector<std::string> order;
    for (int i = 0; i < 30; ++i) {  // more than three epochs
      positions.push_back(whole.position());
      order.push_back(InWords(whole.Next()));
    }
    for (std::size_t from = 0; from < order.size(); ++from) {
      TaskBatches rest(kLengths, Mix(mixing, {1, 2}));
      rest.Seek(positions[from]);
      for (std::size_t i = from; i < order.size(); ++i) {
        ASSERT_EQ(InWords(rest.Next()), order[i]) << from << " to " << i;
      }
    }
  }
}

class PredictionsOfWords : public ::testing::Test {
 protected:
  DataPart Read(const DatasetReader& reader, std::string_view bytes) {
    DataPart part;
    part.data = std::make_shared<const Dataset>(
        folder_.Read(reader, bytes, Jsonl(), {}).value());
    part.rows = part.data->AllRows();
    return part;
  }

  // A VERB, then a NOUN, of two sentences of as many tokens. Labels are as a
  // model reads them; -100 is none.
  Scores Say(const std::vector<std::int64_t>& labels) const {
    Scores scores({.task = Task::kTokens, .outputs = 2}, labels_, 2);
    const std::vector<std::uint32_t> rows = {0, 1};
    Batch batch;
    batch.labels = at::tensor(labels).view({2, 2});
    scores.Add(
        rows, batch,
        {at::tensor({0.F, 9.F, 9.F, 0.F, 0.F, 9.F, 9.F, 0.F}).view({2, 2, 2}),
         1.0, 0});
    return scores;
  }

  std::string Written(const DataPart& part, const Scores& scores) {
    const std::string path = folder_.File("predictions/test.tsv");
    EXPECT_TRUE(WritePredictions(path, part, scores).ok());
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  DataFolder folder_;
  LabelSet labels_ = LabelSet::FromList({"NOUN", "VERB"}).value();
};

// Each word of them has the class 0 where a model reads labels, and no truth in
// the file.
TEST_F(PredictionsOfWords, WithoutLabelsEachWordIsPredicted) {
  DatasetReader reader(TaskKind::kTagging);
  const DataPart part =
      Read(reader.WithoutLabels(),
           "{\"words\": \"go home now\"}\n{\"words\": \"stay\"}\n");
  Scores scores = Say({0, 0, 0, -100});
  const std::vector<UnreadWord> cut = {{2, 0}};
  scores.AddUnread(0, cut);
  EXPECT_EQ(Written(part, scores),
            "word\tlabel\tprediction\tconfidence\n"
            "go\t\tVERB\t0.999877\nhome\t\tNOUN\t0.999877\nnow\t\t\t\n\n"
            "stay\t\tVERB\t0.999877\n\n");
}

TEST_F(PredictionsOfWords, OnesWithoutALabelAmongOthersAreNotPredicted) {
  DatasetReader reader(TaskKind::kTagging);
  const DataPart part =
      Read(reader.WithLabelRules({{.names = {}, .dropped = {"ADV"}}}),
           "{\"words\": \"go home\", \"tags\": \"VERB ADV\"}\n"
           "{\"words\": \"stay\", \"tags\": \"NOUN\"}\n");
  EXPECT_EQ(Written(part, Say({1, -100, 0, -100})),
            "word\tlabel\tprediction\tconfidence\n"
            "go\tVERB\tVERB\t0.999877\nhome\t\t\t\n\n"
            "stay\tNOUN\tVERB\t0.999877\n\n");
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

LabelSet Labels(const std::vector<std::string>& names) {
  return LabelSet::FromList(names).value();
}

Batch WithLabels(const at::Tensor& labels) {
  Batch batch;
  batch.labels = labels;
  return batch;
}

void ExpectNames(const Metrics& metrics, std::vector<std::string> names) {
  std::vector<std::string> keys;
  for (const auto& [name, value] : metrics) keys.push_back(name);
  EXPECT_THAT(keys, UnorderedElementsAreArray(names));
}

TEST(Scores, OutcomesAreInTheOrderOfTheDataWhateverTheBatches) {
  const LabelSet labels = Labels({"no", "yes"});
  Scores scores({Task::kSequence, 2}, labels, 3);
  const std::vector<std::uint32_t> later = {2, 0};
  const std::vector<std::uint32_t> first = {1};
  // Row 2 is right, row 0 wrong, row 1 right.
  scores.Add(later, WithLabels(at::tensor({1L, 1L})),
             {at::tensor({0.F, 9.F, 9.F, 0.F}).view({2, 2}), 0.5, 2});
  scores.Add(first, WithLabels(at::tensor({0L})),
             {at::tensor({1.F, 0.F}).view({1, 2}), 2.0, 1});
  const Metrics metrics = scores.Compute();
  EXPECT_DOUBLE_EQ(metrics.at("accuracy"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(metrics.at("loss"), 1.0);  // each label weighs the same
  ExpectNames(metrics, MetricNames({Task::kSequence, 2}, labels));
  EXPECT_EQ(scores.Outcomes("f").value().bytes, std::string(1, 0b110));
}

TEST(Scores, SpansCountWholeAndOtherTagsByWord) {
  const LabelSet spans = Labels({"O", "B-PER", "I-PER"});
  Scores scores({Task::kTokens, 3}, spans, 1);
  const std::vector<std::uint32_t> row = {0};
  // B-PER I-PER O, found as B-PER O O: two of three words, and no span.
  const at::Tensor truth = at::tensor({-100L, 1L, 2L, 0L}).view({1, 4});
  const at::Tensor logits =
      at::tensor({9.F, 0.F, 0.F, 0.F, 9.F, 0.F, 9.F, 0.F, 0.F, 9.F, 0.F, 0.F})
          .view({1, 4, 3});
  scores.Add(row, WithLabels(truth), {logits, 1.0, 3});
  const Metrics metrics = scores.Compute();
  EXPECT_DOUBLE_EQ(metrics.at("accuracy"), 2.0 / 3.0);
  EXPECT_EQ(metrics.at("f1"), 0.0);
  ExpectNames(metrics, MetricNames({Task::kTokens, 3}, spans));
  EXPECT_EQ(scores.Outcomes("f").value().count, 3);
}

TEST(Scores, WordsThatWereNotReadAreWrongAndInTheirPlaces) {
  const LabelSet tags = Labels({"NOUN", "VERB"});
  Scores scores({Task::kTokens, 2}, tags, 2);
  const std::vector<std::uint32_t> rows = {1};
  // Both are right.
  scores.Add(rows, WithLabels(at::tensor({0L, 1L}).view({1, 2})),
             {at::tensor({9.F, 0.F, 0.F, 9.F}).view({1, 2, 2}), 1.0, 2});
  const std::vector<UnreadWord> unread = {{1, 1}, {3, 0}};
  scores.AddUnread(1, unread);
  const Metrics metrics = scores.Compute();
  EXPECT_EQ(metrics.at("words_cut"), 2.0);
  EXPECT_DOUBLE_EQ(metrics.at("accuracy"), 0.5);
  EXPECT_EQ(metrics.at("loss"), 1.0);
  const ExampleOutcomes outcomes = scores.Outcomes("f").value();
  EXPECT_EQ(outcomes.count, 4);
  EXPECT_EQ(outcomes.bytes, std::string(1, 0b0101));
}

// Who holds a study against a registry has no LibTorch, and a list of its own.
TEST(Scores, HaveTheNamesByWhichStudiesAreChecked) {
  const LabelSet spans = Labels({"O", "B-PER", "I-PER"});
  EXPECT_THAT(
      MetricNames({Task::kTokens, 3}, spans),
      UnorderedElementsAreArray(registry::MetricsOf(TaskKind::kTagging)));
  EXPECT_THAT(MetricNames({Task::kSequence, 3}, spans),
              UnorderedElementsAreArray(
                  registry::MetricsOf(TaskKind::kClassification)));
  EXPECT_THAT(
      MetricNames({Task::kRegression, 1}, spans),
      UnorderedElementsAreArray(registry::MetricsOf(TaskKind::kRegression)));
  HeadSpec answers = {.task = Task::kAnswers, .outputs = 1};
  EXPECT_THAT(
      MetricNames(answers, spans),
      UnorderedElementsAreArray(registry::MetricsOf(TaskKind::kAnswers)));
  answers.chooses = true;
  EXPECT_THAT(
      MetricNames(answers, spans),
      UnorderedElementsAreArray(registry::MetricsOf(TaskKind::kChoices)));
}

TEST(Scores, ACorrelationThatIsUndefinedIsZero) {
  const LabelSet none;
  Scores scores({Task::kRegression, 1}, none, 2);
  const std::vector<std::uint32_t> rows = {0, 1};
  scores.Add(rows, WithLabels(at::tensor({1.F, 3.F})),
             {at::tensor({2.F, 2.F}).view({2, 1}), 1.0, 2});
  const Metrics metrics = scores.Compute();
  EXPECT_EQ(metrics.at("pearson"), 0.0);
  EXPECT_EQ(metrics.at("mse"), 1.0);
  ExpectNames(metrics, MetricNames({Task::kRegression, 1}, none));
  EXPECT_EQ(scores.Outcomes("f").value().encoding, "FLOAT16");
}

// --- what fits a finish ---

constexpr std::size_t kKib = 1024;

ExampleOutcomes OfSet(const std::string& set, std::size_t marks,
                      std::size_t classes, std::size_t confidences) {
  ExampleOutcomes outcomes;
  outcomes.set = set;
  outcomes.bytes.assign(marks, 'm');
  outcomes.predicted_class.assign(classes, 'p');
  outcomes.true_class.assign(classes, 't');
  outcomes.confidence.assign(confidences, 'c');
  return outcomes;
}

std::vector<ExampleOutcomes> ThreeSets(std::size_t marks, std::size_t classes,
                                       std::size_t confidences) {
  std::vector<ExampleOutcomes> sets;
  for (const char* set : {"validation", "test", "other"}) {
    sets.push_back(
        OfSet(set, marks * kKib, classes * kKib, confidences * kKib));
  }
  return sets;
}

TEST(FitIntoFinish, TheLastSetsConfidencesGoFirst) {
  std::vector<ExampleOutcomes> sets = ThreeSets(20, 60, 80);
  EXPECT_THAT(FitIntoFinish(sets), ElementsAre("confidences of other"));
  EXPECT_EQ(sets[1].confidence.size(), 80 * kKib);
  EXPECT_TRUE(sets[2].confidence.empty());
  EXPECT_EQ(sets[2].predicted_class.size(), 60 * kKib);
}

TEST(FitIntoFinish, PredictionsGoBehindAllConfidences) {
  std::vector<ExampleOutcomes> sets = ThreeSets(100, 100, 40);
  EXPECT_THAT(FitIntoFinish(sets),
              ElementsAre("confidences of other", "confidences of test",
                          "confidences of validation", "predictions of other",
                          "predictions of test"));
  EXPECT_EQ(sets[0].predicted_class.size(), 100 * kKib);
  EXPECT_TRUE(sets[1].true_class.empty());
  EXPECT_EQ(sets[1].bytes.size(), 100 * kKib);  // right or wrong stays
}

TEST(FitIntoFinish, WholeSetsGoLastAndTheValidationSetNeverBeforeOthers) {
  std::vector<ExampleOutcomes> sets = ThreeSets(300, 1, 0);
  EXPECT_THAT(
      FitIntoFinish(sets),
      ElementsAre("predictions of other", "predictions of test",
                  "predictions of validation", "all outcomes of other"));
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0].set, "validation");
}

TEST(FitIntoFinish, ExactlyAsMuchAsFitsStaysWhole) {
  std::vector<ExampleOutcomes> sets = {OfSet("validation", 0, 9, 100)};
  sets[0].bytes.assign((std::size_t{640} << 10) - sets[0].size(), 'm');
  EXPECT_THAT(FitIntoFinish(sets), IsEmpty());
  sets[0].bytes += 'm';
  EXPECT_THAT(FitIntoFinish(sets), ElementsAre("confidences of validation"));
}

// What SMART's formulas compute is recorded (tests/parity); here is what a
// trial makes of them.

constexpr char kPrefix[] = R"("embeddings": 0, "layer.0": 0, "layer.1": 1e-3,
    "layer.2": 1e-3, "pooler": 1e-3, "head": 1e-2)";

std::string Training(const std::string& smart) {
  return R"("epochs": 2, "extra": {"dropout": 0.1}, "smart": {"weight": 1,
      "radius": 0.05, "step_size": 0.05, "noise_variance": 1e-4, )" +
         smart + "},";
}

Metrics ScoredSmart(TrialEnd end) {
  EXPECT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  end.metrics.erase("train_seconds");
  end.metrics.erase("peak_memory_mib");
  return end.metrics;
}

TEST(SmartTrial, BothWaysToEnterAreTheSameBitsWithAStoredPrefix) {
  TrialWorld world;
  for (const char* enter : {"embeddings", "boundary"}) {
    world.prefixes.reset();
    TrialMessage trial = world.Trial(
        Training("\"enter\": \"" + std::string(enter) + "\""), kPrefix);
    trial.training.freeze.prefix_dropout = PrefixDropout::kOff;
    const Metrics alone = ScoredSmart(world.Run(trial));
    world.prefixes =
        PrefixStore::Open(world.folder() + "/prefix", 1U << 30U).value();
    EXPECT_EQ(alone, ScoredSmart(world.Run(trial)));
    const TrialEnd found = world.Run(trial);
    EXPECT_EQ(alone, ScoredSmart(found));
    EXPECT_EQ(found.usage->prefix.misses, 0);
  }
}

TEST(SmartTrial, TheMeanOfWeightsGoesOnAfterAnyStop) {
  TrialWorld world;
  const TrialMessage whole =
      world.Trial(Training(R"("bregman": 1, "momentum": 0.5)"), kPrefix);
  const Metrics expected = ScoredSmart(world.Run(whole));
  EXPECT_NE(expected, ScoredSmart(world.Run(
                          world.Trial(Training(R"("bregman": 0)"), kPrefix))));
  int stops = 0;
  for (int asked = 2; asked < 24; asked += 3) {
    Witness first;
    first.StopAfter(asked, StopReason::kPreempt);
    if (world.Run(whole, first).state != TrialState::kStopped) break;
    if (first.checkpoint.empty()) continue;
    ++stops;
    TrialMessage rest = whole;
    rest.resume_path = world.folder() + "/" + first.checkpoint;
    rest.resume_step = first.checkpoint_step;
    Witness second;
    EXPECT_EQ(ScoredSmart(world.Run(rest, second)), expected) << asked;
    EXPECT_THAT(second.log, HasSubstr("goes on from step"));
  }
  EXPECT_GT(stops, 1);
}

double SpentOn(const std::string& smart, const std::string& rates) {
  TrialWorld world;
  TrialMessage trial = world.Trial(smart, rates);
  trial.training.freeze.prefix_dropout = PrefixDropout::kOff;
  const TrialEnd end = world.Run(trial);
  EXPECT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  return end.usage ? end.usage->flops_spent : 0.0;
}

// Where all trains a step is three passes forward; each further one of the
// adversary goes back as far, but to no weight.
TEST(SmartTrial, AllItsPassesAreCounted) {
  const std::string all = R"("embeddings": 1e-4, "layer.0": 1e-4,
      "layer.1": 1e-4, "layer.2": 1e-4, "pooler": 1e-4, "head": 1e-4)";
  const double plain = SpentOn(R"("epochs": 2,)", all);
  const double one = SpentOn(Training(R"("steps": 1)"), all);
  const double pass = SpentOn(Training(R"("steps": 2)"), all) - one;
  EXPECT_GT(pass, plain * 2.0 / 3.0);
  EXPECT_LT(pass, plain);
  EXPECT_DOUBLE_EQ(one, 2.0 * plain + pass);
  EXPECT_DOUBLE_EQ(SpentOn(Training(R"("bregman": 1)"), all),
                   one + plain / 3.0);
}

// Two of three layers are frozen, and their boundary is taken by both.
TEST(SmartTrial, AtTheBoundaryNothingBelowIsComputed) {
  const std::string rates = R"("embeddings": 0, "layer.0": 0, "layer.1": 0,
      "layer.2": 1e-4, "pooler": 1e-4, "head": 1e-4)";
  const double plain = SpentOn(R"("epochs": 2,)", rates);
  const double above = SpentOn(Training(R"("enter": "boundary")"), rates);
  EXPECT_GT(above, plain);
  EXPECT_GT(SpentOn(Training(R"("enter": "embeddings")"), rates), 2.0 * above);
}

TEST(SmartTrial, AnAdversaryThatIsNoNumberEndsTheTrialByItsName) {
  TrialWorld world;
  const TrialEnd end = world.Run(world.Trial(
      R"("smart": {"weight": 1, "noise_variance": 1e70, "radius": 1e36},)"));
  EXPECT_EQ(end.state, TrialState::kInfeasible);
  EXPECT_THAT(end.cause, HasSubstr("FL-5017"));
  EXPECT_THAT(end.cause, HasSubstr("the adversary (training.smart) at step 1"));
  EXPECT_THAT(end.cause, HasSubstr("smaller training.smart.radius"));
}

}  // namespace
}  // namespace frostline::trainer
