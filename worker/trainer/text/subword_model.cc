// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/subword_model.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/plain/text.h"
#include "worker/trainer/text/limits.h"

namespace frostline::trainer {

class DoubleArray::Builder {
 public:
  explicit Builder(std::vector<Entry> entries) : entries_(std::move(entries)) {
    std::sort(entries_.begin(), entries_.end());
  }

  std::vector<Unit> Run() {
    units_.resize(kAlphabet + 1);
    units_[0].parent = kTaken;
    std::vector<Range> open;
    if (!entries_.empty()) open.push_back({0, 0, entries_.size(), 0});
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      Expand(range, open);
    }
    return std::move(units_);
  }

 private:
  // The entries [begin, end) share their first `depth` bytes and end at `node`.
  struct Range {
    Node node;
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };
  struct Child {
    std::size_t label;
    std::size_t begin;
    std::size_t end;
  };

  static constexpr std::uint32_t kTaken = 0xFFFFFFFF;
  // After so many places looked at in vain, the end of the array is taken:
  // some room is lost, but no set of keys can make building slow.
  static constexpr int kMaxTries = 128;

  void Expand(Range range, std::vector<Range>& open) {
    if (entries_[range.begin].first.size() == range.depth) {
      units_[range.node].value = entries_[range.begin].second;
      if (++range.begin == range.end) return;
    }
    children_.clear();
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const auto label =
          static_cast<unsigned char>(entries_[i].first[range.depth]);
      if (children_.empty() || children_.back().label != label) {
        children_.push_back({label, i, i});
      }
      children_.back().end = i + 1;
    }
    const std::size_t base = FindBase();
    units_[range.node].base = static_cast<std::uint32_t>(base);
    for (const Child& child : children_) {
      const auto node = static_cast<Node>(base + child.label);
      units_[node].parent = range.node + 1;
      open.push_back({node, child.begin, child.end, range.depth + 1});
    }
  }

  // The first base at which all children find a free unit.
  std::size_t FindBase() {
    while (first_free_ < units_.size() && units_[first_free_].parent != 0) {
      ++first_free_;
    }
    const std::size_t first = children_.front().label;
    std::size_t place = std::max(first_free_, first + 1);
    for (int i = 0; i < kMaxTries && place < used_; ++i, ++place) {
      if (units_[place].parent == 0 && Fits(place - first)) {
        return Reserve(place - first);
      }
    }
    return Reserve(std::max(used_, first + 1) - first);
  }

  bool Fits(std::size_t base) const {
    return std::all_of(children_.begin(), children_.end(), [&](const Child& c) {
      return units_[base + c.label].parent == 0;
    });
  }

  std::size_t Reserve(std::size_t base) {
    used_ = std::max(used_, base + children_.back().label + 1);
    // Room for a step by any byte from this base and from the next one.
    if (units_.size() < used_ + kAlphabet + 1) {
      units_.resize(used_ + used_ / 2 + kAlphabet + 1);
    }
    return base;
  }

  std::vector<Entry> entries_;
  std::vector<Unit> units_;
  std::vector<Child> children_;
  std::size_t first_free_ = 1;
  std::size_t used_ = 1;  // all units from here on are free
};

DoubleArray DoubleArray::Build(std::vector<Entry> entries) {
  DoubleArray trie;
  trie.units_ = Builder(std::move(entries)).Run();
  return trie;
}

std::int32_t DoubleArray::Find(std::string_view key) const {
  Node node = Root();
  for (const char byte : key) {
    if (!Step(node, byte)) return -1;
  }
  return ValueAt(node);
}

namespace {

Fault InconsistentVocabulary(const std::string& cause) {
  return {FaultKind::kInconsistent, cause,
          "take the vocabulary that belongs to the model's weights"};
}

std::string Quoted(std::string_view token) {
  std::string quoted(1, '"');
  quoted += token.substr(0, 80);
  return quoted += '"';
}

}  // namespace

Expected<Vocabulary> Vocabulary::FromList(std::vector<std::string> tokens) {
  if (tokens.empty()) return InconsistentVocabulary("the vocabulary is empty");
  if (tokens.size() > kMaxEntries) {
    return Fault{FaultKind::kTooLarge, "more than a million tokens",
                 "take the vocabulary of a model of ours"};
  }
  std::vector<DoubleArray::Entry> entries;
  entries.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].size() > kMaxTokenBytes) {
      return Fault{FaultKind::kTooLarge,
                   "token " + std::to_string(i) + " is longer than 1024 bytes",
                   "take the vocabulary of a model of ours"};
    }
    if (tokens[i].empty()) continue;
    entries.emplace_back(tokens[i], static_cast<std::int32_t>(i));
  }
  std::sort(entries.begin(), entries.end());
  const auto twice = std::adjacent_find(
      entries.begin(), entries.end(),
      [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != entries.end()) {
    return InconsistentVocabulary("the token " + Quoted(twice->first) +
                                  " stands twice in the vocabulary");
  }
  Vocabulary vocabulary;
  vocabulary.trie_ = DoubleArray::Build(std::move(entries));
  vocabulary.tokens_ = std::move(tokens);
  return vocabulary;
}

