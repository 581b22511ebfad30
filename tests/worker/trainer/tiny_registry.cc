// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/tiny_registry.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/text.h"
#include "worker/trainer/data/input_file.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/safetensors.h"
#include "worker/trainer/text/subword_model.h"

namespace frostline::trainer {
namespace {

constexpr int kVocabulary = 140;  // of the recorded model

std::string SumOf(const std::string& path) {
  return InputFile::Open(path).value().Sha256().value();
}

void Write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The even words of a text outweigh the odd ones, or not: something to learn.
std::string Texts(int count, int begin) {
  std::string text = "text\tlabel\n";
  for (int i = begin; i < begin + count; ++i) {
    const int label = i % 2;
    for (int w = 0; w < 3 + i % 4; ++w) {
      text += "w" + std::to_string((i * 7 + w * 12 + label * 5) % 130) + " ";
    }
    text += std::string("\t") + (label == 1 ? "yes" : "no") + "\n";
  }
  return text;
}

// Two texts, and how alike they are.
std::string Scores(int count, int begin) {
  std::string text = "text\tsecond\tlabel\n";
  for (int i = begin; i < begin + count; ++i) {
    const int apart = i % 5;
    text += "w" + std::to_string(i) + " w" + std::to_string(i + 1) + "\tw" +
            std::to_string(i + apart) + "\t" + std::to_string(5 - apart) + "\n";
  }
  return text;
}

void WriteModel(const std::string& folder) {
  const std::string source = std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                             "/tests/parity/data/models/bert-seq2";
  const std::string target = folder + "/tiny";
  std::filesystem::create_directory(target);
  for (const char* name : {"/config.json", "/model.safetensors"}) {
    std::filesystem::copy_file(source + name, target + name);
  }
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 0; i < kVocabulary - 5; ++i) {
    vocabulary += "w" + std::to_string(i) + "\n";
  }
  Write(target + "/vocab.txt", vocabulary);
  Write(folder + "/models.yaml", "tiny:\n  path: tiny\n  sha256: " +
                                     SumOf(target + "/model.safetensors") +
                                     "\n");
}

void WriteData(const std::string& folder) {
  Write(folder + "/train.tsv", Texts(24, 0));
  Write(folder + "/validation.tsv", Texts(10, 100));
  Write(folder + "/scores-train.tsv", Scores(20, 0));
  Write(folder + "/scores-validation.tsv", Scores(10, 50));
  std::string yaml;
  for (const std::string set : {"", "scores-"}) {
    yaml += set.empty() ? "words:\n"
                        : "scores:\n  task: regression\n"
                          "  columns: {second: second}\n";
    yaml += "  format: tsv\n  splits:\n";
    for (const std::string split : {"train", "validation"}) {
      const std::string path = set + split + ".tsv";
      yaml += "    " + split + ": {path: " + path +
              ", sha256: " + SumOf(folder + "/" + path) + "}\n";
    }
  }
  Write(folder + "/datasets.yaml", yaml);
}

}  // namespace

namespace {

// Weights of which none stands out: of a norm 1, else small.
float WeightAt(std::uint32_t& state, bool norm) {
  state = state * 1664525U + 1013904223U;
  const auto share = static_cast<float>(state >> 8) / 16777216.0F;
  return norm ? 1.0F : (share - 0.5F) * 0.3F;
}

void WriteDecoder(const std::string& folder) {
  const std::string target = folder + "/bytes";
  std::filesystem::create_directory(target);
  const std::string json =
      R"({"model_type": "llama", "vocab_size": 258, "hidden_size": 32,
          "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "intermediate_size": 64,
          "max_position_embeddings": 64, "hidden_act": "silu",
          "rms_norm_eps": 1e-6, "tie_word_embeddings": false,
          "pad_token_id": 257, "eos_token_id": 256,
          "classifier_dropout": 0.0,
          "architectures": ["LlamaForCausalLM"]})";
  Write(target + "/config.json", json);
  const ModelConfig config = ReadModelConfig(json).value();
  const HeadSpec head = {.task = Task::kAnswers, .outputs = 1};
  std::vector<std::vector<float>> kept;
  std::vector<TensorBytes> tensors;
  std::uint32_t state = 7;
  for (const ParameterSpec& spec : ParametersOf(config, head)) {
    std::int64_t size = 1;
    for (const std::int64_t dimension : spec.shape) size *= dimension;
    std::vector<float>& values = kept.emplace_back();
    for (std::int64_t i = 0; i < size; ++i) {
      values.push_back(WeightAt(state, spec.role == Role::kNorm));
    }
    tensors.push_back({spec.name, Dtype::kF32, spec.shape, values.data()});
  }
  WriteSafetensors(target + "/model.safetensors", std::move(tensors), {})
      .value();
  std::string vocabulary;
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string letter;
    AppendUtf8(ByteBpe::LetterOf(static_cast<unsigned char>(byte)), letter);
    if (letter == "\"" || letter == "\\") letter.insert(0, "\\");
    vocabulary += "\"" + letter + "\": " + std::to_string(byte) + ", ";
  }
  Write(target + "/vocab.json",
        "{" + vocabulary + "\"<end>\": 256, \"<pad>\": 257}");
  Write(target + "/merges.txt", "#version: 0.2\n");
  Write(target + "/tokenizer_config.json", R"({"eos_token": "<end>"})");
  Write(folder + "/models.yaml", "bytes:\n  path: bytes\n  sha256: " +
                                     SumOf(target + "/model.safetensors") +
                                     "\n");
}

// Rows of a prompt of three letters and the second of them: to say, to choose,
// or to say one to four times.
std::string Letters(int count, int begin, const std::string& set) {
  const bool choices = set == "picks";
  std::string rows;
  for (int i = begin; i < begin + count; ++i) {
    const int number = (37 * i + 11) % 125;  // each once
    std::string three;
    for (const int each : {number, number / 5, number / 25}) {
      three += static_cast<char>('a' + each % 5);
    }
    rows += R"({"prompt": ")" + three + R"(=", )" +
            (choices ? R"("choices": ["a", "b", "c", "d", "e"], )" : "") +
            R"("answer": ")" +
            std::string(set == "runs" ? 1 + i % 4 : 1, three[1]) + "\"}\n";
  }
  return rows;
}

}  // namespace

void WriteDecoderRegistry(const std::string& folder) {
  WriteDecoder(folder);
  std::string yaml;
  for (const std::string set : {"letters", "picks", "runs"}) {
    yaml += set + ":\n  task: " + (set == "picks" ? "choices" : "answers") +
            "\n  format: jsonl\n  splits:\n";
    for (const std::string split : {"train", "validation"}) {
      const std::string path = set + "-" + split + ".jsonl";
      Write(folder + "/" + path,
            split == "train" ? Letters(40, 0, set) : Letters(20, 40, set));
      yaml += "    " + split + ": {path: " + path +
              ", sha256: " + SumOf(folder + "/" + path) + "}\n";
    }
  }
  Write(folder + "/datasets.yaml", yaml);
}

void WriteTinyRegistry(const std::string& folder) {
  WriteModel(folder);
  WriteData(folder);
}

}  // namespace frostline::trainer
