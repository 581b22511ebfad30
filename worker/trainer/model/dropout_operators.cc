// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/dropout_operators.h"

#include <ATen/ops/bitwise_right_shift.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace frostline::trainer {
namespace {

constexpr auto kGamma = static_cast<std::int64_t>(0x9E3779B97F4A7C15U);
constexpr auto kFirst = static_cast<std::int64_t>(0xBF58476D1CE4E5B9U);
constexpr auto kSecond = static_cast<std::int64_t>(0x94D049BB133111EBU);

void MixStep(at::Tensor& z, std::int64_t by, std::int64_t factor) {
  const std::int64_t low = (std::int64_t{1} << (64 - by)) - 1;
  z.bitwise_xor_(at::bitwise_right_shift(z, by).bitwise_and_(low));
  z.mul_(factor);
}

// Numbers of texts count as in TextShape. [B, 1] or [B, A, M, N], int64.
at::Tensor Counters(const at::Tensor& x, const Batch& batch, bool shares) {
  const auto whole = batch.noise.options();
  if (!shares || !batch.lengths.defined()) {
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes[0] = 1;
    return at::arange(x.numel() / x.size(0), whole).view(sizes);
  }
  const std::int64_t rows = x.size(2);
  const at::Tensor tokens = batch.lengths.view({-1, 1, 1});  // [B, 1, 1]
  const at::Tensor own_rows = tokens.clamp_max(rows);        // [B, 1, 1]
  const at::Tensor lines =
      at::arange(x.size(1), whole).view({1, -1, 1}) * own_rows +
      at::arange(rows, whole);  // [B, A, M]
  return (lines * tokens).unsqueeze(3) +
         at::arange(x.size(3), whole);  // [B, A, M, N]
}

}  // namespace

at::Tensor DropByOperators(const at::Tensor& x, double kept, const Batch& batch,
                           std::uint64_t place, bool shares) {
  std::vector<std::int64_t> texts(static_cast<std::size_t>(x.dim()), 1);
  texts[0] = -1;
  at::Tensor keys = batch.noise + static_cast<std::int64_t>(
                                      (place + 1) * 0x9E3779B97F4A7C15U);
  MixStep(keys, 30, kFirst);
  MixStep(keys, 27, kSecond);
  at::Tensor z = Counters(x, batch, shares) * kGamma + keys.view(texts);
  MixStep(z, 30, kFirst);
  MixStep(z, 27, kSecond);
  const double most = std::round(std::ldexp(kept - 0.5, 64));
  const at::Tensor mask =
      z.lt(static_cast<std::int64_t>(std::min(most, 0x1.fffffffffffffp+62)));
  return (x * mask).div_(kept);  // bf16 has no number near 1/0.9
}

}  // namespace frostline::trainer
