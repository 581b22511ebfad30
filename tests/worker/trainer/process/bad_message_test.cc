// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/record.h"
#include "tests/worker/trainer/process/trainer_under_test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kWatched = true;  // their shadow is larger than any limit
#else
constexpr bool kWatched = false;
#endif

namespace frostline::trainer {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Trials that ask for what cannot be: each fails alone, with the number of its
// fault and what to do about it, and the next one trains. One process takes
// them all.

class BadMessage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<SmallWorld>();
    world_->AddData("pairs", "format: tsv\ncolumns: {second: other}",
                    {{"train", "text\tother\tlabel\nw1\tw2\ta\nw3\tw4\tb\n"},
                     {"validation", "text\tother\tlabel\nw1\tw2\ta\n"}});
    world_->Write();
    trainer_ = std::make_unique<TrainerUnderTest>(world_->registry());
  }
  static void TearDownTestSuite() {
    trainer_.reset();
    world_.reset();
  }

  // The trial with this in the place of what was at `at`.
  static nlohmann::json With(const std::string& at,
                             const nlohmann::json& value) {
    nlohmann::json trial = world_->Trial();
    trial[nlohmann::json::json_pointer(at)] = value;
    return trial;
  }

  // Its cause; fails the test when it did not fail as it should.
  static std::string CauseOf(const nlohmann::json& trial) {
    const Conversation heard = trainer_->Train(trial);
    if (heard.finish.is_null()) {
      ADD_FAILURE() << "the process has died: " << trainer_->Errors();
      trainer_ = std::make_unique<TrainerUnderTest>(world_->registry());
      return "";
    }
    const std::string cause = heard.finish.value("cause", "");
    EXPECT_EQ(heard.finish["state"], "failed") << trial;
    EXPECT_EQ(heard.finish.value("class", ""), "trial");
    EXPECT_THAT(cause,
                AllOf(StartsWith("FL-50"), HasSubstr(" ("), EndsWith(")")))
        << trial;
    return cause;
  }

  static void ExpectItLives() {
    EXPECT_EQ(trainer_->Train(world_->Trial()).finish["state"], "succeeded");
  }

  static std::unique_ptr<SmallWorld> world_;
  static std::unique_ptr<TrainerUnderTest> trainer_;
};

std::unique_ptr<SmallWorld> BadMessage::world_;
std::unique_ptr<TrainerUnderTest> BadMessage::trainer_;

struct Mistake {
  const char* at;
  nlohmann::json value;
  const char* cause;  // a part of it
};

