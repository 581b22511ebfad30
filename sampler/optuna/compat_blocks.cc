// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_blocks.h"

#include <algorithm>
#include <utility>

namespace frostline::sampler {
namespace {

// Splits `block` into what the trial has and what it has not; either may be
// empty.
std::pair<CompatBlock, CompatBlock> SplitBlock(const CompatBlock& block,
                                               const CompatRow& trial) {
  std::pair<CompatBlock, CompatBlock> parts;
  for (const std::size_t i : block) {
    (IsAbsent(trial[i]) ? parts.second : parts.first).push_back(i);
  }
  return parts;
}

void DropSingles(const CompatSpace& space, std::vector<CompatBlock>& blocks) {
  for (CompatBlock& block : blocks) {
    std::erase_if(block, [&space](std::size_t i) {
      return space.parameters()[i].is_single;
    });
  }
  std::erase_if(blocks, [](const CompatBlock& block) { return block.empty(); });
}

}  // namespace

std::vector<CompatBlock> CommonBlock(
    const CompatSpace& space, const std::vector<const CompatRow*>& trials) {
  if (trials.empty()) return {};
  CompatBlock common = space.by_name();
  for (const CompatRow* const trial : trials) {
    std::erase_if(common,
                  [trial](std::size_t i) { return IsAbsent((*trial)[i]); });
  }
  std::vector<CompatBlock> blocks = {std::move(common)};
  DropSingles(space, blocks);
  return blocks;
}

std::vector<CompatBlock> GroupedBlocks(
    const CompatSpace& space, const std::vector<const CompatRow*>& trials) {
  // The order of the blocks is part of the result: each draws from the stream
  // in its turn. A block that a trial splits leaves its parts where it was,
  // what the trial has first; parameters never seen before come last.
  std::vector<CompatBlock> blocks;
  CompatBlock unseen = space.by_name();
  for (const CompatRow* const trial : trials) {
    std::vector<CompatBlock> next;
    for (const CompatBlock& block : blocks) {
      auto [had, other] = SplitBlock(block, *trial);
      if (!had.empty()) next.push_back(std::move(had));
      if (!other.empty()) next.push_back(std::move(other));
    }
    auto [fresh, rest] = SplitBlock(unseen, *trial);
    if (!fresh.empty()) next.push_back(std::move(fresh));
    unseen = std::move(rest);
    blocks = std::move(next);
  }
  DropSingles(space, blocks);
  return blocks;
}

}  // namespace frostline::sampler
