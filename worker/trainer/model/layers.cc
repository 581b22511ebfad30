// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/layers.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/bitwise_right_shift.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/where.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/model/noise.h"
#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {
namespace {

Fault BadBatch(FaultKind kind, const std::string& cause) {
  return {kind, "a batch " + cause,
          "use the tokenizer that belongs to the model, and a max_length that "
          "it can hold"};
}

// Returns whether all numbers of a tensor, which is not empty, lie in [0, end).
bool Within(const at::Tensor& ids, std::int64_t end) {
  return ids.min().item<std::int64_t>() >= 0 &&
         ids.max().item<std::int64_t>() < end;
}

Expected<Done> CheckLabels(const Batch& batch, const ModelConfig& config,
                           const HeadSpec& head) {
  const at::Tensor& labels = batch.labels;
  const bool classes = head.task != Task::kRegression;
  if (labels.scalar_type() != (classes ? at::kLong : at::kFloat)) {
    return BadBatch(FaultKind::kMisuse, "has labels of the wrong type");
  }
  const std::int64_t texts = batch.ids.size(0);
  const bool fits =
      LabelsTokens(head.task)
          ? labels.sizes() == batch.ids.sizes()
          : labels.dim() == 1 &&
                labels.size(0) == (head.apart() ? texts / 2 : texts);
  if (!fits) return BadBatch(FaultKind::kMisuse, "has too few or many labels");
  if (!classes) return Done{};
  const at::Tensor known = labels.masked_fill(labels.eq(-100), 0);
  const std::int64_t end =
      head.task == Task::kAnswers ? config.vocabulary : head.outputs;
  if (Within(known, end)) return Done{};
  return BadBatch(
      FaultKind::kInconsistent,
      "has a label outside of the " + std::to_string(end) + " classes");
}

}  // namespace

Batch MoveTo(const Batch& batch, at::Device device) {
  const auto moved = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.device() == device) return tensor;
    const bool late = tensor.is_cpu() && !device.is_cpu();
    return (late ? tensor.pin_memory() : tensor)
        .to(device, tensor.scalar_type(), /*non_blocking=*/late);
  };
  at::Tensor boundary = moved(batch.boundary);
  if (boundary.defined()) boundary = boundary.to(at::kFloat);  // [B, N, H]
  return {moved(batch.ids),     moved(batch.mask),   moved(batch.types),
          moved(batch.labels),  std::move(boundary), moved(batch.noise),
          moved(batch.lengths), batch.task};
}

Batch PadTo(std::int64_t tokens, const Batch& batch,
            const ModelConfig& config) {
  const std::int64_t width = batch.ids.size(1);
  const std::int64_t wide = (width + tokens - 1) / tokens * tokens;
  if (wide == width || wide > config.longest_text()) return batch;
  const auto padded = [&](const at::Tensor& tensor, std::int64_t value) {
    // Pads [B, N] and [B, N, H]; labels of whole texts stay as they are.
    if (!tensor.defined() || tensor.dim() < 2 || tensor.size(1) != width) {
      return tensor;
    }
    std::vector<std::int64_t> pad = {0, wide - width};
    if (tensor.dim() == 3) pad.insert(pad.begin(), {0, 0});
    return at::constant_pad_nd(tensor, pad, value);
  };
  return {padded(batch.ids, config.pad_id),
          padded(batch.mask, 0),
          padded(batch.types, 0),
          padded(batch.labels, kIgnoredLabel),
          padded(batch.boundary, 0),
          batch.noise,
          batch.lengths.defined()
              ? batch.lengths
              : at::full({batch.ids.size(0)}, width, batch.ids.options()),
          batch.task};
}