TEST_F(BadMessage, NamesTheFieldAndTheRemedy) {
  const Mistake mistakes[] = {
      {"/protocol", 2, "protocol"},
      {"/model/id", "../m", "is no id"},
      {"/model/layers", 6, "has 6 layers; it has 3"},
      {"/model/sha256", std::string(64, 'a'), "SHA-256"},
      {"/data/id", "/etc/passwd", "is no id"},
      {"/data/sha256", std::string(64, 'a'), "data.sha256 is not that"},
      {"/data/train_split", "nowhere", "nowhere"},
      {"/data/test_split", "nowhere", "nowhere"},
      {"/data/task", "singing", "data.task is unknown"},
      {"/data/train_share", 1.5, "data.train_share"},
      {"/data/columns", {{"label", "nowhere"}}, "nowhere"},
      {"/rates/layer.3", 1e-3, "no module layer.3"},
      {"/rates/layer.1", -1e-3, "the rate of layer.1 is -0.001"},
      {"/rates/layer.1", "NaN", "rates is no map of numbers"},
      {"/training/epochs", 0, "training.epochs"},
      {"/training/epochs", 1'000'000'000'000, "training.epochs"},
      {"/training/epochs", 1.5, "training.epochs"},
      {"/training/batch_size", -1, "training.batch_size"},
      {"/training/batch_size", 0, "training.batch_size"},
      {"/training/max_length", 65, "at most 64 tokens"},
      {"/training/max_length", 2, "training.max_length"},
      {"/training/optimizer", "lion", "training.optimizer is unknown"},
      {"/training/schedule", "zigzag", "training.schedule is unknown"},
      {"/training/precision", "fp8", "\"fp8\" is no precision"},
      {"/training/warmup_share", 1.1, "training.warmup_share"},
      {"/training/label_smoothing", 1, "training.label_smoothing"},
      {"/training/clip_norm", -1, "training.clip_norm"},
      {"/training/accumulation", 0, "training.accumulation"},
      {"/training/also_evaluate", {"d", "test"}, "names a data set test"},
      {"/training/early_stopping", {{"metric", "wit"}}, "no metric 'wit'"},
      {"/training/lora", {{"rank", 0}}, "training.lora.rank"},
      {"/training/lora", {{"rank", 33}}, "give a rank of 1 to 32"},
      {"/training/lora",
       {{"rank", 4}, {"modules", {"pooler"}}},
       "unknown part: 'pooler'"},
      {"/training/lora", {{"rank", 4}, {"alpha", -1}}, "training.lora.alpha"},
      {"/training/lora",
       {{"rank", 4}, {"dropout", 1}},
       "training.lora.dropout"},
      {"/training/extra/beta1", 1.0, "training.extra.beta1"},
      {"/training/extra/head", "cosine", "cosine"},
      {"/freeze/mode", "soft", "freeze.mode is unknown"},
      {"/freeze/virtual_tau", 2, "freeze.virtual_tau"},
      {"/parameters/colour", "red", "the parameter 'colour'"},
      {"/parameters/batch_size", "many", "training.batch_size"},
      {"/objectives", {{{"metric", "span_f1"}}}, "no metric 'span_f1'"},
      {"/objectives", {{{"metric", "pearson"}}}, "no metric 'pearson'"},
      {"/objectives", {{{"metric", ""}}}, "without a metric"},
      {"/folder", "", "trial.folder is missing"},
  };
  for (const Mistake& each : mistakes) {
    SCOPED_TRACE(each.at + (" = " + each.value.dump()));
    EXPECT_THAT(CauseOf(With(each.at, each.value)), HasSubstr(each.cause));
  }
  ExpectItLives();
}

// Another worker may have it: no fault of the study.
TEST_F(BadMessage, WhatTheRegistryLacksIsInfrastructure) {
  const Mistake lacks[] = {
      {"/model/id", "nowhere", "FL-5010: this worker's registry has no model"},
      {"/data/id", "nowhere", "FL-5010: this worker's registry has no data"},
      {"/training/also_evaluate", {"nowhere"}, "has no data set 'nowhere'"},
  };
  for (const Mistake& each : lacks) {
    const nlohmann::json finish =
        trainer_->Train(With(each.at, each.value)).finish;
    EXPECT_EQ(finish.value("class", ""), "infrastructure") << finish;
    EXPECT_THAT(finish.value("cause", ""), HasSubstr(each.cause));
  }
  ExpectItLives();
}

TEST_F(BadMessage, AModuleWithoutARateIsNamed) {
  nlohmann::json trial = world_->Trial();
  trial["rates"].erase("layer.1");
  EXPECT_THAT(CauseOf(trial), HasSubstr("no rate for layer.1"));
  trial["rates"].clear();
  EXPECT_THAT(CauseOf(trial), HasSubstr("no rate for embeddings"));
}

// Pairs that are compared have a score, not a class.
TEST_F(BadMessage, ACosineHeadIsForRegressionAlone) {
  nlohmann::json trial = With("/data/id", "pairs");
  trial["training"]["extra"]["head"] = "cosine";
  EXPECT_THAT(CauseOf(trial), HasSubstr("cosine"));
  ExpectItLives();
}

