// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/text/goldens.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "worker/trainer/text/encoding.h"
#include "worker/trainer/text/tokenizer_folder.h"
#include "worker/trainer/text/tokenizer_json.h"

namespace frostline::trainer {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

void Note(GoldenCount& count, bool same, const std::string& what) {
  ++count.compared;
  if (same) return;
  if (++count.different <= 3) count.what += what + "\n";
}

Ids FlatSpans(const Encoding& encoding) {
  Ids flat;
  for (const Span& span : encoding.spans) {
    flat.push_back(static_cast<std::int32_t>(span.begin));
    flat.push_back(static_cast<std::int32_t>(span.end));
  }
  return flat;
}

Ids ExpectedTypes(const json& record) {
  const std::size_t size = record["i"].size();
  Ids types(size, 0);
  for (std::size_t i = record.value("t0", size); i < size; ++i) types[i] = 1;
  return types;
}

void Encode(Encoder& encoder, const json& record, Encoding& encoding) {
  const EncodeOptions options{.max_length =
                                  record.value("max", std::size_t{0})};
  if (record.contains("words")) {
    const auto words = record["words"].get<std::vector<std::string>>();
    const std::vector<std::string_view> views(words.begin(), words.end());
    (void)encoder.EncodeWords(views, options, encoding);
  } else if (record.contains("b")) {
    (void)encoder.EncodePair(record["a"].get<std::string>(),
                             record["b"].get<std::string>(), options, encoding);
  } else {
    (void)encoder.Encode(record["a"].get<std::string>(), options, encoding);
  }
}

std::string Difference(const json& record, const Encoding& encoding) {
  if (encoding.ids != record["i"].get<Ids>()) return "ids";
  if (FlatSpans(encoding) != record["o"].get<Ids>()) return "spans";
  if (encoding.word_ids != record["w"].get<Ids>()) return "words";
  if (encoding.type_ids != ExpectedTypes(record)) return "types";
  if (!record.contains("y")) return "";
  Ids labels;
  (void)AlignLabels(encoding, record["labels"].get<Ids>(), labels);
  return labels == record["y"].get<Ids>() ? "" : "labels";
}

}  // namespace

std::string OwnRecording(const std::string& name) {
  const char* source = std::getenv("FROSTLINE_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) +
         "/tests/parity/data/tokenizers/" + name;
}

std::string SharedData(const std::string& name) {
  const char* folder = std::getenv("FROSTLINE_SHARED_DATA");
  if (folder == nullptr) return "";
  const std::string path = std::string(folder) + "/" + name;
  return std::filesystem::exists(path) ? path : "";
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Tokenizer TokenizerOfFile(const std::string& path) {
  const std::string bytes = ReadBytes(path);
  Expected<Tokenizer> made = path.ends_with(".txt")
                                 ? ReadVocabTxt(bytes, BertNormalizerOptions{})
                                 : ReadTokenizerJson(bytes);
  if (!made.ok()) throw std::runtime_error(path + ": " + made.fault().cause);
  return std::move(made).value();
}

GoldenCount CompareRecords(Encoder& encoder, const std::string& jsonl) {
  GoldenCount count;
  Encoding encoding;
  const std::string bytes = ReadBytes(jsonl);
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = bytes.find('\n', begin);
    const std::string line = bytes.substr(begin, end - begin);
    begin = end == std::string::npos ? bytes.size() : end + 1;
    if (line.empty()) continue;
    const json record = json::parse(line);
    Encode(encoder, record, encoding);
    std::string what = Difference(record, encoding);
    const bool same = what.empty();
    if (!same) {
      what += json{{"record", record},
                   {"ids", encoding.ids},
                   {"spans", FlatSpans(encoding)},
                   {"words", encoding.word_ids}}
                  .dump();
    }
    Note(count, same, what);
  }
  return count;
}

GoldenCount CompareQuestions(const Tokenizer& tokenizer,
                             const std::string& tokens_json,
                             const std::string& ids_json) {
  GoldenCount count;
  Encoder encoder(tokenizer);
  Encoding encoding;
  const json questions = json::parse(ReadBytes(tokens_json));
  const json ids = json::parse(ReadBytes(ids_json));
  if (questions.size() != ids.size()) throw std::runtime_error("not a pair");
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto text = questions[i]["original"].get<std::string>();
    (void)encoder.Encode(text, {.add_special_tokens = false}, encoding);
    Ids expected;
    for (const json& token : questions[i]["wordpiece"]) {
      expected.push_back(tokenizer.IdOf(token.get<std::string>()).value_or(-1));
    }
    Note(count, encoding.ids == expected && expected == ids[i].get<Ids>(),
         text);
  }
  return count;
}

GoldenCount CompareCases(Encoder& encoder, const std::string& path,
                         const std::string& model) {
  GoldenCount count;
  Encoding encoding;
  const json all = json::parse(ReadBytes(path));
  for (const json& one : all.at(model)) {
    const auto text = one["input"].get<std::string>();
    (void)encoder.Encode(text, {}, encoding);
    const json& expected = one["encoded"];
    const bool same =
        encoding.ids == expected["input_ids"].get<Ids>() &&
        encoding.type_ids == expected["token_type_ids"].get<Ids>() &&
        encoding.attention_mask == expected["attention_mask"].get<Ids>();
    Note(count, same, text);
  }
  return count;
}

}  // namespace frostline::trainer
