// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/dropout.h"

#include <ATen/ops/bitwise_right_shift.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "worker/trainer/model/noise.h"

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

namespace {

// Numbers that one thread takes at least, a multiple of kNoiseBlock.
constexpr std::size_t kGrain = std::size_t{1} << 14;

std::uint64_t NumberOf(const DropSite& site) {
  return static_cast<std::uint64_t>(site.layer + 1) << 8 |
         static_cast<std::uint64_t>(site.turn);
}

// The texts of a tensor and of its batch.
struct Texts {
  std::vector<std::uint64_t> keys;
  std::vector<TextShape> shapes;
  bool padded = false;
};

Texts TextsOf(const at::Tensor& x, const Batch& batch, const DropSite& site) {
  const std::int64_t count = x.size(0);
  const auto size = [&](std::int64_t from_end) {
    return x.dim() > from_end
               ? static_cast<std::size_t>(x.size(x.dim() - from_end))
               : 1;
  };
  const TextShape whole = {size(3), size(2), size(1), size(2), size(1)};
  const auto* noise = batch.noise.const_data_ptr<std::int64_t>();
  const std::int64_t* lengths =
      batch.lengths.defined() && x.dim() > 2
          ? batch.lengths.const_data_ptr<std::int64_t>()
          : nullptr;
  Texts texts;
  for (std::int64_t i = 0; i < count; ++i) {
    TextShape shape = whole;
    if (lengths != nullptr) {
      const auto tokens = static_cast<std::size_t>(lengths[i]);
      shape.own_rows = std::min(shape.rows, tokens);
      if (site.shares) shape.own_columns = std::min(shape.columns, tokens);
      texts.padded = texts.padded || shape.own() < shape.all();
    }
    texts.keys.push_back(
        PlaceNoise(static_cast<std::uint64_t>(noise[i]), NumberOf(site)));
    texts.shapes.push_back(shape);
  }
  return texts;
}

template <typename T>
void DropTexts(const Drop& like, const Texts& texts, const at::Tensor& x,
               const at::Tensor& y, std::uint8_t* kept) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;  // text, first
  for (std::size_t i = 0; i < texts.shapes.size(); ++i) {
    for (std::size_t at = 0; at < texts.shapes[i].own(); at += kGrain) {
      parts.emplace_back(i, at);
    }
  }
  const auto* from = static_cast<const T*>(x.const_data_ptr());
  auto* to = static_cast<T*>(y.mutable_data_ptr());
  const auto drop_part = [&](const std::pair<std::size_t, std::size_t>& part) {
    const auto [text, first] = part;
    const TextShape& shape = texts.shapes[text];
    const std::size_t begin = text * shape.all();
    Drop drop = like;
    drop.key = texts.keys[text];
    DropNumbers(drop, shape, first, std::min(shape.own() - first, kGrain),
                from + begin, to + begin,
                kept == nullptr ? nullptr : kept + begin);
  };
  at::parallel_for(0, static_cast<std::int64_t>(parts.size()), 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       drop_part(parts[static_cast<std::size_t>(i)]);
                     }
                   });
}

template <typename T>
void ScaleTensor(const at::Tensor& kept, float scale, const at::Tensor& x,
                 const at::Tensor& y) {
  const auto* marks = kept.const_data_ptr<std::uint8_t>();
  const auto* from = static_cast<const T*>(x.const_data_ptr());
  auto* to = static_cast<T*>(y.mutable_data_ptr());
  at::parallel_for(0, x.numel(), static_cast<std::int64_t>(kGrain),
                   [&](std::int64_t begin, std::int64_t end) {
                     ScaleKept(marks + begin, scale,
                               static_cast<std::size_t>(end - begin),
                               from + begin, to + begin);
                   });
}

// What lies in padding is not written.
at::Tensor Room(const at::Tensor& like, const at::TensorOptions& options,
                const Texts& texts) {
  return texts.padded ? at::zeros(like.sizes(), options)
                      : at::empty(like.sizes(), options);
}

// `kept`, when defined, receives which numbers stayed.
at::Tensor Dropped(const Drop& drop, const Texts& texts, const at::Tensor& x,
                   const at::Tensor& kept) {
  const at::Tensor y = Room(x, x.options(), texts);
  std::uint8_t* marks =
      kept.defined() ? kept.mutable_data_ptr<std::uint8_t>() : nullptr;
  if (x.scalar_type() == at::kFloat) {
    DropTexts<float>(drop, texts, x, y, marks);
  } else {
    DropTexts<std::uint16_t>(drop, texts, x, y, marks);
  }
  return y;
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class DropoutWithGraph : public torch::autograd::Function<DropoutWithGraph> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const Drop& drop, const Texts& texts) {
    const at::Tensor kept = Room(x, x.options().dtype(at::kByte), texts);
    context->save_for_backward({kept});
    context->saved_data["scale"] = static_cast<double>(drop.scale);
    return Dropped(drop, texts, x.contiguous(), kept);
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
    return {y, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor Dropout(const at::Tensor& x, double share, const Batch& batch,
                   const DropSite& site) {
  if (share == 0.0) return x;
  TORCH_CHECK(batch.noise.defined() && batch.noise.size(0) == x.size(0),
              "a batch to train on has no noise for its texts");
  const double kept = 1.0 - share;
  const bool known =
      x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16;
  if (!x.is_cpu() || !known)
    return DropByOperators(x, kept, batch, NumberOf(site), site.shares);
  constexpr double kAll = 4294967296.0;
  Drop drop;
  drop.threshold =
      static_cast<std::uint32_t>(std::min(std::round(kept * kAll), kAll - 1.0));
  drop.scale = static_cast<float>(1.0 / kept);
  const Texts texts = TextsOf(x, batch, site);
  if (at::GradMode::is_enabled() && x.requires_grad()) {
    return DropoutWithGraph::apply(x, drop, texts);
  }
  return Dropped(drop, texts, x.contiguous(), {});
}

}  // namespace frostline::trainer