Expected<Done> CheckBatch(const Batch& batch, const ModelConfig& config,
                          const HeadSpec& head) {
  const at::Tensor& ids = batch.ids;
  if (ids.dim() != 2 || ids.numel() == 0 || ids.scalar_type() != at::kLong ||
      batch.mask.sizes() != ids.sizes() ||
      (batch.types.defined() && batch.types.sizes() != ids.sizes()) ||
      (head.apart() && ids.size(0) % 2 != 0)) {
    return BadBatch(FaultKind::kMisuse, "has tensors that do not fit together");
  }
  if (ids.size(1) > config.longest_text()) {
    return BadBatch(FaultKind::kInconsistent,
                    "has texts of " + std::to_string(ids.size(1)) +
                        " tokens; the model holds " +
                        std::to_string(config.longest_text()));
  }
  if (!Within(ids, config.vocabulary)) {
    return BadBatch(FaultKind::kInconsistent,
                    "has an id outside of the vocabulary of " +
                        std::to_string(config.vocabulary));
  }
  if (batch.types.defined() && config.types > 0 &&
      !Within(batch.types, config.types)) {
    return BadBatch(FaultKind::kInconsistent,
                    "has a token type that the model lacks");
  }
  if (!batch.labels.defined()) return Done{};
  return CheckLabels(batch, config, head);
}

