// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/smart.h"

#include <ATen/ops/amax.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "worker/trainer/model/noise.h"

namespace frostline::trainer {
namespace {

// The place of the adversary's noise. No dropout has it (layers.cc counts
// layers and turns from 0).
constexpr std::uint64_t kAdversaryPlace = 0xAD7E25A2;
constexpr double kEarlyMomentum = 0.99;
constexpr double kLateMomentum = 0.999;

// Returns what the blocks from `block` on and the head make of `x`.
at::Tensor LogitsFrom(const Model& model, const at::Tensor& x,
                      const Batch& batch, const Pass& pass,
                      std::int64_t block) {
  const at::Tensor hidden =
      model.encoder().Run(x, batch, pass, block, 1 + model.config().layers);
  return model.head(batch.task).Logits(hidden, batch, pass);
}

// Returns l_s of every example; 0 for tokens without a label.
at::Tensor Distances(const HeadSpec& head, const at::Tensor& left,
                     const at::Tensor& right, const at::Tensor& labels) {
  if (head.task == Task::kRegression) {
    return (left - right).square().flatten();
  }
  const at::Tensor p = at::log_softmax(left.to(at::kFloat), -1);
  const at::Tensor q = at::log_softmax(right.to(at::kFloat), -1);
  // KL(P, Q) + KL(Q, P)
  const at::Tensor each = ((p.exp() - q.exp()) * (p - q)).sum(-1);
  return head.task == Task::kTokens ? each * labels.ne(-100).to(at::kFloat)
                                    : each;
}

at::Tensor MeanOf(const HeadSpec& head, const at::Tensor& distances,
                  const at::Tensor& labels) {
  return head.task == Task::kTokens
             ? distances.sum() / labels.ne(-100).to(at::kFloat).sum()
             : distances.mean();
}

// Returns which texts each turn moves: all, or the two of a pair one after the
// other.
std::vector<at::Tensor> MovedInTurn(int turns, const at::Tensor& x) {
  const at::Tensor all = at::ones({x.size(0), 1, 1}, x.options());
  if (turns == 1) return {all};
  const at::Tensor left = all.clone();
  left.narrow(0, x.size(0) / 2, x.size(0) / 2).fill_(0);
  return {left, all - left};
}

// Draws normal numbers, two from two uniform ones (Box and Muller, 1958).
void FillNormal(std::uint64_t key, std::span<float> numbers) {
  constexpr double kBits = 4294967296.0;  // 2^32
  std::array<std::uint32_t, kNoiseBlock> bits{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t at = i % (kNoiseBlock / 2) * 2;
    if (at == 0) DrawNoise(key, i / (kNoiseBlock / 2), bits);
    const double size = std::sqrt(-2.0 * std::log((bits[at] + 1.0) / kBits));
    const double turn = 2.0 * std::numbers::pi * bits[at + 1] / kBits;
    numbers[i] = static_cast<float>(size * std::cos(turn));
  }
}

// Draws the adversary's starting point. It depends on the text, the epoch and
// the place; padding and the texts beside it change nothing.
at::Tensor DrawBegin(const at::Tensor& x, const Batch& batch) {
  const at::Tensor noise = batch.noise.to(at::kCPU);
  const at::Tensor drawn =
      at::empty(x.sizes(), at::TensorOptions(at::kFloat).device(at::kCPU));
  const std::int64_t each = x.size(1) * x.size(2);
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const auto text =
        static_cast<std::uint64_t>(noise.const_data_ptr<std::int64_t>()[i]);
    FillNormal(PlaceNoise(text, kAdversaryPlace),
               {drawn.mutable_data_ptr<float>() + i * each,
                static_cast<std::size_t>(each)});
  }
  return drawn.to(x.device());
}

}  // namespace

void Smart::Follow(const Model& model, const FreezePlan& plan) {
  if (options_.bregman == 0.0) return;
  const at::NoGradGuard no_graph;
  std::map<std::string, at::Tensor> means;
  std::vector<at::Tensor> tensors;
  values_.clear();
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    const Weight& each = model.weights()[i];
    tensors.push_back(each.value.detach());
    if (!plan.parameters[i].trains()) continue;
    const auto known = means_.find(each.spec.name);
    at::Tensor mean =
        known != means_.end() ? known->second : each.value.detach().clone();
    means.emplace(each.spec.name, mean);
    values_.emplace(each.spec.name, each.value);
    tensors.back() = mean;
  }
  means_ = std::move(means);
  mean_.emplace(model.config(), model.heads(), tensors);
}

void Smart::NoteStep(std::int64_t step, std::int64_t all) {
  const double beta = options_.momentum.value_or(
      10 * step <= all ? kEarlyMomentum : kLateMomentum);
  const at::NoGradGuard no_graph;
  for (auto& [name, mean] : means_) {
    mean.mul_(beta).add_(values_.at(name), 1.0 - beta);
  }
}