// What the trial needs, by its place, and a value that is right.
TEST_F(BadMessage, AFieldOfAnotherTypeIsNotTakenForAbsent) {
  nlohmann::json whole = world_->Trial();
  whole["data"].update({{"train_rows", 40},
                        {"train_split", "train"},
                        {"validation_split", "validation"},
                        {"validation_share", 0.1},
                        {"split_seed", 3},
                        {"columns", {{"text", "text"}}},
                        {"task", "classification"}});
  whole["training"].update(
      {{"optimizer", "adamw"},
       {"schedule", "linear"},
       {"weight_decay", 0.0},
       {"warmup_steps", 1},
       {"clip_norm", 1.0},
       {"accumulation", 1},
       {"batch_tokens", 0},
       {"max_steps", 3},
       {"precision", "fp32"},
       {"label_smoothing", 0.1},
       {"evaluate_every_steps", 1},
       {"unfreeze_every_steps", 0},
       {"unfreeze_every_epochs", 0},
       {"report_example_outcomes", true},
       {"seed", 4},
       {"also_evaluate", {"d"}},
       {"early_stopping",
        {{"metric", "loss"}, {"patience", 9}, {"min_delta", 0.0}}}});
  whole["training"]["extra"].update({{"batches", "by_length"},
                                     {"head", "joint"},
                                     {"export", false},
                                     {"epsilon", 1e-8}});
  whole["freeze"] = {
      {"mode", "hard"}, {"prefix_dropout", "off"}, {"virtual_tau", 0.0}};
  whole["resume_from"] = {{"step", 1}};
  ASSERT_EQ(trainer_->Train(whole).finish["state"], "succeeded");
  // The trainer does not look at these, or they only name the trial.
  const std::set<std::string> unread = {"/prefix_depth", "/type"};
  const nlohmann::json fields = whole.flatten();
  for (const auto& [at, value] : fields.items()) {
    if (unread.contains(at) || value.is_null()) continue;  // of empty objects
    SCOPED_TRACE(at);
    nlohmann::json trial = whole;
    trial[nlohmann::json::json_pointer(at)] =
        value.is_string() ? nlohmann::json(7) : nlohmann::json("seven");
    CauseOf(trial);
  }
  for (const char* at :
       {"/parameters", "/rates", "/objectives", "/objectives/0", "/model",
        "/data", "/data/columns", "/training", "/training/also_evaluate",
        "/training/early_stopping", "/training/extra", "/freeze",
        "/resume_from"}) {
    for (const nlohmann::json& value :
         {nlohmann::json("text"), nlohmann::json(7), nlohmann::json(true)}) {
      SCOPED_TRACE(at + (" = " + value.dump()));
      nlohmann::json trial = whole;
      trial[nlohmann::json::json_pointer(at)] = value;
      CauseOf(trial);
    }
  }
  ExpectItLives();
}

// JSON has no such number, Python's json writes it. The trial behind it waits
// in the pipe already.
TEST_F(BadMessage, ANumberThatIsNoneFailsItsTrialAlone) {
  nlohmann::json whole = world_->Trial();
  whole["training"].update({{"warmup_share", 0.1},
                            {"clip_norm", 1.0},
                            {"weight_decay", 0.01},
                            {"label_smoothing", 0.1},
                            {"max_steps", 3},
                            {"seed", 4}});
  whole["freeze"]["virtual_tau"] = 0.0;
  const nlohmann::json fields = whole.flatten();
  constexpr const char* kWords[] = {"NaN", "Infinity", "-Infinity", "1e999"};
  for (const auto& [at, value] : fields.items()) {
    if (!value.is_number() || at == "/prefix_depth") continue;
    SCOPED_TRACE(at);
    nlohmann::json trial = whole;
    trial[nlohmann::json::json_pointer(at)] = "@";
    const std::string line = trial.dump();
    std::string lines;
    for (const char* const word : kWords) {
      lines += std::string(line).replace(line.find("\"@\""), 3, word) + "\n";
    }
    trainer_->SendBytes(lines + world_->Trial().dump() + "\n");
    for (const char* const word : kWords) {
      const nlohmann::json finish = trainer_->ReadToFinish().finish;
      ASSERT_FALSE(finish.is_null()) << word << trainer_->Errors();
      EXPECT_EQ(finish["state"], "failed") << word;
      EXPECT_THAT(finish.value("cause", ""),
                  AllOf(StartsWith("FL-5015: "),
                        HasSubstr(at.substr(at.rfind('/') + 1))));
    }
    EXPECT_EQ(trainer_->ReadToFinish().finish["state"], "succeeded");
  }
}

TEST_F(BadMessage, EverySeedIsASeed) {
  std::set<double> losses;
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 63),
        ~std::uint64_t{0}, ~std::uint64_t{0} - 1}) {
    const nlohmann::json finish = trainer_->Train(With("/seed", seed)).finish;
    EXPECT_EQ(finish["state"], "succeeded");
    losses.insert(finish["metrics"]["loss"].get<double>());
  }
  EXPECT_EQ(losses.size(), 5);
}

