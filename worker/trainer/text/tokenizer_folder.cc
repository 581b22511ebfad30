// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/tokenizer_folder.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/plain/json.h"
#include "base/plain/text.h"
#include "worker/trainer/text/chat_template.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/subword_model.h"
#include "worker/trainer/text/tokenizer_json.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {
namespace {

Fault BrokenVocab(FaultKind kind, const std::string& cause) {
  return {kind, cause, "take the vocabulary that belongs to the model"};
}

std::string_view TrimEnd(std::string_view line) {
  while (!line.empty()) {
    std::size_t begin = line.size() - 1;
    while (begin > 0 && IsContinuation(line[begin])) --begin;
    if (!Has(DecodeAt(line, begin).value, kWhiteSpace)) break;
    line = line.substr(0, begin);
  }
  return line;
}

}  // namespace

Expected<Tokenizer> ReadVocabTxt(std::string_view bytes,
                                 const BertNormalizerOptions& options,
                                 const BertTokens& tokens) {
  if (bytes.size() > kMaxTokenizerBytes) {
    return BrokenVocab(FaultKind::kTooLarge, "vocab.txt has more than 32 MiB");
  }
  if (!IsValidUtf8(bytes)) {
    return BrokenVocab(FaultKind::kSyntax, "vocab.txt is not UTF-8");
  }
  std::vector<std::string> lines;
  ForEachLine(bytes, [&lines](std::string_view line) {
    lines.emplace_back(TrimEnd(line));
    return lines.size() <= kMaxEntries;
  });
  ASSIGN_OR_FAULT(Vocabulary vocabulary,
                  Vocabulary::FromList(std::move(lines)));
  ASSIGN_OR_FAULT(WordPiece model,
                  WordPiece::Make(std::move(vocabulary),
                                  WordPieceOptions{.unknown = tokens.unknown}));
  auto owned = std::make_unique<WordPiece>(std::move(model));
  const auto cls = owned->IdOf(tokens.cls);
  const auto sep = owned->IdOf(tokens.sep);
  if (!cls || !sep) {
    return BrokenVocab(FaultKind::kInconsistent,
                       "vocab.txt lacks " + tokens.cls + " or " + tokens.sep);
  }
  TokenizerParts parts;
  parts.normalizer = std::make_unique<BertNormalizer>(options);
  parts.pre_tokenizer = std::make_unique<BertSplit>();
  parts.added = AddedOf(*owned, {tokens.pad, tokens.unknown, tokens.cls,
                                 tokens.sep, tokens.mask});
  parts.form = Template::Bert(*cls, *sep);
  parts.model = std::move(owned);
  return Tokenizer::Make(std::move(parts));
}

std::vector<AddedToken> AddedOf(const SubwordModel& model,
                                std::initializer_list<std::string_view> names) {
  std::vector<AddedToken> added;
  std::set<std::string_view> seen;  // one token may play two parts
  for (const std::string_view name : names) {
    const std::optional<std::int32_t> id = model.IdOf(name);
    if (!id || !seen.insert(name).second) continue;
    AddedToken& token = added.emplace_back();
    token.content = name;
    token.id = *id;
    token.special = true;
  }
  return added;
}

Expected<Vocabulary> ReadVocabulary(const JsonValue& object) {
  if (object.count > kMaxEntries) {
    return BrokenVocab(FaultKind::kTooLarge, "more than a million tokens");
  }
  std::vector<std::pair<std::string_view, std::int32_t>> pairs;
  pairs.reserve(object.count);
  for (const JsonValue* v = object.first; v != nullptr; v = v->next) {
    const std::optional<std::int32_t> id = v->Index();
    if (!id) {
      return BrokenVocab(FaultKind::kSyntax,
                         "a token's id is no whole number from 0 on");
    }
    pairs.emplace_back(v->key, *id);
  }
  return Vocabulary::FromPairs(pairs);
}

namespace {

Fault BrokenBpe(FaultKind kind, const std::string& cause) {
  return {kind, cause, "take the vocabulary that belongs to the model"};
}

}  // namespace

std::optional<ByteBpe::Pair> SplitMerge(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == 0 || blank == std::string_view::npos) return std::nullopt;
  const std::string_view right = line.substr(blank + 1);
  if (right.empty() || right.find(' ') != std::string_view::npos) {
    return std::nullopt;
  }
  return ByteBpe::Pair(line.substr(0, blank), right);
}

