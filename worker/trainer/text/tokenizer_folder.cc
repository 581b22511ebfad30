// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer_folder.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/plain/json.h"
#include "worker/trainer/text/json_fields.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/tokenizer_json.h"
#include "worker/trainer/text/vocab_files.h"

namespace frostline::trainer {
namespace {

constexpr const char* kFiles[] = {"tokenizer.json",
                                  "tokenizer_config.json",
                                  "vocab.txt",
                                  "vocab.json",
                                  "merges.txt",
                                  "added_tokens.json",
                                  "special_tokens_map.json",
                                  "sentencepiece.bpe.model"};

bool Exists(const std::string& path) {
  std::error_code ignored;  // what cannot be examined is not there
  return std::filesystem::exists(path, ignored);
}

Expected<std::string> ReadBounded(const std::string& path) {
  std::error_code ignored;  // what cannot be examined cannot be read
  std::ifstream file;
  // A pipe is not even opened: that would hang us.
  if (std::filesystem::is_regular_file(path, ignored)) {
    file.open(path, std::ios::binary);
  }
  if (!file.is_open()) {
    return Fault{FaultKind::kUnreadable, path + " cannot be read",
                 "make it a regular file that this user may read"};
  }
  std::string bytes;
  char block[1 << 16];
  while (file.read(block, sizeof(block)) || file.gcount() > 0) {
    bytes.append(block, static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > kMaxTokenizerBytes) {
      return Fault{FaultKind::kTooLarge, path + " has more than 32 MiB",
                   "take the file that belongs to the model"};
    }
  }
  return bytes;
}

template <typename T>
Expected<T> In(const std::string& path, Expected<T> outcome) {
  if (outcome.ok()) return outcome;
  const Fault& fault = outcome.fault();
  return Fault{fault.kind, path + ": " + fault.cause, fault.fix};
}

// What tokenizer_config.json says of a tokenizer that lies in older files.
struct OldSettings {
  BertNormalizerOptions normalizer;
  BertTokens tokens;
  bool add_prefix_space = false;
};

// "[CLS]", or {"content": "[CLS]", ...}; null: the model has none, and what is
// looked for instead is harmless.
void TakeToken(const JsonValue& root, std::string_view name,
               std::string& token) {
  const JsonValue* value = root.Find(name);
  if (value != nullptr && value->is(JsonKind::kObject)) {
    value = value->Find("content");
  }
  if (value != nullptr && value->is(JsonKind::kString)) token = value->text;
}

Expected<OldSettings> ParseOldSettings(std::string_view bytes) {
  const Expected<Json> json = Json::Parse(bytes);
  if (!json.ok()) return json.fault();
  const JsonValue& root = json.value().root();
  JsonFields fields(root, "tokenizer_config.json");
  OldSettings settings;
  settings.normalizer.lowercase = fields.Bool("do_lower_case", true);
  // Accents go with the capitals unless the file decides it.
  settings.normalizer.strip_accents =
      fields.Bool("strip_accents", settings.normalizer.lowercase);
  settings.normalizer.handle_chinese_chars =
      fields.Bool("tokenize_chinese_chars", true);
  settings.add_prefix_space = fields.Bool("add_prefix_space", false);
  fields.MustBe("do_basic_tokenize", fields.Bool("do_basic_tokenize", true));
  if (fields.fault()) return *fields.fault();
  TakeToken(root, "unk_token", settings.tokens.unknown);
  TakeToken(root, "cls_token", settings.tokens.cls);
  TakeToken(root, "sep_token", settings.tokens.sep);
  TakeToken(root, "pad_token", settings.tokens.pad);
  TakeToken(root, "mask_token", settings.tokens.mask);
  return settings;
}

Expected<OldSettings> ReadOldSettings(const std::string& folder) {
  const std::string path = folder + "/tokenizer_config.json";
  if (!Exists(path)) return OldSettings{};
  Expected<std::string> bytes = ReadBounded(path);
  if (!bytes.ok()) return bytes.fault();
  return In(path, ParseOldSettings(bytes.value()));
}

Expected<Tokenizer> LoadVocabTxt(const std::string& folder) {
  const std::string path = folder + "/vocab.txt";
  Expected<OldSettings> settings = ReadOldSettings(folder);
  if (!settings.ok()) return settings.fault();
  Expected<std::string> bytes = ReadBounded(path);
  if (!bytes.ok()) return bytes.fault();
  return In(path, ReadVocabTxt(bytes.value(), settings.value().normalizer,
                               settings.value().tokens));
}

Expected<Tokenizer> LoadBpe(const std::string& folder) {
  Expected<OldSettings> settings = ReadOldSettings(folder);
  if (!settings.ok()) return settings.fault();
  Expected<std::string> vocabulary = ReadBounded(folder + "/vocab.json");
  if (!vocabulary.ok()) return vocabulary.fault();
  Expected<std::string> merges = ReadBounded(folder + "/merges.txt");
  if (!merges.ok()) return merges.fault();
  return In(folder + "/vocab.json, merges.txt",
            ReadBpeFiles(vocabulary.value(), merges.value(),
                         settings.value().add_prefix_space));
}

}  // namespace

Expected<Tokenizer> LoadTokenizer(const std::string& folder) {
  const std::string json = folder + "/tokenizer.json";
  if (Exists(json)) {
    Expected<std::string> bytes = ReadBounded(json);
    if (!bytes.ok()) return bytes.fault();
    return In(json, ReadTokenizerJson(bytes.value()));
  }
  if (Exists(folder + "/vocab.txt")) return LoadVocabTxt(folder);
  if (Exists(folder + "/vocab.json") && Exists(folder + "/merges.txt")) {
    return LoadBpe(folder);
  }
  return Fault{FaultKind::kUnreadable,
               folder +
                   " has no tokenizer.json, no vocab.txt, and no "
                   "vocab.json with merges.txt",
               "write tokenizer.json there with Python: AutoTokenizer."
               "from_pretrained(folder).save_pretrained(folder)"};
}

std::vector<std::string> TokenizerFilesOf(const std::string& folder) {
  std::vector<std::string> there;
  for (const std::string name : kFiles) {
    if (Exists(folder + "/" + name)) there.push_back(name);
  }
  return there;
}

}  // namespace frostline::trainer
