// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/audit.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "worker/trainer/freeze/apply_plan.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/train/optimizer.h"

namespace frostline::trainer {
namespace {

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
constexpr std::size_t kLanes = 4;
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 26;  // copied at once

// A sum over bits in four lanes, because one waits for its own product. Each
// step is a bijection of the lane, so that no single change is lost.
class BitSum {
 public:
  void Add(const char* bytes, std::size_t size) {
    std::size_t at = 0;
    for (; at + kLanes * 8 <= size; at += kLanes * 8) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        Take(lane, bytes + at + lane * 8, 8);
      }
    }
    for (; at < size; at += 8) {
      Take(0, bytes + at, std::min<std::size_t>(8, size - at));
    }
  }

  std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : lanes_) {
      sum = (sum ^ lane ^ (lane >> 32U)) * kOdd;
    }
    return sum;
  }

 private:
  void Take(std::size_t lane, const char* bytes, std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, size);
    const std::uint64_t mixed = (lanes_[lane] ^ word) * kOdd;
    lanes_[lane] = (mixed << 29U) | (mixed >> 35U);
  }

  std::array<std::uint64_t, kLanes> lanes_ = {1, 2, 3, 4};
};

std::string ShownRate(double rate) {
  std::array<char, 32> text = {};
  std::snprintf(text.data(), text.size(), "%g", rate);
  return text.data();
}

// What is added up of a module.
struct Sums {
  ModuleAudit row;
  double change = 0.0;  // squared
  double size = 0.0;    // squared, before training
  double size_now = 0.0;
  std::int64_t trained = 0;
  bool stays_changed = false;  // what must not move did
  bool changed = false;        // a bit of what trains
  std::string tied_to;  // a weight that trains and is one of this module's
};

double SquaredNorm(const at::Tensor& tensor) {
  const double norm = at::linalg_vector_norm(tensor).item<double>();
  return norm * norm;
}

// Returns a tensor as [heads, all else], for one that is sliced by heads.
at::Tensor ByHead(const at::Tensor& tensor, HeadAxis axis, std::int64_t heads) {
  const bool rows = axis != HeadAxis::kColumns;
  const std::int64_t times = axis == HeadAxis::kThreeRows ? 3 : 1;
  const at::Tensor turned =
      rows || tensor.dim() < 2 ? tensor : tensor.transpose(0, 1);
  const std::int64_t width = turned.size(0) / (times * heads);
  return turned.contiguous()
      .view({times, heads, width, -1})
      .transpose(0, 1)
      .reshape({heads, -1});
}

std::string HeadModule(const ParameterSpec& spec, std::int64_t head) {
  return "layer." + std::to_string(spec.layer) + ".head." +
         std::to_string(head);
}

// Adds up the modules of a model, weight by weight.
class Adder {
 public:
  explicit Adder(const AuditedTraining& training) : training_(training) {
    for (const TrainedTensor& each : training.stepper.optimizer().tensors()) {
      moving_.emplace(each.name, &each);
    }
  }

  void Add(std::size_t i, const std::optional<std::uint64_t>& sum_before) {
    const Weight& weight = training_.stepper.model().weights()[i];
    const ParameterPlan& plan = training_.plan.parameters[i];
    // One that is tied is counted with the first that has it.
    const auto [first, is_first] =
        seen_.try_emplace(weight.value.const_data_ptr(),
                          DecidingModule(weight.spec, training_.rates));
    if (!is_first) {
      if (plan.trains()) SumsOf(first->second).tied_to = weight.spec.name;
      return;
    }
    const at::Tensor now = weight.value.detach();
    const at::Tensor before = training_.before.weights()[i].value.detach();
    if (!plan.head_rates.empty()) return AddHeads(weight, plan, now, before);
    Sums& sums = SumsOf(DecidingModule(weight.spec, training_.rates));
    Count(weight, plan, now.numel(), sums);
    sums.row.rate = std::max(sums.row.rate, plan.rate);
    sums.size += SquaredNorm(before);
    if (!plan.trains()) {
      sums.stays_changed |= SumOfBits(now) != sum_before;
      return;
    }
    sums.size_now += SquaredNorm(now);
    sums.trained += now.numel();
    Compare(now, before, true, sums);
  }

