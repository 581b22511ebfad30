// SPDX-License-Identifier: Apache-2.0
//
// File: merge_table.h
//
// Says which two tokens merge, how early, and into what. Sorting, unlike
// hashing, lets no contrived list of merges make a look-up slow.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_MERGE_TABLE_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_MERGE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace frostline::trainer {

class MergeTable {
 public:
  struct Merge {
    std::int32_t left;
    std::int32_t right;
    std::uint32_t rank;
    std::int32_t merged;
  };

  // Returns nothing when a pair stands twice.
  static std::optional<MergeTable> Make(std::vector<Merge> merges,
                                        std::size_t vocabulary_size);

  // Returns null when these two ids of the vocabulary never merge.
  const Merge* Find(std::int32_t left, std::int32_t right) const {
    std::size_t begin = first_[static_cast<std::size_t>(left)];
    std::size_t end = first_[static_cast<std::size_t>(left) + 1];
    while (begin < end) {
      const std::size_t middle = (begin + end) / 2;
      const Merge& merge = merges_[middle];
      if (merge.right == right) return &merge;
      if (merge.right < right) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return nullptr;
  }

 private:
  std::vector<Merge> merges_;       // by left, then right
  std::vector<std::size_t> first_;  // of each left; one more at the end
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_MERGE_TABLE_H_