namespace {

constexpr auto kGamma = static_cast<std::int64_t>(0x9E3779B97F4A7C15U);
constexpr auto kFirst = static_cast<std::int64_t>(0xBF58476D1CE4E5B9U);
constexpr auto kSecond = static_cast<std::int64_t>(0x94D049BB133111EBU);

void MixStep(at::Tensor& z, std::int64_t by, std::int64_t factor) {
  const std::int64_t low = (std::int64_t{1} << (64 - by)) - 1;
  z.bitwise_xor_(at::bitwise_right_shift(z, by).bitwise_and_(low));
  z.mul_(factor);
}

// Returns a counter for each number, counted as in TextShape, int64: [1, …] if
// it is the same for all texts, else [B, A, M, N].
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

// The least numbers that one thread takes, a multiple of kNoiseBlock.
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

// Returns a tensor to write to. It is zeroed if there is padding, because
// nothing is written there.
at::Tensor Room(const at::Tensor& like, const at::TensorOptions& options,
                const Texts& texts) {
  return texts.padded ? at::zeros(like.sizes(), options)
                      : at::empty(like.sizes(), options);
}

// Returns x after dropout. `kept`, if defined, receives which numbers stayed.
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

namespace {

constexpr double kNearIdentity = 0.01;  // as Houlsby et al. have it

}  // namespace

WeightsByName::WeightsByName(const std::vector<Weight>& weights) {
  for (const Weight& each : weights)
    values_.emplace(each.spec.name, each.value);
}

const at::Tensor& WeightsByName::Value(const std::string& name) const {
  return values_.at(name);
}

at::Tensor WeightsByName::OptionalValue(const std::string& name) const {
  return Has(name) ? Value(name) : at::Tensor();
}

Linear WeightsByName::LinearOf(const std::string& name) const {
  Linear linear = {Value(name + ".weight"), OptionalValue(name + ".bias")};
  if (Has(LoraANameOf(name))) {
    linear.lora_a = Value(LoraANameOf(name));
    linear.lora_b = Value(LoraBNameOf(name));
  }
  if (Has(DownNameOf(name) + ".weight")) {
    linear.down = Value(DownNameOf(name) + ".weight");
    linear.down_bias = Value(DownNameOf(name) + ".bias");
    linear.up = Value(UpNameOf(name) + ".weight");
    linear.up_bias = Value(UpNameOf(name) + ".bias");
  }
  return linear;
}

Norm WeightsByName::NormOf(const std::string& name) const {
  return {Value(name + ".weight"), OptionalValue(name + ".bias")};
}

std::vector<Weight> MoveTo(const std::vector<Weight>& weights,
                           at::Device device) {
  const at::NoGradGuard no_graph;
  std::vector<Weight> moved;
  for (const Weight& each : weights) {
    moved.push_back({each.spec, each.value.to(device)});
  }
  return moved;
}

at::Tensor DrawWeight(const ParameterSpec& spec, const ModelConfig& config,
                      at::Generator& chance) {
  const at::Tensor value = at::zeros(spec.shape, at::kFloat);
  if (spec.role == Role::kNorm && !spec.norm_bias) value.fill_(1.0);
  if (spec.role == Role::kWeight || spec.role == Role::kEmbedding) {
    value.normal_(0.0, config.initializer_range, chance);
  }
  if (spec.role == Role::kDown) value.normal_(0.0, kNearIdentity, chance);
  if (spec.role == Role::kLoraA) {
    const double most = 1.0 / std::sqrt(static_cast<double>(spec.shape[1]));
    value.uniform_(-most, most, chance);
  }
  return value;
}

namespace {

bool AppliesHalf(const Linear& linear, const at::Tensor& x) {
  return linear.half_weight.defined() &&
         at::autocast::is_autocast_enabled(x.device().type());
}

std::optional<at::Tensor> Given(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

at::Tensor Apply(const Linear& linear, const at::Tensor& x) {
  if (!AppliesHalf(linear, x)) {
    return at::linear(x, linear.weight, Given(linear.bias));  // [..., outputs]
  }
  // A bias that trains has no copy.
  return at::linear(
      x, linear.half_weight,
      Given(linear.half_bias.defined() ? linear.half_bias : linear.bias));
}

bool CanApply(const Linear& linear, const at::Tensor& x) {
  return linear.weight.defined() || AppliesHalf(linear, x);
}

void KeepHalf(Linear& linear, std::optional<at::ScalarType> half) {
  const at::Tensor& kept = linear.half_weight;
  if (half.has_value() && kept.defined() && kept.scalar_type() == *half) return;
  linear.half_weight = linear.half_bias = at::Tensor();
  if (!half.has_value()) return;
  linear.half_weight = linear.weight.to(*half);
  if (linear.bias.defined() && !linear.bias.requires_grad()) {
    linear.half_bias = linear.bias.to(*half);
  }
}

Linear SideBySide(const std::vector<Linear>& maps) {
  const auto join = [&](at::Tensor Linear::* part) {
    std::vector<at::Tensor> parts;
    for (const Linear& each : maps) {
      if ((each.*part).defined()) parts.push_back(each.*part);
    }
    return parts.size() == maps.size() ? at::cat(parts) : at::Tensor();
  };
  Linear joined;
  joined.weight = join(&Linear::weight);
  joined.bias = join(&Linear::bias);
  joined.half_weight = join(&Linear::half_weight);
  joined.half_bias = join(&Linear::half_bias);
  return joined;
}

Linear Rows(const Linear& map, std::int64_t first, std::int64_t count) {
  Linear some;
  for (at::Tensor Linear::* part : {&Linear::weight, &Linear::bias,
                                    &Linear::half_weight, &Linear::half_bias}) {
    if ((map.*part).defined()) some.*part = (map.*part).narrow(0, first, count);
  }
  return some;
}

at::Tensor Normalize(const at::Tensor& x, const Norm& norm,
                     const ModelConfig& config) {
  if (config.decoder) {
    const at::Tensor whole = x.to(at::kFloat);
    const at::Tensor mean = whole.square().mean(-1, /*keepdim=*/true);
    return norm.weight *
           (whole * (mean + config.norm_epsilon).rsqrt());  // [..., H]
  }
  return at::layer_norm(x, {x.size(-1)}, norm.weight, Given(norm.bias),
                        config.norm_epsilon);  // [..., H]
}

at::Tensor Activate(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kTanh:
      return at::tanh(x);
    case Activation::kSilu:
      return at::silu(x);
  }
  return x;
}

bool Trains(const Linear& linear) {
  return linear.weight.requires_grad() ||
         (linear.bias.defined() && linear.bias.requires_grad());
}

namespace {

// Slows turns down as YaRN does (Peng et al., ICLR 2024, arXiv 2309.00071,
// section 3.2): those before place `low` of all D / 2 stay, those from `high`
// on become slower by the factor. Pair i makes L theta^(-2 i / D) / 2 pi turns
// in the L tokens of a text of pretraining.
at::Tensor ScaledByPlace(const at::Tensor& speeds, std::int64_t width,
                         double theta, const RotaryScaling& scaling) {
  const auto length = static_cast<double>(scaling.pretrained_positions);
  const auto place = [&](double turns) {
    return static_cast<double>(width) *
           std::log(length / (turns * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(theta));
  };
  const double low = std::max(std::floor(place(scaling.high_frequency)), 0.0);
  double high = std::min(std::ceil(place(scaling.low_frequency)),
                         static_cast<double>(width - 1));
  if (high == low) high += 0.001;
  const at::Tensor slow =
      ((at::arange(width / 2, speeds.options()) - low) / (high - low))
          .clamp(0.0, 1.0);  // [D / 2]
  return speeds / scaling.factor * slow + speeds * (1.0 - slow);
}

// Slows turns down as Llama 3.1 does. A wave is how many tokens a turn takes.
at::Tensor ScaledByTurns(const at::Tensor& speeds,
                         const RotaryScaling& scaling) {
  const auto length = static_cast<double>(scaling.pretrained_positions);
  const at::Tensor waves = 2.0 * std::numbers::pi / speeds;  // [D / 2]
  const at::Tensor part = (length / waves - scaling.low_frequency) /
                          (scaling.high_frequency - scaling.low_frequency);
  const at::Tensor mixed =
      (1.0 - part) * speeds / scaling.factor + part * speeds;
  const at::Tensor slow = waves.gt(length / scaling.low_frequency);
  const at::Tensor quick = waves.lt(length / scaling.high_frequency);
  return at::where(slow, speeds / scaling.factor,
                   at::where(quick, speeds, mixed));  // [D / 2]
}

}  // namespace

Rotation RotationOf(std::int64_t tokens, std::int64_t width, double theta,
                    const at::TensorOptions& options,
                    const RotaryScaling& scaling) {
  const at::Tensor share = at::arange(0, width, 2, options) / width;  // [D / 2]
  at::Tensor speeds = at::pow(theta, share).reciprocal();
  if (scaling.kind == RotaryScaling::Kind::kLlama3) {
    speeds = ScaledByTurns(speeds, scaling);
  } else if (scaling.kind == RotaryScaling::Kind::kYarn) {
    speeds = ScaledByPlace(speeds, width, theta, scaling);
  }
  const at::Tensor turns = at::outer(at::arange(tokens, options), speeds);
  const at::Tensor both = at::cat({turns, turns}, 1);  // [N, D]
  if (scaling.attention == 1.0) return {both.cos(), both.sin()};
  return {both.cos() * scaling.attention, both.sin() * scaling.attention};
}

at::Tensor Rotate(const at::Tensor& x, const Rotation& rotation) {
  const at::Tensor whole = x.to(at::kFloat);
  const std::vector<at::Tensor> halves = whole.chunk(2, 3);
  const at::Tensor turned = at::cat({halves[1].neg(), halves[0]}, 3);
  const auto some = [&](const at::Tensor& of_all) {
    return of_all.dim() == 2 ? of_all.narrow(0, 0, x.size(2)) : of_all;
  };
  return (whole * some(rotation.cosine) + turned * some(rotation.sine))
      .to(x.scalar_type());  // [B, A, M, D]
}

at::Tensor SplitHeads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads})
      .transpose(1, 2);  // [B, A, N, D]
}

at::Tensor MergeHeads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape(
      {x.size(0), x.size(2), x.size(1) * x.size(3)});  // [B, N, H]
}

at::Tensor AdditiveMask(const at::Tensor& mask) {
  // Half of the lowest number does not become infinite, even if a kernel rounds
  // it, or multiplies it by log2(e) to take powers of two. So a token that sees
  // nothing looks at all alike in every kernel. With infinities a softmax would
  // be no number, or 0. A CPU adds it in fp32.
  const c10::DeviceType device = mask.device().type();
  const bool in_fp16 = !mask.is_cpu() &&
                       at::autocast::is_autocast_enabled(device) &&
                       at::autocast::get_autocast_dtype(device) == at::kHalf;
  const double lowest =
      in_fp16 ? double{std::numeric_limits<at::Half>::lowest()}
              : double{std::numeric_limits<at::BFloat16>::lowest()};
  const at::Tensor added =
      ((1 - mask).to(at::kFloat) * (lowest / 2)).unsqueeze(1);
  return mask.dim() == 2 ? added.unsqueeze(2) : added;  // [B, 1, 1 or N, N]
}

}  // namespace frostline::trainer