Expected<Vocabulary> Vocabulary::FromPairs(
    const std::vector<std::pair<std::string_view, std::int32_t>>& pairs) {
  std::vector<std::string> tokens(pairs.size());
  std::vector<bool> given(pairs.size(), false);
  for (const auto& [token, id] : pairs) {
    const auto at = static_cast<std::size_t>(id);
    if (id < 0 || at >= tokens.size()) {
      return InconsistentVocabulary("the id of " + Quoted(token) +
                                    " leaves a gap: " + std::to_string(id) +
                                    " of " + std::to_string(tokens.size()));
    }
    if (given[at]) {
      return InconsistentVocabulary("the id " + std::to_string(id) +
                                    " is given twice");
    }
    given[at] = true;
    tokens[at] = token;
  }
  return FromList(std::move(tokens));
}

std::optional<MergeTable> MergeTable::Make(std::vector<Merge> merges,
                                           std::size_t vocabulary_size) {
  const auto pair = [](const Merge& m) { return std::pair(m.left, m.right); };
  std::sort(merges.begin(), merges.end(),
            [&](const Merge& a, const Merge& b) { return pair(a) < pair(b); });
  const auto twice = std::adjacent_find(
      merges.begin(), merges.end(),
      [&](const Merge& a, const Merge& b) { return pair(a) == pair(b); });
  if (twice != merges.end()) return std::nullopt;
  MergeTable table;
  table.first_.resize(vocabulary_size + 1, merges.size());
  std::size_t next = 0;
  for (std::size_t left = 0; left < vocabulary_size; ++left) {
    while (next < merges.size() &&
           static_cast<std::size_t>(merges[next].left) < left) {
      ++next;
    }
    table.first_[left] = next;
  }
  table.merges_ = std::move(merges);
  return table;
}

namespace {

// The order for std::push_heap, which keeps the largest in front: here the
// lowest rank, then the leftmost.
bool Later(const Workspace::Merge& a, const Workspace::Merge& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
}

Fault InconsistentBpe(std::string cause) {
  return {FaultKind::kInconsistent, std::move(cause),
          "take merges and vocabulary from the same model"};
}

bool IsPrintable(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

// Bytes that hardly a text has: control characters, and what begins no letter
// or one of planes that are empty. SmolLM2 lacks 21 of them.
bool MayBeMissing(unsigned byte) {
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') ||
         byte == 0xC0 || byte == 0xC1 || byte >= 0xF1;
}

}  // namespace

char32_t ByteBpe::LetterOf(unsigned char byte) {
  if (IsPrintable(byte)) return byte;
  char32_t letter = 0x100;
  for (unsigned before = 0; before < byte; ++before) {
    letter += IsPrintable(before) ? 0 : 1;
  }
  return letter;
}

Expected<ByteBpe> ByteBpe::Make(Vocabulary vocabulary,
                                const std::vector<Pair>& merges,
                                bool whole_words) {
  ByteBpe model;
  model.whole_words_ = whole_words;
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string letter;
    AppendUtf8(LetterOf(static_cast<unsigned char>(byte)), letter);
    model.byte_ids_[byte] = vocabulary.Find(letter);
    if (model.byte_ids_[byte] < 0 && !MayBeMissing(byte)) {
      return InconsistentBpe("the vocabulary has no token for byte " +
                             std::to_string(byte));
    }
  }
  std::vector<MergeTable::Merge> found;
  found.reserve(merges.size());
  for (const auto& [left, right] : merges) {
    const auto rank = static_cast<std::uint32_t>(found.size());
    const std::int32_t a = vocabulary.Find(left);
    const std::int32_t b = vocabulary.Find(right);
    const std::int32_t both =
        vocabulary.Find(std::string(left) + std::string(right));
    if (a < 0 || b < 0 || both < 0) {
      return InconsistentBpe("merge " + std::to_string(rank) +
                             " names what is no token");
    }
    found.push_back({a, b, rank, both});
  }
  std::optional<MergeTable> table = MergeTable::Make(
      std::move(found), static_cast<std::size_t>(vocabulary.size()));
  if (!table) return InconsistentBpe("a merge stands twice");
  model.merges_ = *std::move(table);
  model.vocabulary_ = std::move(vocabulary);
  return model;
}

