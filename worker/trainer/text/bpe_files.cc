// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/text/limits.h"
#include "worker/trainer/text/vocab_files.h"

namespace frostline::trainer {
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
  const Expected<Json> json = Json::Parse(vocab_json);
  if (!json.ok()) return json.fault();
  Expected<Vocabulary> vocabulary = ReadVocabulary(json.value().root());
  if (!vocabulary.ok()) return vocabulary.fault();
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
  Expected<ByteBpe> model =
      ByteBpe::Make(std::move(vocabulary).value(), merges);
  if (!model.ok()) return model.fault();
  auto owned = std::make_unique<ByteBpe>(std::move(model).value());
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

}  // namespace frostline::trainer