  FreezeAudit Finish(const StepBound& bound, double factors) {
    FreezeAudit audit;
    for (const std::string& module : order_) {
      Sums& sums = sums_.at(module);
      const auto count = static_cast<double>(sums.row.weights);
      const double scale =
          sums.size > 0.0 ? std::sqrt(sums.size) : std::sqrt(count);
      if (sums.changed || sums.stays_changed) {
        sums.row.moved = std::max(std::sqrt(sums.change) / scale,
                                  std::numeric_limits<double>::min());
      }
      if (sums.row.rate > 0.0 && sums.trained > 0) {
        const auto trained = static_cast<double>(sums.trained);
        sums.row.could_move =
            sums.row.rate * factors *
            (bound.each * std::sqrt(trained) + bound.together +
             bound.decay * std::sqrt(std::max(sums.size, sums.size_now))) /
            scale;
      }
      // One that trained earlier has no moments any more.
      sums.row.had_gradient |= sums.changed;
      Judge(sums, training_.waiting.contains(module), audit);
      audit.modules.push_back(sums.row);
    }
    return audit;
  }

 private:
  Sums& SumsOf(const std::string& module) {
    const auto [at, is_new] = sums_.try_emplace(module);
    if (is_new) {
      at->second.row.module = module;
      order_.push_back(module);
    }
    return at->second;
  }

  void AddHeads(const Weight& weight, const ParameterPlan& plan,
                const at::Tensor& now, const at::Tensor& before) {
    const auto heads = static_cast<std::int64_t>(plan.head_rates.size());
    const at::Tensor now_by = ByHead(now, weight.spec.head_axis, heads);
    const at::Tensor before_by = ByHead(before, weight.spec.head_axis, heads);
    for (std::int64_t head = 0; head < heads; ++head) {
      Sums& sums = SumsOf(HeadModule(weight.spec, head));
      const double rate = plan.head_rates[static_cast<std::size_t>(head)];
      Count(weight, plan, now.numel() / heads, sums);
      sums.row.rate = std::max(sums.row.rate, rate);
      sums.size += SquaredNorm(before_by[head]);
      sums.size_now += SquaredNorm(now_by[head]);
      if (rate > 0.0) sums.trained += now.numel() / heads;
      Compare(now_by[head], before_by[head], rate > 0.0, sums);
    }
  }

  void Count(const Weight& weight, const ParameterPlan& plan,
             std::int64_t numbers, Sums& sums) const {
    const std::int64_t bytes =
        numbers * static_cast<std::int64_t>(weight.value.element_size());
    sums.row.weights += numbers;
    sums.row.weight_bytes += bytes;
    if (plan.needs_gradient) sums.row.gradient_bytes += bytes;
    const auto moving = moving_.find(weight.spec.name);
    if (moving == moving_.end()) return;
    sums.row.had_gradient |= moving->second->steps > 0;
    for (const at::Tensor* moment :
         {&moving->second->first, &moving->second->second}) {
      if (!moment->defined()) continue;
      sums.row.moment_bytes += static_cast<std::int64_t>(moment->nbytes()) *
                               numbers / weight.value.numel();
    }
  }

  static void Compare(const at::Tensor& now, const at::Tensor& before,
                      bool trains, Sums& sums) {
    // As whole numbers: no NaN and no sign of a zero is lost.
    if (at::equal(now.view(at::kInt), before.view(at::kInt))) return;
    sums.change += SquaredNorm(now - before);
    (trains ? sums.changed : sums.stays_changed) = true;
  }

  static void Judge(const Sums& sums, bool waits, FreezeAudit& audit) {
    const ModuleAudit& row = sums.row;
    if (sums.stays_changed) {
      audit.wrong.push_back(
          row.rate > 0.0
              ? "weights of " + row.module + " that do not train moved"
              : row.module + " is frozen and moved" +
                    (sums.tied_to.empty() ? ""
                                          : ": " + sums.tied_to +
                                                ", which trains, is tied "
                                                "to it"));
    } else if (row.rate > 0.0 && sums.trained > 0 && !sums.changed && !waits) {
      audit.odd.push_back(
          row.module + " should have moved at rate " + ShownRate(row.rate) +
          " and did not: it " +
          (row.had_gradient ? "had gradients" : "never had a gradient"));
    }
  }

  const AuditedTraining& training_;
  std::map<std::string, const TrainedTensor*> moving_;
  std::map<const void*, std::string> seen_;  // and its module
  std::map<std::string, Sums> sums_;
  std::vector<std::string> order_;
};

