// SPDX-License-Identifier: Apache-2.0
//
// Every task from files to metrics and outcomes, in one process.
#include <cmath>
#include <memory>
#include <random>

#include "absl/strings/escaping.h"
#include "frostline/v1/worker.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/trainer/process/trainer_under_test.h"
#include "worker/agent/process/protocol.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAreArray;

const std::vector<std::string> kAlways = {
    "train_loss", "train_seconds", "trained_parameters",
    "steps",      "kept_step",     "peak_memory_mib"};
const std::vector<std::string> kOfClasses = {"accuracy", "f1",   "f1_macro",
                                             "f1_micro", "loss", "mcc"};
const std::vector<std::string> kOfTags = {
    "accuracy", "f1", "f1_macro", "f1_micro", "loss", "mcc", "words_cut"};
const std::vector<std::string> kOfNumbers = {"loss", "mse", "pearson", "rmse",
                                             "spearman"};

// Two texts and a number: how many of 0 to 4 words they share, out of 4.
std::string Pairs(int rows, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::string text = "text\tsecond\tlabel\n";
  for (int i = 0; i < rows; ++i) {
    const std::uint64_t shared = dice() % 5;
    std::string a;
    std::string b;
    for (std::uint64_t j = 0; j < 4; ++j) {
      const std::uint64_t word = dice() % 60;
      a += "w" + std::to_string(word) + " ";
      b += "w" + std::to_string(j < shared ? word : 60 + dice() % 60) + " ";
    }
    text += a + "\t" + b + "\t" +
            std::to_string(static_cast<double>(shared) / 4.0) + "\n";
  }
  return text;
}

std::string Lines(int rows, std::uint64_t seed, int labels) {
  std::mt19937_64 dice(seed);
  std::string text = "text\tlabel\n";
  for (int i = 0; i < rows; ++i) {
    const int label = i % labels;  // each is there
    text += "w" + std::to_string(label) + " w" + std::to_string(dice() % 100) +
            "\t" + std::to_string(label) + "\n";
  }
  return text;
}

std::string Lopsided(int low, int high) {
  std::string text = "text\tlabel\n";
  for (int i = 0; i < low + high; ++i) {
    const bool is_low = i < low;
    text += "w" + std::to_string(is_low ? i % 50 : 50 + i % 50) + " w7\t" +
            (is_low ? "low" : "high") + "\n";
  }
  return text;
}

// Sentences of three words; w0 to w49 are NOUN, all else VERB.
std::string Trees(int rows, std::uint64_t seed, bool jsonl) {
  std::mt19937_64 dice(seed);
  std::string text;
  for (int i = 0; i < rows; ++i) {
    std::string words;
    std::string tags;
    for (int j = 1; j <= 3; ++j) {
      const std::uint64_t number = dice() % 100;
      const std::string word = "w" + std::to_string(number);
      const std::string tag = number < 50 ? "NOUN" : "VERB";
      const std::string comma = j == 1 ? "" : ", ";
      words += comma + "\"" + word + "\"";
      tags += comma + "\"" + tag + "\"";
      if (jsonl) continue;
      text += std::to_string(j) + "\t" + word + "\t_\t" + tag +
              "\t_\t_\t_\t_\t_\t_\n";
    }
    text += jsonl ? "{\"words\": [" + words + "], \"tags\": [" + tags + "]}\n"
                  : "\n";
  }
  return text;
}

// Words alone: the tags are capitals already.
std::string Capitals(std::string text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const char next = text[i + 1];
    if (text[i] == 'w' && next >= '0' && next <= '9') text[i] = 'W';
  }
  return text;
}

// Two sentences of 45 words, each of another tag.
std::string Penn() {
  std::string text;
  for (int sentence = 0; sentence < 2; ++sentence) {
    for (int i = 1; i <= 45; ++i) {
      const std::string n = std::to_string(i);
      text += n + "\tw" + n + "\t_\tX\tT" + n + "\t_\t_\t_\t_\t_\n";
    }
    text += "\n";
  }
  return text;
}

std::string Spans(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    const std::string w = "w" + std::to_string(i % 90);
    text += "{\"words\": \"" + w + " w1 w2 " + w +
            "\", \"tags\": \"B-A I-A O B-B\"}\n";
  }
  return text;
}