// Returns what the adversary adds to `x` (algorithm 1, lines 5 to 9). Only the
// direction of a text's gradient counts, so the texts beside it do not matter.
at::Tensor Smart::Adversary(const Model& model, const at::Tensor& x,
                            const at::Tensor& clean, const at::Tensor& texts,
                            const Batch& batch, const Pass& pass,
                            std::int64_t block, at::Tensor& gradient) const {
  at::Tensor moved =
      options_.begin ? options_.begin(x, batch)
                     : DrawBegin(x, batch) * std::sqrt(options_.noise_variance);
  // Padding and texts of another turn do not move.
  const at::Tensor there =
      texts * batch.mask.narrow(1, 0, x.size(1)).unsqueeze(2).to(at::kFloat);
  moved = moved * there;
  for (std::int64_t i = 0; i < options_.steps; ++i) {
    moved = moved.detach().set_requires_grad(true);
    const at::Tensor logits = LogitsFrom(model, x + moved, batch, pass, block);
    const at::Tensor loss =
        Distances(model.head(batch.task).spec(), clean, logits, batch.labels)
            .sum();
    const std::vector<at::Tensor> inputs = {moved};  // and no weight
    loss.backward({}, std::nullopt, false, at::TensorList(inputs));
    const at::Tensor g = moved.grad();
    const at::Tensor size = at::amax(g.abs(), {1, 2}, true);  // [B, 1, 1]
    gradient = gradient + size.sum();
    const at::Tensor direction =
        at::where(size.eq(0), at::zeros_like(g), g / size) * there;
    const at::NoGradGuard no_graph;
    moved = (moved + direction * options_.step_size)
                .clamp(-options_.radius, options_.radius);
  }
  return moved.detach();
}

SmartTerms Smart::TermsOf(const Model& model, const Batch& batch,
                          const Pass& pass) const {
  const HeadSpec& head = model.head(batch.task).spec();
  Pass own = pass;
  own.first_token = ReadsFirstToken(model.config(), model.heads());
  const std::int64_t frozen = pass.frozen_blocks;
  const std::int64_t block =
      options_.at_boundary ? std::max<std::int64_t>(1, frozen) : 1;
  at::Tensor x;
  SmartTerms terms;
  if (block == frozen) {
    x = batch.boundary.defined() ? batch.boundary
                                 : model.encoder().Prefix(batch, own);
  } else if (frozen == 0) {
    x = model.encoder().Run({}, batch, own, 0, 1);
  } else {  // the whole text is moved below what the clean pass begins with
    const at::NoGradGuard no_graph;
    x = model.encoder().Run({}, batch, own, 0, 1);
  }
  terms.logits = block == frozen || frozen == 0
                     ? LogitsFrom(model, x, batch, own, block)
                     : model.Forward(batch, pass);
  const at::Tensor clean = terms.logits.detach();
  at::Tensor gradient = at::zeros({}, x.options().dtype(at::kFloat));
  at::Tensor smooth = gradient;
  const std::vector<at::Tensor> turns =
      MovedInTurn(options_.TurnsOf(head), x.detach());
  for (const at::Tensor& texts : turns) {
    const at::Tensor moved =
        Adversary(model, x.detach(), clean, texts, batch, own, block, gradient);
    const at::Tensor logits = LogitsFrom(model, x + moved, batch, own, block);
    smooth = smooth +
             MeanOf(head, Distances(head, logits, terms.logits, batch.labels),
                    batch.labels);
  }
  terms.added = smooth * (options_.weight / static_cast<double>(turns.size()));
  if (mean_) {
    const at::Tensor before = [&] {
      const at::NoGradGuard no_graph;
      return mean_->Forward(batch, pass);
    }();
    terms.added =
        terms.added +
        MeanOf(head, Distances(head, terms.logits, before, batch.labels),
               batch.labels) *
            options_.bregman;
  }
  // If the clean pass is already no number, the adversary is not to blame.
  terms.gradient = at::where(at::isfinite(clean).all(), gradient.detach(),
                             at::zeros_like(gradient));
  return terms;
}

namespace {

// Sums a member over the modules from `from` to before `to`: blocks, and
// perhaps the head.
template <typename Member>
double SumOf(const StepFlops& step, std::int64_t from, std::int64_t to,
             Member member) {
  double sum = 0.0;
  for (std::size_t i = 0; i < step.modules.size(); ++i) {
    if (std::cmp_less(i, from) || std::cmp_greater_equal(i, to)) continue;
    sum += step.modules[i].*member;
  }
  return sum;
}

}  // namespace

SmartFlops CountSmart(const SmartOptions& smart, const ModelConfig& config,
                      const Heads& heads, std::int64_t frozen_blocks,
                      const StepFlops& step, std::int64_t texts,
                      std::int64_t tokens, std::size_t task) {
  SmartFlops flops;
  if (!smart.any()) return flops;
  const std::int64_t moved =
      smart.at_boundary ? std::max<std::int64_t>(1, frozen_blocks) : 1;
  const auto all = static_cast<std::int64_t>(step.modules.size());
  const double turns = smart.TurnsOf(heads[task]);
  const StepFlops adversary =
      CountInputFlops(config, heads, moved, texts, tokens, task);
  flops.spent += turns * static_cast<double>(smart.steps) * adversary.spent() +
                 turns * (SumOf(step, moved, all, &ModuleFlops::forward) +
                          SumOf(step, moved, all, &ModuleFlops::backward));
  flops.skipped = turns * SumOf(step, moved, all, &ModuleFlops::skipped);
  // The clean pass begins higher, or takes a boundary, so the embeddings are
  // computed once more.
  if (moved < frozen_blocks) {
    flops.spent += SumOf(step, 0, 1, &ModuleFlops::forward);
  }
  if (smart.bregman > 0.0) {
    flops.spent += step.forward();
    flops.prefix = SumOf(step, 0, frozen_blocks, &ModuleFlops::forward);
  }
  return flops;
}

}  // namespace frostline::trainer