// By value: rates that no weight survives.
TEST_F(BadMessage, RatesThatBlowUpAreInfeasible) {
  for (const double rate : {1e30, 1e300}) {
    nlohmann::json trial = world_->Trial();
    for (auto& each : trial["rates"]) each = rate;
    const nlohmann::json finish = trainer_->Train(trial).finish;
    EXPECT_EQ(finish["state"], "infeasible");
    EXPECT_THAT(
        finish["cause"].get<std::string>(),
        AllOf(StartsWith("FL-5017: "), HasSubstr("at step 2, epoch 1")));
    EXPECT_EQ(finish["usage"]["steps"], 2);
    ExpectItLives();
  }
}

// A folder that is not there fails where something must be written, and only
// there.
TEST_F(BadMessage, AFolderThatIsNotThereFailsTheExport) {
  nlohmann::json trial = With("/folder", "/proc/nowhere/at/all");
  EXPECT_EQ(trainer_->Train(trial).finish["state"], "succeeded");
  trial["training"]["extra"]["export"] = true;
  const nlohmann::json finish = trainer_->Train(trial).finish;
  EXPECT_EQ(finish["state"], "failed");
  EXPECT_EQ(finish["class"], "infrastructure");
  EXPECT_THAT(finish["cause"].get<std::string>(),
              AllOf(StartsWith("FL-5010"), HasSubstr("/proc/nowhere")));
  ExpectItLives();
}

// Models and data sets of a registry that cannot be used: one fault, naming
// the file, and the process lives on. One process meets them all.

// A file of this header and no tensors.
std::string WithHeader(const std::string& header) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
  }
  return bytes + header;
}

const char kTensor[] =
    "{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}";

class BadFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<SmallWorld>();
    AddModels();
    AddSets();
    world_->Write();
    // Behind the registry's back.
    WriteBytes(world_->ModelFile("changed", "model.safetensors"), "other");
    WriteBytes(world_->registry() + "/data/changed.train", Reviews(48, 9));
    trainer_ = std::make_unique<TrainerUnderTest>(world_->registry());
  }
  static void TearDownTestSuite() {
    trainer_.reset();
    world_.reset();
  }

  static void Weights(const std::string& id, const std::string& bytes) {
    world_->AddModel(id, "bert-seq2");
    WriteBytes(world_->ModelFile(id, "model.safetensors"), bytes);
  }
  static void Config(const std::string& id, const std::string& from,
                     const std::string& to) {
    world_->AddModel(id, "bert-seq2");
    const std::string path = world_->ModelFile(id, "config.json");
    std::string text = ReadBytes(path);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    WriteBytes(path, text.replace(at, from.size(), to));
  }

  static void AddModels() {
    world_->AddModel("greedy", "bert-seq2", 141);
    world_->AddModel("changed", "bert-seq2");
    world_->AddModel("mute", "bert-seq2");
    std::filesystem::remove(world_->ModelFile("mute", "vocab.txt"));
    world_->AddModel("bare", "bert-seq2");
    std::filesystem::remove(world_->ModelFile("bare", "config.json"));
    Config("magic", "\"gelu\"", "\"magic\"");
    Config("foreign", "\"bert\"", "\"gpt2\"");
    Config("wide", "\"vocab_size\": 140", "\"vocab_size\": 999");
    Config("torn", "{", "{{");
    const std::string good =
        ReadBytes(world_->ModelFile("m", "model.safetensors"));
    Weights("cut", good.substr(0, good.size() - 100));
    Weights("tiny", good.substr(0, 5));
    Weights("empty", "");
    Weights("long", std::string(7, '\xFF') + '\x7F' + good);
    Weights("nested", WithHeader(std::string(100'000, '[')));
    Weights("twice", WithHeader(std::string("{\"a\":") + kTensor +
                                ",\"a\":" + kTensor + "}") +
                         std::string(8, 'x'));
    Weights("overlap", WithHeader(std::string("{\"a\":") + kTensor +
                                  ",\"b\":" + kTensor + "}") +
                           std::string(8, 'x'));
    Weights("scarce", WithHeader(std::string("{\"a\":") + kTensor + "}") +
                          std::string(8, 'x'));
    world_->AddModel("pickle", "bert-seq2");
    std::filesystem::rename(world_->ModelFile("pickle", "model.safetensors"),
                            world_->ModelFile("pickle", "pytorch_model.bin"));
    const std::string sum = ": {path: ../m, sha256: " + Sha256Of(good) + "}\n";
    world_->AddModelLines("outside" + sum);
    world_->AddModelLines("absolute: {path: /etc, sha256: " + Sha256Of("") +
                          "}\n");
    std::filesystem::create_directory_symlink("/usr",
                                              world_->registry() + "/linked");
    world_->AddModelLines("linked: {path: linked, sha256: " + Sha256Of("") +
                          "}\n");
  }

  static void AddSets() {
    const std::string good = Reviews(48, 1);
    const auto add = [](const std::string& id, const std::string& lines,
                        const std::string& train,
                        const std::string& validation) {
      world_->AddData(id, lines,
                      {{"train", train}, {"validation", validation}});
    };
    add("changed", "format: tsv", good, good);
    add("hollow", "format: tsv", "text\tlabel\n", good);
    add("unjudged", "format: tsv", good, "text\tlabel\n");
    add("mute", "format: tsv", "text\nw1\nw2\n", "text\nw1\n");
    add("partly", "format: tsv", "text\tlabel\nw1\ta\nw2\t\n",
        "text\tlabel\nw1\ta\n");
    add("newlabel", "format: tsv", good, "text\tlabel\nw1\tlow\nw2\tmiddle\n");
    add("ragged", "format: tsv", good + "w1\tlow\tw3\n", good);
    add("quote", "format: csv", "text,label\nw1,a\n\"w2,b\n",
        "text,label\nw1,a\n");
    add("binary", "format: tsv", good + std::string("w\0\tlow\n", 7), good);
    add("latin", "format: tsv", good + "w\xE9\tlow\n", good);
    add("brace", "format: jsonl",
        "{\"text\": \"w1\", \"label\": \"a\"}\n{\"text\": \n",
        "{\"text\": \"w1\", \"label\": \"a\"}\n");
    add("tree", "format: conllu",
        "1\tw1\t_\tNOUN\t_\t_\t_\t_\t_\t_\n3\tw2\t_\tVERB\t_\t_\t_\t_\t_\t_"
        "\n\n",
        "1\tw1\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n");
    add("words", "format: tsv\ntask: regression", good, good);
    add("huge", "format: tsv",
        good + "w1 " + std::string(1'000'000, 'w') + "\tlow\n", good);
    add("endless", "format: tsv",
        good + std::string(2'000'000, 'w') + "\tlow\n", good);
    add("weighed", "format: tsv\ncolumns: {weight: weight}",
        "text\tlabel\tweight\nw1\ta\t2\nw2\tb\t1\n",
        "text\tlabel\tweight\nw1\ta\t1\n");
    world_->AddDataLines(
        "outside:\n  splits:\n    train: {path: ../../etc/passwd, sha256: " +
        Sha256Of("") + "}\n");
  }

  static nlohmann::json FinishOf(const std::string& model,
                                 const std::string& data) {
    const Conversation heard = trainer_->Train(world_->Trial(model, data));
    if (heard.finish.is_null()) {
      ADD_FAILURE() << "the process has died: " << trainer_->Errors();
      trainer_ = std::make_unique<TrainerUnderTest>(world_->registry());
      return nlohmann::json::object();
    }
    return heard.finish;
  }

  void ExpectFault(const std::string& model, const std::string& data,
                   const std::string& id, const std::string& file,
                   const std::string& cause) {
    ++record_["bad_files"];
    SCOPED_TRACE(model + " with " + data);
    const nlohmann::json finish = FinishOf(model, data);
    EXPECT_EQ(finish.value("state", ""), "failed");
    EXPECT_THAT(finish.value("cause", ""),
                AllOf(StartsWith(id), HasSubstr(file), HasSubstr(cause)));
  }

  static void ExpectItLives() {
    EXPECT_EQ(FinishOf("m", "d").value("state", ""), "succeeded");
  }

  Record record_;
  static std::unique_ptr<SmallWorld> world_;
  static std::unique_ptr<TrainerUnderTest> trainer_;
};

std::unique_ptr<SmallWorld> BadFiles::world_;
std::unique_ptr<TrainerUnderTest> BadFiles::trainer_;

TEST_F(BadFiles, AModelThatIsBrokenIsNamed) {
  const std::string weights = "model.safetensors";
  ExpectFault("greedy", "d", "FL-5014", "",
              "the tokenizer has 141 tokens and the model's table 140");
  ExpectFault("changed", "d", "FL-5014", "changed/" + weights, "SHA-256");
  ExpectFault("mute", "d", "FL-50", "mute", "vocab.txt");
  ExpectFault("bare", "d", "FL-5010", "bare/config.json", "");
  ExpectFault("magic", "d", "FL-5013", "config.json", "magic");
  ExpectFault("foreign", "d", "FL-5013", "config.json", "gpt2");
  ExpectFault("wide", "d", "FL-5014", "/wide", "word_embeddings");
  ExpectFault("torn", "d", "FL-5011", "config.json", "");
  for (const char* id :
       {"cut", "tiny", "empty", "long", "nested", "twice", "overlap"}) {
    ExpectFault(id, "d", "FL-501", id + ("/" + weights), "");
  }
  ExpectFault("scarce", "d", "FL-5014", "/scarce", "word_embeddings");
  ExpectItLives();
}

TEST_F(BadFiles, APickleIsRefusedWithTheCommandThatConvertsIt) {
  ExpectFault("pickle", "d", "FL-5013", "pytorch_model.bin",
              "python3 -c \"import torch, safetensors.torch");
  ExpectItLives();
}

TEST_F(BadFiles, NothingOutsideTheRegistryIsOpened) {
  ExpectFault("outside", "d", "FL-501", "../m", "");
  ExpectFault("absolute", "d", "FL-501", "/etc", "");
  ExpectFault("linked", "d", "FL-501", "linked", "");
  ExpectFault("m", "outside", "FL-501", "../../etc/passwd", "");
  ExpectItLives();
}

TEST_F(BadFiles, ADataSetThatIsBrokenIsNamedWithItsLine) {
  ExpectFault("m", "changed", "FL-5014", "data/changed.train", "SHA-256");
  ExpectFault("m", "hollow", "FL-501", "data/hollow.train", "");
  ExpectFault("m", "unjudged", "FL-501", "data/unjudged.validation", "");
  ExpectFault("m", "mute", "FL-501", "data/mute.train", "label");
  ExpectFault("m", "partly", "FL-501", "data/partly.train line 3", "label");
  ExpectFault("m", "newlabel", "FL-5014", "data/newlabel.validation line 3",
              "middle");
  ExpectFault("m", "ragged", "FL-501", "data/ragged.train line 50", "");
  ExpectFault("m", "quote", "FL-5011", "data/quote.train line 3", "quote");
  ExpectFault("m", "binary", "FL-5011", "data/binary.train line 50", "NUL");
  ExpectFault("m", "latin", "FL-5011", "data/latin.train line 50", "UTF-8");
  ExpectFault("m", "brace", "FL-5011", "data/brace.train line 2", "");
  ExpectFault("m", "tree", "FL-501", "data/tree.train line 2", "");
  ExpectFault("m", "words", "FL-501", "data/words.train line 2", "");
  ExpectFault("m", "endless", "FL-5012", "data/endless.train line 50", "");
  ExpectFault("m", "weighed", "FL-5013", "", "weigh");
  ExpectItLives();
}

TEST_F(BadFiles, ASentenceOfAMillionCharactersIsCut) {
  const nlohmann::json finish = FinishOf("m", "huge");
  EXPECT_EQ(finish["state"], "succeeded") << finish;
  EXPECT_EQ(finish["metrics"]["steps"], 15);  // 49 rows in batches of 12
}

TEST_F(BadFiles, ARegistryThatIsBrokenEndsTheProcessWithAWord) {
  SmallWorld world;
  world.AddModelLines("m2: {path: m\n");
  world.Write();
  TrainerUnderTest trainer(world.registry());
  EXPECT_FALSE(trainer.Read());
  EXPECT_EQ(trainer.Wait(), 75);
  EXPECT_THAT(trainer.Errors(), HasSubstr("models.yaml line 1"));
  TrainerUnderTest lost(world.NewFolder());
  EXPECT_EQ(lost.Wait(), 75);
  EXPECT_THAT(lost.Errors(), HasSubstr("FL-5010"));
  EXPECT_THAT(lost.Errors(), HasSubstr("datasets.yaml"));
}

// Too little memory ends one trial, wherever it strikes.

// The most that the process has mapped so far.
std::uint64_t PeakAddressSpace(pid_t pid) {
  std::istringstream status(
      ReadBytes("/proc/" + std::to_string(pid) + "/status"));
  for (std::string word; status >> word;) {
    std::uint64_t kib = 0;
    if (word == "VmPeak:" && status >> kib) return kib << 10;
  }
  return 0;
}

// Or shows what was said instead.
MATCHER(Succeeds, "") { return arg["state"] == "succeeded"; }

constexpr std::uint64_t kRoom = std::uint64_t{256} << 20;

class Memory : public ::testing::Test {
 protected:
  Memory() {
    world_.AddData(
        "big", "format: tsv",
        {{"train", Reviews(20'000, 3)}, {"validation", Reviews(9, 4)}});
    world_.Write();
    TrainerUnderTest free(world_.registry());
    free.Train(world_.Trial());
    start_.address_space = PeakAddressSpace(free.pid()) + kRoom;
  }

  static void ExpectOutOfMemory(const nlohmann::json& finish) {
    ASSERT_FALSE(finish.is_null()) << "the process has died";
    EXPECT_EQ(finish["state"], "failed");
    EXPECT_EQ(finish["class"], "out_of_memory");
    EXPECT_THAT(finish["cause"].get<std::string>(),
                AllOf(StartsWith("FL-5016: "), HasSubstr("smaller batches")));
  }

  SmallWorld world_;
  TrainerStart start_;
};

TEST_F(Memory, ABatchThatDoesNotFitFailsItsTrialAlone) {
  if (kWatched) GTEST_SKIP();
  TrainerUnderTest trainer(world_.registry(), start_);
  nlohmann::json trial = world_.Trial("m", "big");
  trial["training"]["batch_size"] = 20'000;
  trial["training"]["epochs"] = 1;
  ExpectOutOfMemory(trainer.Train(trial).finish);
  EXPECT_THAT(trainer.Train(world_.Trial()).finish, Succeeds());
  ExpectOutOfMemory(trainer.Train(trial).finish);
  EXPECT_THAT(trainer.Train(world_.Trial()).finish, Succeeds());
}

// A library below LibTorch may be the one that asks in vain, in words of its
// own.
TEST_F(Memory, WhereverItRunsOutItIsSaidSo) {
  if (kWatched) GTEST_SKIP();
  nlohmann::json trial = world_.Trial("m", "big");
  trial["training"]["batch_size"] = 2'000;
  trial["training"]["epochs"] = 1;
  int ran_out = 0;
  for (const std::uint64_t more : {0, 8, 16, 24, 32, 48, 64, 96}) {
    TrainerStart start = start_;
    start.address_space = start_.address_space - kRoom + (more << 20);
    TrainerUnderTest trainer(world_.registry(), start);
    const nlohmann::json finish = trainer.Train(trial).finish;
    SCOPED_TRACE(more);
    if (finish.is_null()) continue;  // a library has ended the process
    if (finish["state"] == "succeeded") continue;
    ExpectOutOfMemory(finish);
    ++ran_out;
  }
  EXPECT_GT(ran_out, 0);
}

// Before LibTorch computes anything: rows and tokens need memory, too.
TEST_F(Memory, ADataSetThatDoesNotFitFailsItsTrialAlone) {
  if (kWatched) GTEST_SKIP();
  const std::string rows = Reviews(5'000, 5);
  std::string huge = rows;
  for (int i = 0; i < 600; ++i) huge += rows.substr(rows.find('\n') + 1);
  world_.AddData("huge", "format: tsv",
                 {{"train", huge}, {"validation", Reviews(9, 4)}});
  world_.Write();
  TrainerUnderTest trainer(world_.registry(), start_);
  ExpectOutOfMemory(trainer.Train(world_.Trial("m", "huge")).finish);
  EXPECT_THAT(trainer.Train(world_.Trial()).finish, Succeeds());
}

}  // namespace
}  // namespace frostline::trainer
