// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/speed.h"

#include <ATen/ops/mm.h>

#include <algorithm>

#include "worker/trainer/device/autocast.h"

namespace frostline::trainer {

double MeasureGflops(const Device& device, Precision precision,
                     std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  constexpr double kPerGiga = 1e9;
  // Enough to keep every core or multiprocessor busy, and no more than a
  // second where there is no BLAS at all.
  const std::int64_t size = device.is_cpu() ? 1024 : 4096;
  const at::ScalarType dtype = HalfOf(precision).value_or(at::kFloat);
  const at::NoGradGuard no_graph;
  const at::Tensor factor =
      at::ones({size, size}, at::TensorOptions(device.torch()).dtype(dtype));
  const double operations = 2.0 * static_cast<double>(size) *
                            static_cast<double>(size) *
                            static_cast<double>(size);
  at::mm(factor, factor);  // starts threads, chooses kernels
  device.Synchronize();
  double best = 0.0;
  const Clock::time_point end = Clock::now() + time;
  do {
    const Clock::time_point start = Clock::now();
    at::mm(factor, factor);
    device.Synchronize();
    const std::chrono::duration<double> seconds = Clock::now() - start;
    best = std::max(best, operations / seconds.count() / kPerGiga);
  } while (Clock::now() < end);
  return best;
}

}  // namespace frostline::trainer
