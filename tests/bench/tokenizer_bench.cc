// SPDX-License-Identifier: Apache-2.0
//
// How many megabytes of text a second one thread turns into ids. Always the
// same texts for all three: film reviews and the vocabularies of real models
// where FROSTLINE_SHARED_DATA has them, else our own documents and the small
// vocabularies of the tests. What was taken is said on a line of its own.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/bench/bench_main.h"
#include "worker/trainer/text/tokenizer.h"
#include "worker/trainer/text/tokenizer_folder.h"
#include "worker/trainer/text/tokenizer_json.h"

namespace frostline::bench {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kBytes = 8'000'000;

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path Shared(const std::string& name) {
  const char* folder = std::getenv("FROSTLINE_SHARED_DATA");
  return folder == nullptr ? fs::path() : fs::path(folder) / name;
}

fs::path TestData(const std::string& name) {
  return fs::path(FROSTLINE_SOURCE_DIR) / "tests/parity/data/tokenizers" / name;
}

// The reviews, the third column, up to kBytes; else paragraphs of the
// documents, again and again.
std::vector<std::string> Texts() {
  std::string all = Read(Shared("data/imdb/test.tsv"));
  std::vector<std::string> texts;
  const bool reviews = !all.empty();
  if (!reviews) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(
             fs::path(FROSTLINE_SOURCE_DIR) / "docs")) {
      if (entry.path().extension() == ".md") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) all += Read(file) + "\n\n";
  }
  const std::string end = reviews ? "\n" : "\n\n";
  std::size_t bytes = 0;
  for (std::size_t at = 0; bytes < kBytes && !all.empty();) {
    const std::size_t next = std::min(all.find(end, at), all.size());
    std::string text = all.substr(at, next - at);
    if (reviews) text = text.substr(text.rfind('\t') + 1);
    bytes += text.size();
    if (!text.empty()) texts.push_back(std::move(text));
    at = next + end.size() < all.size() ? next + end.size() : 0;
  }
  std::cout << "texts: " << (reviews ? "film reviews" : "our documents") << ", "
            << texts.size() << " of " << bytes << " bytes in all\n";
  return texts;
}

trainer::Tokenizer Checked(Expected<trainer::Tokenizer> made,
                           const std::string& what) {
  if (!made.ok()) {
    std::cerr << what << ": " << made.fault().cause << "\n";
    std::exit(1);
  }
  std::cout << what << ", " << made.value().vocabulary_size() << " tokens\n";
  return std::move(made).value();
}

trainer::Tokenizer WordPieceTokenizer() {
  const fs::path real = Shared("data/tokenizer_golden/bert-vocab.txt");
  const bool found = !real.empty() && fs::exists(real);
  return Checked(trainer::ReadVocabTxt(
                     Read(found ? real : TestData("wordpiece/vocab.txt")), {}),
                 found ? "wordpiece: BERT's vocabulary"
                       : "wordpiece: the tests' vocabulary");
}

trainer::Tokenizer BpeTokenizer() {
  const fs::path real = Shared("data/tokenizer_golden/gpt2-vocab.json");
  if (!real.empty() && fs::exists(real)) {
    const fs::path merges = Shared("data/tokenizer_golden/gpt2-merges.txt");
    return Checked(trainer::ReadBpeFiles(Read(real), Read(merges), false),
                   "bpe: GPT-2's vocabulary");
  }
  return Checked(
      trainer::ReadTokenizerJson(Read(TestData("bpe/tokenizer.json"))),
      "bpe: the tests' vocabulary");
}

trainer::Tokenizer UnigramTokenizer() {
  return Checked(
      trainer::ReadTokenizerJson(Read(TestData("unigram/tokenizer.json"))),
      "unigram: the tests' vocabulary");
}

// A round encodes every text once, ids, spans and words, one after another.
void Measure(const Bench& bench, const std::string& name,
             const trainer::Tokenizer& tokenizer,
             const std::vector<std::string>& texts) {
  trainer::Encoder encoder(tokenizer);
  trainer::Encoding encoding;
  std::vector<double> rates;
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  for (int round = 0; round < (bench.quick() ? 3 : 9); ++round) {
    const Steady::time_point start = Steady::now();
    for (const std::string& text : texts) {
      Keep(encoder.Encode(text, {}, encoding).ok());
    }
    const std::chrono::duration<double> spent = Steady::now() - start;
    rates.push_back(static_cast<double>(bytes) / 1e6 / spent.count());
  }
  std::sort(rates.begin(), rates.end());
  bench.Figure("mb_per_s." + name, rates[rates.size() / 2]);
  bench.Figure("mb_per_s_best." + name, rates.back());
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  using namespace frostline::bench;
  const Bench bench(argc, argv);
  const std::vector<std::string> texts = Texts();
  Measure(bench, "wordpiece", WordPieceTokenizer(), texts);
  Measure(bench, "bpe", BpeTokenizer(), texts);
  Measure(bench, "unigram", UnigramTokenizer(), texts);
}
