// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/dropout.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "worker/trainer/model/noise.h"

namespace frostline::trainer {
namespace {

// Numbers that one thread takes at least, a multiple of kNoiseBlock.
constexpr std::int64_t kGrain = 1 << 14;

// Calls work(first, count) for parts that begin at a block of noise.
template <typename Work>
void ForParts(std::int64_t numbers, const Work& work) {
  const std::int64_t parts = (numbers + kGrain - 1) / kGrain;
  at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kGrain;
    work(first, std::min(numbers, end * kGrain) - first);
  });
}

template <typename T>
void DropTensor(const Drop& drop, const at::Tensor& x, const at::Tensor& y,
                std::uint8_t* kept) {
  const auto* from = static_cast<const T*>(x.const_data_ptr());
  auto* to = static_cast<T*>(y.mutable_data_ptr());
  ForParts(x.numel(), [&](std::int64_t first, std::int64_t n) {
    DropNumbers(drop, static_cast<std::uint64_t>(first),
                static_cast<std::size_t>(n), from + first, to + first,
                kept == nullptr ? nullptr : kept + first);
  });
}

template <typename T>
void ScaleTensor(const at::Tensor& kept, float scale, const at::Tensor& x,
                 const at::Tensor& y) {
  const auto* marks = kept.const_data_ptr<std::uint8_t>();
  const auto* from = static_cast<const T*>(x.const_data_ptr());
  auto* to = static_cast<T*>(y.mutable_data_ptr());
  ForParts(x.numel(), [&](std::int64_t first, std::int64_t n) {
    ScaleKept(marks + first, scale, static_cast<std::size_t>(n), from + first,
              to + first);
  });
}

// `kept`, when defined, receives which numbers stayed.
at::Tensor Dropped(const Drop& drop, const at::Tensor& x,
                   const at::Tensor& kept) {
  const at::Tensor y = at::empty(x.sizes(), x.options());
  std::uint8_t* marks =
      kept.defined() ? kept.mutable_data_ptr<std::uint8_t>() : nullptr;
  if (x.scalar_type() == at::kFloat) {
    DropTensor<float>(drop, x, y, marks);
  } else {
    DropTensor<std::uint16_t>(drop, x, y, marks);
  }
  return y;
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class DropoutWithGraph : public torch::autograd::Function<DropoutWithGraph> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const Drop& drop) {
    const at::Tensor kept = at::empty(x.sizes(), x.options().dtype(at::kByte));
    context->save_for_backward({kept});
    context->saved_data["scale"] = static_cast<double>(drop.scale);
    return Dropped(drop, x.contiguous(), kept);
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const at::Tensor kept = context->get_saved_variables()[0];
    const auto scale =
        static_cast<float>(context->saved_data["scale"].toDouble());
    const at::Tensor x = gradients[0].contiguous();
    const at::Tensor y = at::empty(x.sizes(), x.options());
    if (x.scalar_type() == at::kFloat) {
      ScaleTensor<float>(kept, scale, x, y);
    } else {
      ScaleTensor<std::uint16_t>(kept, scale, x, y);
    }
    return {y, at::Tensor()};
  }
};

// As LibTorch's own operators do it, for devices and types without a loop here.
at::Tensor DropByOperators(const at::Tensor& x, double kept,
                           const at::Generator& chance) {
  const at::Tensor mask = at::empty_like(x).bernoulli_(kept, chance);
  // bf16 has no number near 1/0.9: there the product is divided, in fp32.
  if (x.scalar_type() != at::kFloat) return (x * mask).div_(kept);
  return x * mask.div_(kept);
}

}  // namespace

at::Tensor Dropout(const at::Tensor& x, double share, at::Generator* chance) {
  if (share == 0.0) return x;
  const double kept = 1.0 - share;
  const bool known =
      x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16;
  if (!x.is_cpu() || !known) return DropByOperators(x, kept, *chance);
  constexpr double kAll = 4294967296.0;
  Drop drop;
  drop.key = at::check_generator<at::CPUGeneratorImpl>(*chance)->random64();
  drop.threshold =
      static_cast<std::uint32_t>(std::min(std::round(kept * kAll), kAll - 1.0));
  drop.scale = static_cast<float>(1.0 / kept);
  if (at::GradMode::is_enabled() && x.requires_grad()) {
    return DropoutWithGraph::apply(x, drop);
  }
  return Dropped(drop, x.contiguous(), {});
}

}  // namespace frostline::trainer