bool ByteBpe::Propose(Workspace& workspace, std::int32_t left) const {
  const Workspace::Symbol& symbol =
      workspace.symbols[static_cast<std::size_t>(left)];
  if (symbol.after < 0) return false;
  const MergeTable::Merge* entry = merges_.Find(
      symbol.id, workspace.symbols[static_cast<std::size_t>(symbol.after)].id);
  if (entry == nullptr) return false;
  workspace.merges.push_back(
      {entry->rank, static_cast<std::uint32_t>(left), entry->merged});
  return true;
}

void ByteBpe::Merge(Workspace& workspace, const Workspace::Merge& merge) const {
  std::vector<Workspace::Symbol>& symbols = workspace.symbols;
  Workspace::Symbol& left = symbols[merge.at];
  if (left.begin == left.end || left.after < 0) return;
  Workspace::Symbol& right = symbols[static_cast<std::size_t>(left.after)];
  // A proposal may be older than what stands here now.
  const MergeTable::Merge* entry = merges_.Find(left.id, right.id);
  if (entry == nullptr || entry->merged != merge.id) return;
  left.id = merge.id;
  left.end = right.end;
  left.after = right.after;
  right.end = right.begin;
  const auto at = static_cast<std::int32_t>(merge.at);
  if (left.after >= 0)
    symbols[static_cast<std::size_t>(left.after)].before = at;
  for (const std::int32_t pair : {left.before, at}) {
    if (pair < 0 || !Propose(workspace, pair)) continue;
    std::push_heap(workspace.merges.begin(), workspace.merges.end(), Later);
  }
}

void ByteBpe::AppendBytes(std::int32_t id, std::string& text) const {
  constexpr std::size_t kLetters = 0x200;  // all letters lie below
  static const std::vector<int> kBytes = [] {
    std::vector<int> bytes(kLetters, -1);
    for (int byte = 0; byte < 256; ++byte) {
      bytes[LetterOf(static_cast<unsigned char>(byte))] = byte;
    }
    return bytes;
  }();
  const std::string& token = vocabulary_.token(id);
  for (std::size_t at = 0; at < token.size();) {
    const CodePoint letter = DecodeAt(token, at);
    at += letter.bytes;
    const auto value = static_cast<std::size_t>(letter.value);
    if (value >= kLetters || kBytes[value] < 0) continue;
    text += static_cast<char>(kBytes[value]);
  }
}

std::int32_t ByteBpe::TokenOf(std::string_view word) const {
  std::string letters;
  for (const char byte : word) {
    AppendUtf8(LetterOf(static_cast<unsigned char>(byte)), letters);
  }
  return vocabulary_.Find(letters);
}

void ByteBpe::Tokenize(std::string_view word, Workspace& workspace,
                       std::vector<Piece>& pieces) const {
  if (whole_words_) {
    const std::int32_t id = TokenOf(word);
    if (id >= 0) {
      pieces.push_back({id, 0, static_cast<std::uint32_t>(word.size())});
      return;
    }
  }
  std::vector<Workspace::Symbol>& symbols = workspace.symbols;
  symbols.clear();
  for (std::uint32_t at = 0; at < word.size(); ++at) {
    const std::int32_t id = byte_ids_[static_cast<unsigned char>(word[at])];
    if (id < 0) continue;  // it leaves no trace, as in tokenizers
    const auto i = static_cast<std::int32_t>(symbols.size());
    symbols.push_back({id, at, at + 1, i - 1, i + 1});
  }
  if (symbols.empty()) return;
  symbols.back().after = -1;
  const auto count = static_cast<std::int32_t>(symbols.size());
  workspace.merges.clear();
  for (std::int32_t i = 0; i < count; ++i) Propose(workspace, i);
  std::make_heap(workspace.merges.begin(), workspace.merges.end(), Later);
  while (!workspace.merges.empty()) {
    std::pop_heap(workspace.merges.begin(), workspace.merges.end(), Later);
    const Workspace::Merge next = workspace.merges.back();
    workspace.merges.pop_back();
    Merge(workspace, next);
  }
  for (const Workspace::Symbol& symbol : symbols) {
    if (symbol.begin != symbol.end) {
      pieces.push_back({symbol.id, symbol.begin, symbol.end});
    }
  }
}

std::optional<std::int32_t> ByteBpe::IdOf(std::string_view token) const {
  const std::int32_t id = vocabulary_.Find(token);
  if (id < 0) return std::nullopt;
  return id;
}

Expected<WordPiece> WordPiece::Make(Vocabulary vocabulary,
                                    const WordPieceOptions& options) {
  WordPiece model;
  model.unknown_ = vocabulary.Find(options.unknown);
  if (model.unknown_ < 0) {
    return Fault{FaultKind::kInconsistent,
                 "the vocabulary lacks the token for unknown words",
                 "name a token of the vocabulary as unk_token"};
  }
  std::vector<DoubleArray::Entry> continuations;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view token = vocabulary.token(id);
    if (token.size() > options.continuation.size() &&
        token.starts_with(options.continuation)) {
      continuations.emplace_back(token.substr(options.continuation.size()), id);
    }
  }
  model.continuations_ = DoubleArray::Build(std::move(continuations));
  model.max_characters_ = options.max_characters;
  model.vocabulary_ = std::move(vocabulary);
  return model;
}

