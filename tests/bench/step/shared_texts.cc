// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step/shared_texts.h"

#include <fstream>
#include <numeric>
#include <string>

#include "tests/bench/step/must.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/input_file.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::bench {
namespace {

using namespace frostline::trainer;

TokenStore TextsOf(const Shape& shape, const std::string& path) {
  std::ofstream(path) << DrawnTexts(shape, shape.texts, kSeed);
  const Dataset data =
      Must(DatasetReader(TaskKind::kClassification)
               .Read(Must(InputFile::Open(path)), {.header = true}, {}));
  const Tokenizer tokenizer = Must(ReadVocabTxt(DrawnVocabulary(shape), {}));
  return Must(Tokenize(data, data.AllRows(), tokenizer, {}));
}

}  // namespace

SharedTexts::SharedTexts(const Shape& shape)
    : tokens_(TextsOf(shape, folder_.File("texts.tsv"))),
      store_(Must(PrefixStore::Open(folder_.File("prefix"), 0))),
      rows_(static_cast<std::size_t>(shape.texts)),
      width_(shape.tokens) {
  std::iota(rows_.begin(), rows_.end(), 0U);
}

void SharedTexts::Fill(const Model& model, std::int64_t blocks,
                       Precision precision) {
  PrefixWork work;
  work.seconds = [] { return 0.0; };
  work.told = [](std::size_t, std::size_t) {};
  work.log = [](const std::string& line) { std::cerr << line << "\n"; };
  std::string key = std::to_string(blocks);
  key.insert(0, 64 - key.size(), '0');
  BoundarySpec wanted;
  wanted.blocks = blocks;
  wanted.group = {key, "bench"};
  boundaries_.emplace(model, precision, &store_, wanted, work);
  Must(boundaries_->Prepare(tokens_));
}

at::Tensor SharedTexts::Boundary() {
  return Must(boundaries_->Of(tokens_, rows_, width_));
}

namespace {

constexpr std::int64_t kSpecial = 5;  // tokens before the words

}  // namespace

std::string DrawnVocabulary(const Shape& shape) {
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (std::int64_t i = kSpecial; i < shape.vocabulary; ++i) {
    vocabulary += "w" + std::to_string(i) + "\n";
  }
  return vocabulary;
}

std::string DrawnTexts(const Shape& shape, std::int64_t count,
                       std::uint64_t seed) {
  std::string text = "text\tlabel\n";
  std::uint64_t draw = seed;
  const auto words = static_cast<std::uint64_t>(shape.vocabulary - kSpecial);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j + 2 < shape.tokens; ++j) {
      draw = draw * 6364136223846793005U + 1442695040888963407U;
      const auto word = static_cast<std::int64_t>((draw >> 33U) % words);
      text += "w" + std::to_string(kSpecial + word) + " ";
    }
    text += i % 2 == 0 ? "\tno\n" : "\tyes\n";
  }
  return text;
}

}  // namespace frostline::bench
