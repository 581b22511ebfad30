// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/scores.h"

#include <ATen/ops/tensor.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/registry/fit.h"

namespace frostline::trainer {
namespace {

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

}  // namespace
}  // namespace frostline::trainer