void WordPiece::Tokenize(std::string_view word, Workspace&,
                         std::vector<Piece>& pieces) const {
  const std::size_t before = pieces.size();
  const bool too_long =
      word.size() > max_characters_ && CountCodePoints(word) > max_characters_;
  std::size_t begin = too_long ? word.size() : 0;
  while (begin < word.size()) {
    const DoubleArray& trie = begin == 0 ? vocabulary_.trie() : continuations_;
    DoubleArray::Node node = trie.Root();
    Piece longest{-1, static_cast<std::uint32_t>(begin), 0};
    for (std::size_t i = begin; i < word.size() && trie.Step(node, word[i]);) {
      ++i;
      if (trie.ValueAt(node) < 0) continue;
      longest.id = trie.ValueAt(node);
      longest.end = static_cast<std::uint32_t>(i);
    }
    if (longest.id < 0) break;
    pieces.push_back(longest);
    begin = longest.end;
  }
  if (begin == word.size() && !too_long) return;
  pieces.resize(before);
  pieces.push_back({unknown_, 0, static_cast<std::uint32_t>(word.size())});
}

std::optional<std::int32_t> WordPiece::IdOf(std::string_view token) const {
  const std::int32_t id = vocabulary_.Find(token);
  if (id < 0) return std::nullopt;
  return id;
}

namespace {

// Below the worst token, as SentencePiece has it.
constexpr double kUnknownPenalty = 10.0;
constexpr std::uint32_t kUnreached = 0xFFFFFFFF;

// Strictly better only: the first of equals stays, and so does the reference.
void Offer(Workspace::Best& best, double score, std::size_t begin,
           std::int32_t id) {
  if (best.begin != kUnreached && score <= best.score) return;
  best = {score, static_cast<std::uint32_t>(begin), id};
}

}  // namespace

Expected<Unigram> Unigram::Make(Vocabulary vocabulary,
                                std::vector<double> scores,
                                std::int32_t unknown) {
  if (unknown < 0 || unknown >= vocabulary.size() ||
      scores.size() != static_cast<std::size_t>(vocabulary.size())) {
    return Fault{FaultKind::kInconsistent,
                 "unk_id is no token of the vocabulary",
                 "take the tokenizer.json that belongs to the model"};
  }
  Unigram model;
  model.unknown_ = unknown;
  model.unknown_score_ =
      *std::min_element(scores.begin(), scores.end()) - kUnknownPenalty;
  model.scores_ = std::move(scores);
  model.vocabulary_ = std::move(vocabulary);
  return model;
}

// best[i]: the best path to byte i, and the token that ends there.
void Unigram::Search(std::string_view word,
                     std::vector<Workspace::Best>& best) const {
  best.assign(word.size() + 1, {0.0, kUnreached, -1});
  const DoubleArray& trie = vocabulary_.trie();
  for (std::size_t begin = 0; begin < word.size();) {
    const double here = best[begin].score;
    const std::size_t width = DecodeAt(word, begin).bytes;
    bool covered = false;
    DoubleArray::Node node = trie.Root();
    for (std::size_t i = begin; i < word.size() && trie.Step(node, word[i]);) {
      ++i;
      const std::int32_t id = trie.ValueAt(node);
      if (id < 0) continue;
      Offer(best[i], scores_[static_cast<std::size_t>(id)] + here, begin, id);
      covered |= i == begin + width;
    }
    if (!covered) {
      Offer(best[begin + width], unknown_score_ + here, begin, unknown_);
    }
    begin += width;
  }
}

void Unigram::Tokenize(std::string_view word, Workspace& workspace,
                       std::vector<Piece>& pieces) const {
  Search(word, workspace.best);
  const std::size_t first = pieces.size();
  for (std::size_t end = word.size(); end > 0;) {
    const Workspace::Best& step = workspace.best[end];
    const bool fuse = step.id == unknown_ && pieces.size() > first &&
                      pieces.back().id == unknown_;
    if (fuse) {
      pieces.back().begin = step.begin;
    } else {
      pieces.push_back({step.id, step.begin, static_cast<std::uint32_t>(end)});
    }
    end = step.begin;
  }
  std::reverse(pieces.begin() + static_cast<std::ptrdiff_t>(first),
               pieces.end());
}

std::optional<std::int32_t> Unigram::IdOf(std::string_view token) const {
  const std::int32_t id = vocabulary_.Find(token);
  if (id < 0) return std::nullopt;
  return id;
}

}  // namespace frostline::trainer
