// SPDX-License-Identifier: Apache-2.0
//
// File: resident_rows.h
//
// Boundaries that stay on the device of the model, so that a batch of them is
// gathered there and not read, copied and sent again in each epoch and trial.
// The rows of a group (prefix_group.h) lie unpadded behind each other in one
// tensor [T, H], whose first is zeros; a batch is one selection:
//
//   place(i, j) = begin(i) + j, or 0 behind the end of text i
//   batch = rows[place]                 [B * N, H], seen as [B, N, H]
//
//   texts of 2 and 1 tokens, N = 2: places 1 2 | 3 0
//
// Numbers are copied and never computed, so that a batch has the bits that the
// store would have given. On a processor they are where the store's pages are.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_RESIDENT_ROWS_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_RESIDENT_ROWS_H_

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "worker/trainer/data/row_key.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

struct ResidentRow {
  RowKey key;
  std::int64_t tokens = 0;  // of its boundary
};

// One thread uses it. It throws what LibTorch throws, and holds then what it
// held before.
class ResidentRows {
 public:
  // Holds at most so many bytes, those included that a group takes twice while
  // it grows.
  ResidentRows(at::Device device, std::uint64_t most_bytes)
      : device_(device), most_bytes_(most_bytes) {}

  bool Has(const std::string& group, const RowKey& key) const;

  // [B, `width`, H] on the device. Rows that it does not have are zeros.
  // REQUIRES: it has one of them.
  at::Tensor Gather(const std::string& group, std::span<const ResidentRow> rows,
                    std::int64_t width);

  // Takes up those of `boundary`, [B, N, H], that it does not have, as far as
  // there is room. Groups that were not used for longest make it.
  void Keep(const std::string& group, std::span<const ResidentRow> rows,
            const at::Tensor& boundary);

  // Memory is short, or the weights have gone.
  void Clear();

  std::uint64_t bytes() const;
  std::int64_t gathered() const { return gathered_; }  // rows so far

 private:
  struct Group {
    at::Tensor rows;        // [capacity, H]
    std::int64_t used = 1;  // the first is zeros
    std::int64_t last_use = 0;
    std::unordered_map<RowKey, std::int64_t, RowKeyHash> begins;
  };

  // Makes it hold so many rows in all, where there is room.
  void Grow(Group& group, const std::string& name, std::int64_t wanted,
            std::int64_t hidden);
  // Drops others until so many bytes more are free.
  bool MakeRoom(const std::string& but, std::uint64_t bytes);

  at::Device device_;
  std::uint64_t most_bytes_;
  std::int64_t uses_ = 0;
  std::int64_t gathered_ = 0;
  std::unordered_map<std::string, Group> groups_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_RESIDENT_ROWS_H_
