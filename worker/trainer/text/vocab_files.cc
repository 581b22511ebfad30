// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/vocab_files.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/unicode.h"
#include "worker/trainer/text/word_piece.h"

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
  Expected<Vocabulary> vocabulary = Vocabulary::FromList(std::move(lines));
  if (!vocabulary.ok()) return vocabulary.fault();
  Expected<WordPiece> model =
      WordPiece::Make(std::move(vocabulary).value(),
                      WordPieceOptions{.unknown = tokens.unknown});
  if (!model.ok()) return model.fault();
  auto owned = std::make_unique<WordPiece>(std::move(model).value());
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

}  // namespace frostline::trainer