class Tasks : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<SmallWorld>();
    SmallWorld& w = *world_;
    for (const char* model :
         {"bert-seq5", "bert-reg", "bert-tok17", "mbert-tok17",
          "distilbert-seq2", "distilbert-tok17"}) {
      w.AddModel(model, model);
    }
    const std::string tsv = "format: tsv";
    w.AddData("five", tsv,
              {{"train", Lines(40, 1, 5)}, {"validation", Lines(15, 2, 5)}});
    w.AddData("scores", tsv + "\ntask: regression\ncolumns: {second: second}",
              {{"train", Pairs(40, 1)}, {"validation", Pairs(16, 2)}});
    w.AddData("pairs", tsv + "\ntask: pair\ncolumns: {second: second}",
              {{"train", Pairs(40, 1)}, {"validation", Pairs(16, 2)}});
    w.AddData(
        "trees", "format: conllu",
        {{"train", Trees(40, 1, false)}, {"validation", Trees(16, 2, false)}});
    w.AddData(
        "lists", "format: jsonl\ntask: tagging",
        {{"train", Trees(40, 1, true)}, {"validation", Trees(16, 2, true)}});
    w.AddData("spans", "format: jsonl\ntask: tagging",
              {{"train", Spans(40)}, {"validation", Spans(16)}});
    w.AddData("tested", tsv,
              {{"train", Reviews(48, 1)},
               {"validation", Reviews(20, 2)},
               {"test", Reviews(30, 5)}});
    w.AddData("other", tsv, {{"test", "text\tlabel\nw1 w2\tbad\nw3\tso-so\n"}});
    w.AddData("capitals", "format: jsonl\ntask: tagging",
              {{"train", Capitals(Trees(40, 1, true))},
               {"validation", Capitals(Trees(16, 2, true))}});
    w.AddData("penn", "format: conllu",
              {{"train", Penn()}, {"validation", Penn()}});
    w.AddData("lopsided", tsv,
              {{"train", Lopsided(36, 4)}, {"validation", Reviews(20, 2)}});
    w.AddData("reversed", tsv + "\nlabels: [low, high]",
              {{"train", Reviews(48, 1)}, {"validation", Reviews(20, 2)}});
    w.Write();
    trainer_ = std::make_unique<TrainerUnderTest>(w.registry());
  }
  static void TearDownTestSuite() {
    trainer_.reset();
    world_.reset();
  }

  static nlohmann::json Trial(const std::string& model,
                              const std::string& data) {
    nlohmann::json trial = world_->Trial(model, data);
    trial["training"]["report_example_outcomes"] = true;
    return trial;
  }
  static nlohmann::json Finish(const nlohmann::json& trial) {
    nlohmann::json finish = trainer_->Train(trial).finish;
    EXPECT_EQ(finish.value("state", ""), "succeeded") << finish;
    return finish;
  }

  static void ExpectMetrics(const nlohmann::json& finish,
                            std::vector<std::string> names) {
    names.insert(names.end(), kAlways.begin(), kAlways.end());
    std::vector<std::string> found;
    for (const auto& [name, value] : finish["metrics"].items()) {
      found.push_back(name);
      EXPECT_TRUE(std::isfinite(value.get<double>())) << name;
    }
    EXPECT_THAT(found, UnorderedElementsAreArray(names));
  }

  // One bit for each example, the first is the lowest of its byte.
  static void ExpectBits(const nlohmann::json& finish, std::int64_t count) {
    const nlohmann::json& examples = finish["examples"];
    EXPECT_EQ(examples["encoding"], "PACKED_BITS");
    ASSERT_EQ(examples["count"], count);
    std::string bytes;
    ASSERT_TRUE(
        absl::Base64Unescape(examples["data"].get<std::string>(), &bytes));
    ASSERT_EQ(bytes.size(), static_cast<std::size_t>((count + 7) / 8));
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      right += bytes[static_cast<std::size_t>(i / 8)] >> (i % 8) & 1;
    }
    const double accuracy = finish["metrics"]["accuracy"];
    EXPECT_NEAR(accuracy * static_cast<double>(count),
                static_cast<double>(right), 1e-6);
    EXPECT_EQ(examples["data_fingerprint"],
              finish["usage"]["data_fingerprint"]);
  }

  static std::unique_ptr<SmallWorld> world_;
  static std::unique_ptr<TrainerUnderTest> trainer_;
};

std::unique_ptr<SmallWorld> Tasks::world_;
std::unique_ptr<TrainerUnderTest> Tasks::trainer_;

TEST_F(Tasks, ClassificationOfTwoAndOfFive) {
  const nlohmann::json two = Finish(Trial("distilbert-seq2", "d"));
  ExpectMetrics(two, kOfClasses);
  ExpectBits(two, 20);
  const nlohmann::json five = Finish(Trial("bert-seq5", "five"));
  ExpectMetrics(five, kOfClasses);
  ExpectBits(five, 15);
  EXPECT_EQ(five["metrics"]["f1"], five["metrics"]["f1_macro"]);
}