// Adds the bytes of each block to the first row of its module, or of the first
// part of it that has a row.
void AddActivations(const std::vector<std::int64_t>& bytes,
                    std::vector<ModuleAudit>& rows) {
  if (bytes.empty()) return;
  const auto add = [&rows](const std::string& module, std::int64_t amount) {
    for (ModuleAudit& row : rows) {
      if (row.module != module && !row.module.starts_with(module + ".")) {
        continue;
      }
      row.activation_bytes += amount;
      return;
    }
  };
  add("embeddings", bytes.front());
  for (std::size_t i = 1; i + 1 < bytes.size(); ++i) {
    add("layer." + std::to_string(i - 1), bytes[i]);
  }
  add("head", bytes.back());
}

// The bytes that this thread's tensors take, above what they took when it was
// made.
class LiveBytes : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*ptr*/, std::int64_t size,
                         std::size_t /*allocated*/, std::size_t /*reserved*/,
                         c10::Device /*device*/) override {
    bytes_ += size;
  }
  bool memoryProfilingEnabled() const override { return true; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};

}  // namespace

std::uint64_t SumOfBits(const at::Tensor& tensor) {
  BitSum sum;
  const at::Tensor flat = tensor.detach().contiguous().view({-1});
  const std::int64_t piece =
      kPieceBytes / static_cast<std::int64_t>(flat.element_size());
  for (std::int64_t at = 0; at < flat.numel(); at += piece) {
    const at::Tensor here =
        flat.narrow(0, at, std::min(piece, flat.numel() - at)).cpu();
    sum.Add(static_cast<const char*>(here.const_data_ptr()), here.nbytes());
  }
  return sum.sum();
}

FreezeAuditor::FreezeAuditor(const Model& model,
                             const std::vector<bool>& trains, WeightSums known)
    : model_(model), sums_(std::move(known)) {
  sums_.resize(model.weights().size());
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (trains[i] || sums_[i]) continue;
    sums_[i] = SumOfBits(model.weights()[i].value);
  }
}

FreezeAudit FreezeAuditor::Audit(const AuditedTraining& training) const {
  Adder adder(training);
  for (std::size_t i = 0; i < model_.weights().size(); ++i) {
    adder.Add(i, sums_[i]);
  }
  const StepOptions& options = training.stepper.options();
  const Expected<StepBound> bound =
      LongestStep(options.optimizer, options.clip_norm);
  double factors = 0.0;
  for (std::int64_t step = 0; step < training.stepper.steps(); ++step) {
    factors += options.schedule.FactorAt(step);
  }
  // Without a bound nobody can say how far a rate could move anything.
  FreezeAudit audit = adder.Finish(bound.ok() ? bound.value() : StepBound{},
                                   bound.ok() ? factors : 0.0);
  AddActivations(training.activations, audit.modules);
  return audit;
}

Expected<std::vector<std::int64_t>> MeasureActivations(const Stepper& stepper,
                                                       const Batch& batch) {
  return CatchTorch([&]() -> Expected<std::vector<std::int64_t>> {
    const Model& model = stepper.model();
    const Autocast autocast(stepper.options().precision, model.device());
    const Batch here = stepper.OnDevice(batch);
    Pass pass = TrainingPass(stepper.plan());
    pass.first_token = ReadsFirstToken(model.config(), model.heads());
    const TransformerEncoder& encoder = model.encoder();
    std::vector<std::int64_t> kept;
    const auto live = std::make_shared<LiveBytes>();
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, live);
    std::int64_t before = 0;
    const auto note = [&] {
      kept.push_back(std::max<std::int64_t>(0, live->bytes() - before));
      before = live->bytes();
    };
    at::Tensor hidden = here.boundary;  // [B, N, H] or [B, 1, H]
    for (std::int64_t block = 0; block <= model.config().layers; ++block) {
      if (block >= pass.frozen_blocks || !here.boundary.defined()) {
        const at::AutoGradMode graph(block >= pass.frozen_blocks);
        hidden = encoder.Run(hidden, here, pass, block, block + 1);
      }
      note();
    }
    const at::Tensor logits = model.head(here.task).Logits(hidden, here, pass);
    note();
    return kept;
  });
}

}  // namespace frostline::trainer
