// SPDX-License-Identifier: Apache-2.0
//
// Models and data sets of a registry that cannot be used: one fault, naming
// the file, and the process lives on. One process meets them all.
#include <filesystem>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/trainer/process/small_world.h"
#include "tests/worker/trainer/process/trainer_under_test.h"

namespace frostline::trainer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

  static void ExpectFault(const std::string& model, const std::string& data,
                          const std::string& id, const std::string& file,
                          const std::string& cause) {
    SCOPED_TRACE(model + " with " + data);
    const nlohmann::json finish = FinishOf(model, data);
    EXPECT_EQ(finish.value("state", ""), "failed");
    EXPECT_THAT(finish.value("cause", ""),
                AllOf(StartsWith(id), HasSubstr(file), HasSubstr(cause)));
  }

  static void ExpectItLives() {
    EXPECT_EQ(FinishOf("m", "d").value("state", ""), "succeeded");
  }

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

}  // namespace
}  // namespace frostline::trainer
