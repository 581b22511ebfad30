// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/tiny_registry.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "worker/trainer/data/input_file.h"

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

void WriteTinyRegistry(const std::string& folder) {
  WriteModel(folder);
  WriteData(folder);
}

}  // namespace frostline::trainer