// A thing that can be learnt is learnt. Of one seed the twenty rows say little:
// of forty seeds a quarter reach .8, their mean is .74.
TEST_F(Tasks, TrainingHelps) {
  nlohmann::json trial = Trial("m", "d");
  trial["training"].update({{"epochs", 12}, {"evaluate_every_steps", 4}});
  double accuracy = 0.0;
  double first_loss = 0.0;
  double last_loss = 0.0;
  for (int seed = 1; seed <= 8; ++seed) {
    trial["seed"] = seed;
    const Conversation heard = trainer_->Train(trial);
    first_loss += heard.Evaluations().front()["train_loss"].get<double>();
    last_loss += heard.Evaluations().back()["train_loss"].get<double>();
    accuracy += heard.finish["metrics"]["accuracy"].get<double>() / 8;
  }
  EXPECT_LT(last_loss, 0.8 * first_loss);
  EXPECT_GE(accuracy, 0.65);
}

// Beside adapters (3 layers, one map, A and B) only the head trains.
TEST_F(Tasks, AdaptersAsTheAgentHandsThemOver) {
  v1::Lease lease;
  lease.set_trial("studies/s/trials/0");
  v1::LoraSpec& lora =
      *lease.mutable_spec()->mutable_training()->mutable_lora();
  lora.set_rank(4);
  lora.set_alpha(8.0);
  lora.set_dropout(0.1);
  lora.add_modules("q_lin");
  const auto line = nlohmann::json::parse(agent::TrialLine(lease, "", ""));
  nlohmann::json trial = Trial("distilbert-seq2", "d");
  trial["training"]["lora"] = line["training"]["lora"];
  trial["rates"]["embeddings"] = 0.0;
  const nlohmann::json finish = Finish(trial);
  ExpectMetrics(finish, kOfClasses);
  EXPECT_EQ(finish["usage"]["trained_parameters"],
            3 * 2 * 4 * 32 + (32 * 32 + 32) + (2 * 32 + 2));
}

TEST_F(Tasks, PairsReadAsOne) {
  const nlohmann::json finish = Finish(Trial("m", "pairs"));
  ExpectMetrics(finish, kOfClasses);
  ExpectBits(finish, 16);
}

TEST_F(Tasks, RegressionReadAsOneAndCompared) {
  nlohmann::json trial = Trial("bert-reg", "scores");
  for (const char* head : {"joint", "cosine"}) {
    SCOPED_TRACE(head);
    trial["training"]["extra"]["head"] = head;
    const nlohmann::json finish = Finish(trial);
    ExpectMetrics(finish, kOfNumbers);
    EXPECT_EQ(finish["examples"]["encoding"], "FLOAT16");
    EXPECT_EQ(finish["examples"]["count"], 16);
    std::string bytes;
    ASSERT_TRUE(absl::Base64Unescape(
        finish["examples"]["data"].get<std::string>(), &bytes));
    EXPECT_EQ(bytes.size(), 2 * 16);
    EXPECT_NEAR(finish["metrics"]["rmse"].get<double>(),
                std::sqrt(finish["metrics"]["mse"].get<double>()), 1e-9);
  }
}

TEST_F(Tasks, TaggingOfTreesAndOfLists) {
  const nlohmann::json trees = Finish(Trial("bert-tok17", "trees"));
  ExpectMetrics(trees, kOfTags);
  ExpectBits(trees, 48);
  const nlohmann::json lists = Finish(Trial("bert-tok17", "lists"));
  EXPECT_EQ(Numbers(lists), Numbers(trees));  // the same words
  ExpectBits(Finish(Trial("distilbert-tok17", "lists")), 48);
  ExpectBits(Finish(Trial("mbert-tok17", "trees")), 48);
}

// The last of three words lies beyond what is read; the same words are scored.
TEST_F(Tasks, WordsThatAreCutOffCountAsWrong) {
  nlohmann::json trial = Trial("bert-tok17", "trees");
  const nlohmann::json whole = Finish(trial);
  trial["training"]["max_length"] = 4;
  const Conversation cut = trainer_->Train(trial);
  EXPECT_EQ(whole["metrics"]["words_cut"], 0);
  EXPECT_EQ(cut.finish["metrics"]["words_cut"], 16);
  EXPECT_LE(cut.finish["metrics"]["accuracy"], 2.0 / 3.0);
  ExpectBits(cut.finish, 48);
  EXPECT_EQ(cut.finish["examples"]["data_fingerprint"],
            whole["examples"]["data_fingerprint"]);
  EXPECT_THAT(cut.Log(),
              HasSubstr("validation rows: 16 of 48 words are cut off by "
                        "training.max_length, and count as wrong"));
  EXPECT_THAT(cut.Log(), HasSubstr("training rows: 40 of 120 words"));
}

