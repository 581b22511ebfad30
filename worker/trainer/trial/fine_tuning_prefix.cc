// SPDX-License-Identifier: Apache-2.0
//
// The frozen prefix: what takes its place, and what that saves.
#include <string>
#include <utility>

#include "worker/trainer/freeze/flops.h"
#include "worker/trainer/prefix/group_key.h"
#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {
namespace {

// Embeddings alone are computed faster than they are read.
constexpr std::int64_t kFewestBlocks = 2;

// Frozen adapters add zeros, which only make a -0 a 0.
std::string TextOf(const LoraSpec& lora) {
  if (!lora.any()) return "";
  std::string text = std::to_string(lora.rank);
  for (const LoraPart part : lora.parts) {
    text += " " + std::to_string(static_cast<int>(part));
  }
  return text;
}

}  // namespace

bool FineTuning::TrainsFromBoundaries() const {
  if (!boundaries_) return false;
  const ModelConfig& config = model_->config();
  return settings_.freeze.prefix_dropout == PrefixDropout::kOff ||
         (config.hidden_dropout == 0.0 && config.attention_dropout == 0.0);
}

Expected<Done> FineTuning::MakeBoundaries() {
  if (boundaries_) prefix_before_ += boundaries_->counts();
  boundaries_.reset();
  const std::int64_t blocks = stepper_->plan().frozen_blocks;
  if (blocks < kFewestBlocks) return Done{};
  const GroupParts parts = {
      .weights_sha256 = setup_.pretrained->sha256,
      .config_json = setup_.pretrained->loaded.config_json,
      .adapters = TextOf(model_->config().lora),
      .blocks = blocks,
      .first_token = ReadsFirstToken(model_->config(), setup_.head) &&
                     blocks > model_->config().layers,
      .precision = precision_,
      .noise = ""};
  const std::string about = trial_.model.id + ", embeddings and " +
                            std::to_string(blocks - 1) + " of " +
                            std::to_string(model_->config().layers) +
                            " layers, " + std::string(NameOf(precision_));
  PrefixWork work;
  work.seconds = environment_.seconds;
  work.stop =
      StopSign([this] { return listener_.stop() != StopReason::kNone; });
  work.told = [this](std::size_t done, std::size_t all) {
    shown_ = environment_.seconds();
    listener_.Log("frozen layers: " + std::to_string(done) + " of " +
                  std::to_string(all) + " texts");
  };
  work.log = [this](const std::string& line) { listener_.Log(line); };
  boundaries_.emplace(*model_, blocks, precision_, environment_.prefixes,
                      GroupName{GroupKeyOf(parts, environment_.kernels), about},
                      std::move(work));
  if (!TrainsFromBoundaries()) return Done{};
  const Expected<Done> prepared = boundaries_->Prepare(*setup_.train);
  if (prepared.ok()) CountFill();
  return prepared;
}

Expected<Done> FineTuning::GiveBoundary(const TokenStore& tokens,
                                        const BatchMaker& maker, Batch& batch) {
  Expected<at::Tensor> boundary =
      boundaries_->Of(tokens, maker.rows(), batch.ids.size(1));
  if (!boundary.ok()) return boundary.fault();
  batch.boundary = std::move(boundary).value();  // [B, N, H] or [B, 1, H]
  return Done{};
}

// Texts of a batch cost the same, each shape is counted once for a plan.
FineTuning::Flops FineTuning::FlopsOf(std::int64_t texts, std::int64_t tokens) {
  const std::pair shape(texts, tokens);
  if (const auto known = flops_.find(shape); known != flops_.end()) {
    return known->second;
  }
  const FreezePlan& plan = stepper_->plan();
  const StepFlops step =
      CountFlops(model_->config(), model_->head().spec(), plan, texts, tokens);
  Flops flops = {step.spent(), step.skipped(), 0.0};
  for (std::size_t i = 0; std::cmp_less(i, plan.frozen_blocks); ++i) {
    flops.prefix += step.modules[i].forward;
  }
  return flops_.emplace(shape, flops).first->second;
}

void FineTuning::CountFlopsOf(const Batch& batch) {
  const Flops flops = FlopsOf(batch.ids.size(0), batch.ids.size(1));
  const double shared = batch.boundary.defined() ? flops.prefix : 0.0;
  progress_.flops_spent += flops.spent - shared;
  progress_.flops_skipped += flops.skipped;
  progress_.flops_shared += shared;
}

// Texts whose boundary was computed on the way to a step.
void FineTuning::CountFill() {
  for (const auto& [tokens, texts] : boundaries_->TakeComputed()) {
    progress_.flops_spent +=
        static_cast<double>(texts) *
        FlopsOf(1, static_cast<std::int64_t>(tokens)).prefix;
  }
}

}  // namespace frostline::trainer