Expected<Tokenizer> ReadBpeFiles(std::string_view vocab_json,
                                 std::string_view merges_txt,
                                 bool add_prefix_space) {
  ASSIGN_OR_FAULT(const Json json, Json::Parse(vocab_json));
  ASSIGN_OR_FAULT(Vocabulary vocabulary, ReadVocabulary(json.root()));
  std::vector<ByteBpe::Pair> merges;
  bool good = merges_txt.size() <= kMaxTokenizerBytes;
  ForEachLine(merges_txt, [&](std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) return true;
    const std::optional<ByteBpe::Pair> pair = SplitMerge(line);
    if (pair) merges.push_back(*pair);
    good = good && pair && merges.size() <= kMaxEntries;
    return good;
  });
  if (!good) {
    return BrokenBpe(FaultKind::kSyntax,
                     "a line of merges.txt is no pair, or there are too many");
  }
  ASSIGN_OR_FAULT(ByteBpe model, ByteBpe::Make(std::move(vocabulary), merges));
  auto owned = std::make_unique<ByteBpe>(std::move(model));
  const auto cls = owned->IdOf("<s>");
  const auto sep = owned->IdOf("</s>");
  TokenizerParts parts;
  parts.normalizer = std::make_unique<NoNormalizer>();
  parts.pre_tokenizer = std::make_unique<ByteLevelSplit>(add_prefix_space);
  parts.added = AddedOf(*owned, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  for (AddedToken& token : parts.added) {
    token.takes_left_space = token.content == "<mask>";
  }
  parts.form = cls && sep ? Template::Roberta(*cls, *sep) : Template::Plain();
  parts.form.trim_spans = true;
  parts.form.keep_prefix_space = add_prefix_space;
  parts.model = std::move(owned);
  return Tokenizer::Make(std::move(parts));
}

namespace {

constexpr const char* kFiles[] = {"tokenizer.json",
                                  "tokenizer_config.json",
                                  "vocab.txt",
                                  "vocab.json",
                                  "merges.txt",
                                  "added_tokens.json",
                                  "special_tokens_map.json",
                                  "chat_template.jinja",
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
  ASSIGN_OR_FAULT(const Json json, Json::Parse(bytes));
  const JsonValue& root = json.root();
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
  ASSIGN_OR_FAULT(std::string bytes, ReadBounded(path));
  return In(path, ParseOldSettings(bytes));
}

Expected<Tokenizer> LoadVocabTxt(const std::string& folder) {
  const std::string path = folder + "/vocab.txt";
  ASSIGN_OR_FAULT(OldSettings settings, ReadOldSettings(folder));
  ASSIGN_OR_FAULT(std::string bytes, ReadBounded(path));
  return In(path, ReadVocabTxt(bytes, settings.normalizer, settings.tokens));
}

Expected<Tokenizer> LoadBpe(const std::string& folder) {
  ASSIGN_OR_FAULT(OldSettings settings, ReadOldSettings(folder));
  ASSIGN_OR_FAULT(std::string vocabulary, ReadBounded(folder + "/vocab.json"));
  ASSIGN_OR_FAULT(std::string merges, ReadBounded(folder + "/merges.txt"));
  return In(folder + "/vocab.json, merges.txt",
            ReadBpeFiles(vocabulary, merges, settings.add_prefix_space));
}

}  // namespace

namespace {

Expected<Tokenizer> LoadOf(const std::string& folder) {
  const std::string json = folder + "/tokenizer.json";
  if (Exists(json)) {
    ASSIGN_OR_FAULT(std::string bytes, ReadBounded(json));
    return In(json, ReadTokenizerJson(bytes));
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

}  // namespace

Expected<Tokenizer> LoadTokenizer(const std::string& folder) {
  ASSIGN_OR_FAULT(Tokenizer tokenizer, LoadOf(folder));
  const std::string chat = folder + "/chat_template.jinja";
  if (Exists(chat)) {
    ASSIGN_OR_FAULT(std::string program, ReadBounded(chat));
    tokenizer.ChatAs(FindChatTemplate(program));
  }
  const std::string path = folder + "/tokenizer_config.json";
  if (!Exists(path)) return tokenizer;
  ASSIGN_OR_FAULT(std::string bytes, ReadBounded(path));
  const Expected<Json> json = Json::Parse(bytes);
  if (!json.ok()) return tokenizer;  // what only Python reads
  const JsonValue& root = json.value().root();
  std::string end;
  TakeToken(root, "eos_token", end);
  const std::optional<std::int32_t> id = tokenizer.IdOf(end);
  if (!end.empty() && id) tokenizer.EndWith(*id);
  const JsonValue* const program = root.Find("chat_template");
  if (tokenizer.chat() == nullptr && program != nullptr &&
      program->is(JsonKind::kString)) {
    tokenizer.ChatAs(FindChatTemplate(program->text));
  }
  return tokenizer;
}

std::vector<std::string> TokenizerFilesOf(const std::string& folder) {
  std::vector<std::string> there;
  for (const std::string name : kFiles) {
    if (Exists(folder + "/" + name)) there.push_back(name);
  }
  return there;
}

}  // namespace frostline::trainer
