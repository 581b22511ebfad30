// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/row_noise.h"

#include "worker/trainer/model/noise.h"

namespace frostline::trainer {

at::Tensor NoiseOfRows(const TokenStore& tokens,
                       std::span<const std::uint32_t> rows,
                       const RowNoise& noise) {
  at::Tensor drawn =
      at::empty({static_cast<std::int64_t>(rows.size())}, at::kLong);  // [B]
  auto* out = drawn.mutable_data_ptr<std::int64_t>();
  for (const std::uint32_t row : rows) {
    const RowKey key = tokens.drawer(row);
    *out++ = static_cast<std::int64_t>(
        TextNoise(noise.seed, noise.epoch, key.high ^ key.low));
  }
  return drawn;
}

}  // namespace frostline::trainer