TEST_F(Tasks, TagsThatMarkSpansAreScoredAsSpans) {
  const nlohmann::json finish = Finish(Trial("bert-tok17", "spans"));
  std::vector<std::string> names = kOfTags;
  names.insert(names.end(), {"precision", "recall"});
  ExpectMetrics(finish, names);
  ExpectBits(finish, 64);
}

TEST_F(Tasks, ATestSplitAndOtherSetsAreEvaluatedAtTheEnd) {
  nlohmann::json trial = Trial("m", "tested");
  trial["data"]["test_split"] = "test";
  trial["training"]["also_evaluate"] = {"d"};
  trial["objectives"] = {{{"metric", "test.loss"}, {"direction", "minimize"}}};
  const nlohmann::json finish = Finish(trial);
  std::vector<std::string> names = kOfClasses;
  for (const std::string& name : kOfClasses) {
    names.push_back("test." + name);
    names.push_back("d." + name);
  }
  ExpectMetrics(finish, names);
  const nlohmann::json& metrics = finish["metrics"];
  EXPECT_EQ(metrics["d.accuracy"], metrics["accuracy"]);  // the same rows
  EXPECT_NE(metrics["test.loss"], metrics["loss"]);
}

// Three classes to two, in training and in another set of other names.
TEST_F(Tasks, LabelsAreMergedDroppedAndRenamed) {
  nlohmann::json trial = Trial("m", "d");
  trial["data"]["label_map"] = {{"bad", "low"}};
  trial["data"]["drop_labels"] = {"so-so"};
  trial["training"]["also_evaluate"] = {"other"};
  const Conversation heard = trainer_->Train(trial);
  ASSERT_EQ(heard.finish["state"], "succeeded") << heard.finish;
  EXPECT_EQ(heard.finish["metrics"]["other.labels_missing"], 1);
  EXPECT_THAT(heard.Log(), HasSubstr("other: no row has the label 'high'"));
}

TEST_F(Tasks, ARuleOfNoLabelAndOneThatLeavesNothingAreRefused) {
  nlohmann::json trial = Trial("m", "d");
  trial["data"]["label_map"] = {{"lwo", "high"}};
  EXPECT_THAT(trainer_->Train(trial).finish.value("cause", ""),
              StartsWith("FL-5015: data.label_map and data.drop_labels name "
                         "'lwo', which no row"));
  trial["data"].erase("label_map");
  trial["data"]["drop_labels"] = {"low", "high"};
  EXPECT_THAT(trainer_->Train(trial).finish.value("cause", ""),
              HasSubstr("all of its 48 rows have labels that "
                        "data.drop_labels drops"));
}

TEST_F(Tasks, WordListsAreLowerCased) {
  nlohmann::json trial = Trial("bert-tok17", "capitals");
  trial["data"]["lowercase"] = true;
  EXPECT_EQ(Numbers(Finish(trial)),
            Numbers(Finish(Trial("bert-tok17", "lists"))));
}

// As the Penn Treebank's, of the column xpos.
TEST_F(Tasks, FortyFiveTags) {
  nlohmann::json trial = Trial("m", "penn");
  trial["data"]["columns"] = {{"tags", "xpos"}};
  const nlohmann::json finish = Finish(trial);
  ExpectMetrics(finish, kOfTags);
  ExpectBits(finish, 2 * 45);
}

// Asked by an agent that takes it, and not by an older one.
TEST_F(Tasks, ATrialSaysWhatItIsComputedIn) {
  nlohmann::json trial = Trial("m", "d");
  trial["takes"] = {"precision"};
  const nlohmann::json begun = trainer_->Train(trial).Of("report").front();
  EXPECT_EQ(begun["precisions"][0], "fp32");
  EXPECT_THAT(begun["precisions"], ::testing::Contains(begun["precision"]));
  EXPECT_EQ(begun["step"], 0);
  trial["auto_precision"] = "fp16";  // no device of ours
  const Conversation unfit = trainer_->Train(trial);
  EXPECT_EQ(unfit.finish["class"], "unfit");
  EXPECT_EQ(unfit.finish["precisions"][0], "fp32");
  trial.erase("takes");
  trial.erase("auto_precision");
  for (const nlohmann::json& report : trainer_->Train(trial).Of("report")) {
    EXPECT_FALSE(report.contains("precision"));
  }
}

