// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "base/plain/text.h"
#include "worker/trainer/text/byte_bpe.h"

namespace frostline::trainer {
namespace {

// Of std::push_heap, which keeps the largest in front: the lowest rank, then
// the leftmost.
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
                                const std::vector<Pair>& merges) {
  ByteBpe model;
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string letter;
    AppendUtf8(LetterOf(static_cast<unsigned char>(byte)), letter);
    model.byte_ids_[byte] = vocabulary.Find(letter);
    if (model.byte_ids_[byte] < 0) {
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

void ByteBpe::Tokenize(std::string_view word, Workspace& workspace,
                       std::vector<Piece>& pieces) const {
  std::vector<Workspace::Symbol>& symbols = workspace.symbols;
  symbols.clear();
  const auto count = static_cast<std::int32_t>(word.size());
  for (std::int32_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint32_t>(i);
    const auto byte = static_cast<unsigned char>(word[at]);
    symbols.push_back(
        {byte_ids_[byte], at, at + 1, i - 1, i + 1 < count ? i + 1 : -1});
  }
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

}  // namespace frostline::trainer
