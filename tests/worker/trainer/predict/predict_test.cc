// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/predict/predict.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "gmock/gmock.h"
#include "tests/worker/trainer/trial/trial_world.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/checkpoint.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns predictions of classes without the last digits of the confidences,
// which a stored and a computed prefix may round differently.
std::string WithoutLastDigits(const std::string& predictions) {
  return std::regex_replace(predictions, std::regex(R"((\t0\.\d{4})\d{2}\t)"),
                            "$1\t");
}

class PredictTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = world_.folder() + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  PredictRequest Request(const std::string& model, const std::string& file) {
    PredictRequest request;
    request.model = world_.folder() + "/" + model;
    request.file = world_.folder() + "/" + file;
    request.output = world_.folder() + "/answers.tsv";
    return request;
  }
  Expected<PredictReport> Run(const PredictRequest& request) {
    return Predict(request, Device::Open("cpu").value());
  }
  std::string Answers() { return Bytes(world_.folder() + "/answers.tsv"); }

  // Trains, exports, and lets the exported model answer for the same rows.
  void ExpectSameAsItsTrial(TrialMessage trial) {
    const TrialEnd end = world_.Run(trial);
    ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
    const Expected<PredictReport> report =
        Run(Request("model", "validation.tsv"));
    ASSERT_TRUE(report.ok()) << report.fault().cause;
    EXPECT_EQ(report.value().examples, 10U);
    EXPECT_EQ(WithoutLastDigits(Answers()),
              WithoutLastDigits(
                  Bytes(world_.folder() + "/predictions/validation.tsv")));
    for (const std::string metric : {"accuracy", "f1", "loss"}) {
      EXPECT_NEAR(report.value().metrics.at(metric), end.metrics.at(metric),
                  1e-6);
    }
  }

  // Tags of words, by a head that was drawn and never trained.
  void ExportTagger() {
    const std::string source = world_.folder() + "/tiny";
    const HeadSpec head = {.task = Task::kTokens, .outputs = 3};
    const Model model = LoadModel(source, head, 3).value().model;
    ASSERT_TRUE(ExportModel(world_.folder() + "/tagger", model, source,
                            {"ADJ", "NOUN", "VERB"})
                    .ok());
  }

  TrialWorld world_;
};

TEST_F(PredictTest, SaysWhatTheTrialSaid) {
  ExpectSameAsItsTrial(world_.Trial(
      R"("epochs": 2, "predictions": ["dev"], "extra": {"export": true},)"));
}

TEST_F(PredictTest, ReadsAsMuchOfATextAsTheTrialDid) {
  TrialMessage trial = world_.Trial(
      R"("epochs": 2, "predictions": ["dev"], "extra": {"export": true},)");
  trial.training.max_length = 4;
  ExpectSameAsItsTrial(trial);
  const std::string cut = Answers();
  PredictRequest whole = Request("model", "validation.tsv");
  whole.max_length = 16;
  ASSERT_TRUE(Run(whole).ok());
  EXPECT_NE(Answers(), cut);
}

TEST_F(PredictTest, TakesAdaptersWithTheModel) {
  ExpectSameAsItsTrial(world_.Trial(
      R"("epochs": 2, "predictions": ["dev"], "extra": {"export": true},
         "adapters": {"size": 4},)",
      R"("embeddings": 0, "layer.0": 1e-2, "layer.1": 1e-2, "layer.2": 1e-2,
         "pooler": 1e-3, "head": 1e-2)"));
}

TEST_F(PredictTest, RowsWithoutLabelsAreAnsweredAndNotMeasured) {
  Write("new.csv", "said\nw1 w2\n\"w3,w4\"\n");
  PredictRequest request = Request("tiny", "new.csv");
  request.format.kind = FileFormat::Kind::kCsv;
  request.columns = {{"text", "said"}};
  request.labelled = false;
  const Expected<PredictReport> report = Run(request);
  ASSERT_TRUE(report.ok()) << report.fault().cause;
  EXPECT_THAT(report.value().metrics, IsEmpty());
  EXPECT_THAT(Answers(), StartsWith("label\tprediction\tconfidence\ttext\n"
                                    "\tLABEL_"));
  EXPECT_THAT(Answers(), HasSubstr("\tw3,w4\n"));
}

TEST_F(PredictTest, WordsAreTaggedTheSameWithTagsAndWithout) {
  ExportTagger();
  Write("tags.tsv", "words\ttags\nw1 w2 w3\tNOUN VERB ADJ\nw9\tNOUN\n");
  PredictRequest request = Request("tagger", "tags.tsv");
  const Expected<PredictReport> measured = Run(request);
  ASSERT_TRUE(measured.ok()) << measured.fault().cause;
  EXPECT_EQ(measured.value().metrics.count("accuracy"), 1U);
  std::string labelled = Answers();
  request.labelled = false;
  ASSERT_TRUE(Run(request).ok());
  for (const std::string tag : {"\tNOUN\t", "\tVERB\t", "\tADJ\t"}) {
    // The second column alone, behind the word.
    for (const std::string word : {"w1", "w2", "w3", "w9"}) {
      const std::size_t at = labelled.find(word + tag);
      if (at != std::string::npos) {
        labelled.replace(at, word.size() + tag.size(), word + "\t\t");
      }
    }
  }
  EXPECT_EQ(Answers(), labelled);
}

