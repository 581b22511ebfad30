// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/exported_config.h"

#include "gmock/gmock.h"
#include "worker/trainer/model/model_config.h"

namespace frostline::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ExportedFacts Facts(const std::string& json) {
  const Expected<ExportedFacts> facts = ReadExportedFacts(json);
  EXPECT_TRUE(facts.ok()) << facts.fault().cause;
  return facts.ok() ? facts.value() : ExportedFacts();
}

TEST(ReadExportedFacts, KnowsWhatAHeadAnswers) {
  const ExportedFacts words = Facts(
      R"({"architectures": ["BertForTokenClassification"],
          "id2label": {"1": "b", "0": "a"}})");
  EXPECT_EQ(words.task, Task::kTokens);
  EXPECT_THAT(words.labels, ElementsAre("a", "b"));
  const ExportedFacts texts =
      Facts(R"({"architectures": ["XForSequenceClassification"]})");
  EXPECT_EQ(texts.task, Task::kSequence);
  EXPECT_THAT(texts.labels, ElementsAre("LABEL_0", "LABEL_1"));
  const ExportedFacts numbers = Facts(
      R"({"architectures": ["XForSequenceClassification"],
          "problem_type": "regression", "id2label": {"0": "LABEL_0"}})");
  EXPECT_EQ(numbers.task, Task::kRegression);
  EXPECT_THAT(numbers.labels, IsEmpty());
}

TEST(ReadExportedFacts, KnowsHowTextsWereRead) {
  const TextReading reading = {
      .max_length = 64, .lowercase = true, .strip_accents = false};
  const ExportedFacts facts =
      Facts(R"({"architectures": ["XForTokenClassification"])" +
            TextsMember(reading) + "}");
  EXPECT_EQ(facts.texts.max_length, 64);
  EXPECT_TRUE(facts.texts.lowercase);
  EXPECT_FALSE(facts.texts.strip_accents);
  EXPECT_EQ(TextsMember({}), "");
}

TEST(ReadExportedFacts, RefusesWhatAnswersNothing) {
  EXPECT_EQ(
      ReadExportedFacts(R"({"architectures": ["BertModel"]})").fault().kind,
      FaultKind::kUnsupported);
  EXPECT_EQ(ReadExportedFacts("{}").fault().kind, FaultKind::kUnsupported);
  EXPECT_EQ(
      ReadExportedFacts(R"({"architectures": ["BertForTokenClassification"],
                            "id2label": {"0": "a", "7": "b"}})")
          .fault()
          .kind,
      FaultKind::kInconsistent);
  EXPECT_THAT(
      ReadExportedFacts(R"({"architectures": ["BertForTokenClassification"],
                            "frostline_texts": {"max_length": -1}})")
          .fault()
          .cause,
      HasSubstr("max_length"));
}

TEST(ReadModelConfig, TakesSavedAdaptersWhereTheyAreWanted) {
  const std::string json =
      R"({"model_type": "bert", "vocab_size": 140, "hidden_size": 32,
          "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 64, "type_vocab_size": 2,
          "max_position_embeddings": 64, "frostline_adapters": )";
  EXPECT_EQ(ReadModelConfig(json + R"({"size": 8}})").fault().kind,
            FaultKind::kUnsupported);
  const Expected<ModelConfig> taken = ReadModelConfig(
      json + R"({"size": 8, "activation": "relu"}})", SavedAdapters::kTake);
  ASSERT_TRUE(taken.ok()) << taken.fault().cause;
  EXPECT_EQ(taken.value().bottleneck.size, 8);
  EXPECT_TRUE(taken.value().bottleneck.relu);
  for (const std::string wrong :
       {R"({"size": 33}})", R"({"activation": "gelu"}})", "3}"}) {
    EXPECT_FALSE(ReadModelConfig(json + wrong, SavedAdapters::kTake).ok())
        << wrong;
  }
}

}  // namespace
}  // namespace frostline::trainer
