// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/vocabulary.h"

#include <algorithm>
#include <cstddef>

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

}  // namespace frostline::trainer