TEST_F(PredictTest, AModelWithoutATrainedHeadIsRefused) {
  std::filesystem::copy(world_.folder() + "/tiny", world_.folder() + "/bare");
  std::string config = Bytes(world_.folder() + "/bare/config.json");
  const std::string named = "BertForSequenceClassification";
  config.replace(config.find(named), named.size(), "BertModel");
  Write("bare/config.json", config);
  const Expected<PredictReport> report = Run(Request("bare", "train.tsv"));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.fault().kind, FaultKind::kUnsupported);
  EXPECT_THAT(report.fault().cause, HasSubstr("'BertModel'"));
  config.replace(config.find("BertModel"), 9, "BertForTokenClassification");
  config.insert(config.find('{') + 1,
                R"("id2label": {"0": "a", "1": "b", "2": "c"},)");
  Write("bare/config.json", config);
  EXPECT_THAT(Run(Request("bare", "train.tsv")).fault().cause,
              HasSubstr("have no trained head"));
  EXPECT_FALSE(std::filesystem::exists(world_.folder() + "/answers.tsv"));
}

TEST_F(PredictTest, ALabelThatTheModelDoesNotKnowIsNamedWithItsLine) {
  const Expected<PredictReport> report = Run(Request("tiny", "train.tsv"));
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.fault().cause, HasSubstr("'no'"));
  EXPECT_THAT(report.fault().cause, HasSubstr("train.tsv"));
}

TEST_F(PredictTest, TextsLongerThanTheModelReadsAreRefused) {
  PredictRequest request = Request("tiny", "train.tsv");
  request.labelled = false;
  request.max_length = 100;
  const Expected<PredictReport> report = Run(request);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.fault().cause, HasSubstr("at most 64"));
}

// A decoder that a trial taught to answer.
class AnswersPredictTest : public ::testing::Test {
 protected:
  TrialEnd Train(const std::string& data) {
    return world_.Run(world_.AnswersTrial(
        data, R"("epochs": 40, "warmup_share": 0.1, "keep": "last",
                 "extra": {"export": true},)"));
  }
  Expected<PredictReport> Run(const std::string& file, ColumnMap columns = {},
                              bool labelled = true) {
    PredictRequest request;
    request.model = world_.folder() + "/model";
    request.file = world_.folder() + "/" + file;
    request.format.kind = FileFormat::Kind::kJsonl;
    request.output = world_.folder() + "/answers.tsv";
    request.columns = std::move(columns);
    request.labelled = labelled;
    return Predict(request, Device::Open("cpu").value());
  }
  std::string Answers() { return Bytes(world_.folder() + "/answers.tsv"); }

  TrialWorld world_{TrialWorld::Registry::kDecoder};
};

TEST_F(AnswersPredictTest, SaysItsAnswersAndIsMeasuredByThem) {
  const TrialEnd end = Train("letters");
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  const Expected<PredictReport> report = Run("letters-validation.jsonl");
  ASSERT_TRUE(report.ok()) << report.fault().cause;
  EXPECT_EQ(report.value().examples, 20U);
  for (const std::string metric : {"exact_match", "loss", "perplexity"}) {
    EXPECT_NEAR(report.value().metrics.at(metric), end.metrics.at(metric),
                1e-5);
  }
  EXPECT_THAT(Answers(), StartsWith("label\tprediction\ttext\n"));
  EXPECT_THAT(Answers(), HasSubstr("b\tb\t"));
}

TEST_F(AnswersPredictTest, AnswersPromptsThatHaveNoAnswer) {
  ASSERT_EQ(Train("letters").state, TrialState::kSucceeded);
  std::ofstream(world_.folder() + "/new.jsonl") << "{\"prompt\": \"acd=\"}\n";
  const Expected<PredictReport> report = Run("new.jsonl", {}, false);
  ASSERT_TRUE(report.ok()) << report.fault().cause;
  EXPECT_THAT(report.value().metrics, IsEmpty());
  EXPECT_EQ(Answers(), "label\tprediction\ttext\n\tc\tacd=\n");
}

TEST_F(AnswersPredictTest, ChoosesWhereTheFileHasChoices) {
  const TrialEnd end = Train("picks");
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  const Expected<PredictReport> report =
      Run("picks-validation.jsonl", {{"choices", "choices"}});
  ASSERT_TRUE(report.ok()) << report.fault().cause;
  EXPECT_EQ(report.value().examples, 20U);
  EXPECT_NEAR(report.value().metrics.at("accuracy"), end.metrics.at("accuracy"),
              1e-9);
  EXPECT_THAT(Answers(), StartsWith("label\tprediction\tconfidence\ttext\n"));
}

}  // namespace
}  // namespace frostline::trainer
