// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/late_numbers.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace frostline::trainer {

LateNumbers::LateNumbers(const at::Tensor& numbers) : here_(numbers) {
  if (numbers.is_cpu()) return;
  // Into pinned memory, or the copy would wait for the GPU.
  here_ = at::empty(numbers.sizes(), at::TensorOptions(numbers.scalar_type())
                                         .device(at::kCPU)
                                         .pinned_memory(true));
  here_.copy_(numbers, /*non_blocking=*/true);
  const at::Device device = numbers.device();
  const c10::impl::VirtualGuardImpl guard(device.type());
  arrived_.emplace(device.type());
  arrived_->record(guard.getStream(device));
}

std::vector<double> LateNumbers::Read() const {
  if (arrived_) arrived_->synchronize();
  const double* first = here_.const_data_ptr<double>();
  return {first, first + here_.numel()};
}

}  // namespace frostline::trainer