// 36 rows are low and 4 high: 40 / (2 x 4) and 40 / (2 x 36).
TEST_F(Tasks, ClassesAreWeighed) {
  nlohmann::json trial = Trial("m", "lopsided");
  const Conversation plain = trainer_->Train(trial);
  trial["training"]["extra"]["class_weights"] = "balanced";
  const Conversation balanced = trainer_->Train(trial);
  EXPECT_THAT(balanced.Log(),
              HasSubstr("class weights: 'high' 5.000000, 'low' 0.555556"));
  trial["training"]["extra"]["class_weights"] = {5.0, 40.0 / 72.0};
  EXPECT_EQ(Numbers(Finish(trial)), Numbers(balanced.finish));
  EXPECT_NE(Numbers(plain.finish), Numbers(balanced.finish));
}

TEST_F(Tasks, ClassWeightsThatDoNotFitAreRefusedBeforeTraining) {
  nlohmann::json trial = Trial("m", "d");
  trial["training"]["extra"]["class_weights"] = {1, 2, 3};
  const nlohmann::json three = trainer_->Train(trial).finish;
  EXPECT_THAT(three.value("cause", ""),
              StartsWith("FL-5015: training.extra.class_weights has 3 numbers, "
                         "and the data set 2 labels (give one for each, in "
                         "this order: 'high', 'low')"));
  trial = Trial("bert-reg", "scores");
  trial["training"]["extra"]["class_weights"] = "balanced";
  EXPECT_THAT(trainer_->Train(trial).finish.value("cause", ""),
              HasSubstr("the task is regression"));
}

// The same texts under another order of labels are other numbers for a model.
TEST_F(Tasks, SetsThatDifferInTheirLabelsAloneDoNotMeet) {
  const nlohmann::json trial = Trial("m", "reversed");
  const nlohmann::json fresh =
      TrainerUnderTest(world_->registry()).Train(trial).finish;
  Finish(Trial("m", "d"));
  EXPECT_EQ(Numbers(Finish(trial)), Numbers(fresh));
}

// Numbers as classes, then as numbers, then as classes.
TEST_F(Tasks, OneFileServesTwoTasks) {
  nlohmann::json as_class = Trial("m", "five");
  const nlohmann::json first = Finish(as_class);
  nlohmann::json as_number = Trial("m", "five");
  as_number["data"]["task"] = "regression";
  ExpectMetrics(Finish(as_number), kOfNumbers);
  EXPECT_EQ(Numbers(Finish(as_class)), Numbers(first));
}

TEST_F(Tasks, FrozenAllThroughNothingMoves) {
  nlohmann::json trial = Trial("m", "d");
  for (auto& rate : trial["rates"]) rate = 0.0;
  const Conversation heard = trainer_->Train(trial);
  EXPECT_EQ(heard.finish["metrics"]["trained_parameters"], 0);
  EXPECT_EQ(heard.Evaluations().front()["loss"],
            heard.Evaluations().back()["loss"]);
}

// Sums may be cut in another way, so two threads need not give the bits of one;
// they give the same ones each time, and these are near.
TEST_F(Tasks, ThreadsDoNotChangeWhatIsLearnt) {
  nlohmann::json trial = Trial("m", "d");
  trial["training"]["precision"] = "fp32";
  trial["training"]["epochs"] = 1;  // two threads wait for each other, busily
  const nlohmann::json one = Numbers(Finish(trial));
  TrainerStart start;
  start.threads = "2";
  TrainerUnderTest two(world_->registry(), start);
  const nlohmann::json first = Numbers(two.Train(trial).finish);
  EXPECT_EQ(first, Numbers(two.Train(trial).finish));
  EXPECT_NEAR(first["loss"], one["loss"], 1e-4);
}

// A rate that nobody searches is there for every model, and only logged.
TEST_F(Tasks, APoolerThatTheModelHasNotMayNotBeSearched) {
  nlohmann::json trial = Trial("distilbert-seq2", "d");
  EXPECT_THAT(trainer_->Train(trial).Log(), HasSubstr("no pooler"));
  trial["parameters"]["pooler"] = trial["rates"]["pooler"];
  const Conversation heard = trainer_->Train(trial);
  EXPECT_EQ(heard.finish["state"], "failed");
  EXPECT_EQ(heard.finish["class"], "trial");
  EXPECT_THAT(heard.finish["cause"].get<std::string>(),
              StartsWith("FL-5015: distilbert-seq2 has no module pooler; it "
                         "has embeddings, layer.0 to layer.2, head, and"));
  EXPECT_THAT(heard.Of("report"), IsEmpty());
}

}  // namespace
}  // namespace frostline::trainer
