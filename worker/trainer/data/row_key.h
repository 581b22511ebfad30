// SPDX-License-Identifier: Apache-2.0
//
// File: row_key.h
//
// Tells one text from another as a model reads it: half of the SHA-256 of its
// token ids and types. The same text has the same key in every split, subset
// and data set, so that what was computed for it once serves all of them.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_ROW_KEY_H_
#define FROSTLINE_WORKER_TRAINER_DATA_ROW_KEY_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace frostline::trainer {

struct RowKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

struct RowKeyHash {
  std::size_t operator()(const RowKey& key) const { return key.low; }
};

// `types` are as many as `ids`.
RowKey RowKeyOf(std::span<const std::int32_t> ids,
                std::span<const std::uint8_t> types);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_ROW_KEY_H_
