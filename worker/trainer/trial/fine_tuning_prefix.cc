// SPDX-License-Identifier: Apache-2.0
//
// The frozen prefix: what takes its place.
#include <string>
#include <utility>

#include "worker/trainer/prefix/boundary_maker.h"
#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {
namespace {

// Embeddings alone are computed faster than they are read.
constexpr std::int64_t kFewestBlocks = 2;

// Frozen adapters add zeros, which only make a -0 a 0.
std::string TextOf(const ModelConfig& config) {
  const LoraSpec& lora = config.lora;
  if (config.bottleneck.any()) {
    return "bottleneck " + std::to_string(config.bottleneck.size);
  }
  if (!lora.any()) return "";
  std::string text = std::to_string(lora.rank);
  for (const LoraPart part : lora.parts) {
    text += " " + std::to_string(static_cast<int>(part));
  }
  return text;
}

}  // namespace

// Whether a frozen prefix gives other numbers in each epoch.
bool FineTuning::PrefixDrops() const {
  const ModelConfig& config = model_->config();
  return settings_.freeze.prefix_dropout == PrefixDropout::kHf &&
         (config.hidden_dropout > 0.0 || config.attention_dropout > 0.0);
}

// Noise that no other trial sees is of no use to any, and DeBERTa's is not of a
// text alone: it drops distances, for all texts of a batch.
bool FineTuning::TrainsFromBoundaries() const {
  if (!boundaries_ || !PrefixDrops()) return boundaries_.has_value();
  return settings_.seed != 0 && !setup_.many() &&
         model_->config().family != Family::kDebertaV3;
}

GroupName FineTuning::GroupOf(std::int64_t blocks,
                              const std::optional<RowNoise>& noise) const {
  const ModelConfig& config = model_->config();
  GroupParts parts = {.weights_sha256 = setup_.pretrained->sha256,
                      .config_json = setup_.pretrained->loaded.config_json,
                      .adapters = TextOf(config),
                      .blocks = blocks,
                      .first_token = ReadsFirstToken(config, setup_.heads()) &&
                                     blocks > config.layers,
                      .precision = precision_,
                      .noise = ""};
  std::string about = trial_.model.id + ", embeddings and " +
                      std::to_string(blocks - 1) + " of " +
                      std::to_string(config.layers) + " layers, " +
                      std::string(NameOf(precision_));
  if (noise) {
    const std::string epoch = std::to_string(noise->epoch);
    parts.noise = std::to_string(noise->seed) + " " + epoch + " " +
                  std::to_string(config.hidden_dropout) + " " +
                  std::to_string(config.attention_dropout);
    about += ", dropout of epoch " + std::to_string(noise->epoch + 1) +
             ", seed " + std::to_string(trial_.seed);
  }
  return {GroupKeyOf(parts, environment_.kernels), about};
}

SizesByLength* FineTuning::KnownOf(std::int64_t blocks) const {
  if (environment_.size_book == nullptr) return nullptr;
  GroupParts shapes;
  shapes.config_json = setup_.pretrained->loaded.config_json;
  shapes.adapters = TextOf(model_->config());
  shapes.first_token = ReadsFirstToken(model_->config(), setup_.heads()) &&
                       blocks > model_->config().layers;
  shapes.precision = precision_;
  return &(*environment_.size_book)[GroupKeyOf(shapes, environment_.kernels)];
}

PrefixWork FineTuning::WorkOfPrefix() {
  PrefixWork work;
  work.seconds = environment_.seconds;
  work.stop =
      StopSign([this] { return listener_.stop() != StopReason::kNone; });
  work.told = [this](std::size_t done, std::size_t all) {
    Enter(TrialPhase::kFilling);
    shown_ = environment_.seconds();
    listener_.Log("frozen layers: " + std::to_string(done) + " of " +
                  std::to_string(all) + " texts");
  };
  work.log = [this](const std::string& line) { listener_.Log(line); };
  return work;
}

void FineTuning::Open(std::optional<Boundaries>& boundaries,
                      const PrefixStore* store,
                      const std::optional<RowNoise>& noise) {
  Close(boundaries);
  BoundarySpec wanted;
  wanted.blocks = stepper_->plan().frozen_blocks;
  wanted.group = GroupOf(wanted.blocks, noise);
  wanted.noise = noise;
  wanted.known = KnownOf(wanted.blocks);
  wanted.resident = environment_.resident;
  for (std::int64_t blocks = wanted.blocks - 1; blocks >= kFewestBlocks;
       --blocks) {
    wanted.lower.push_back({blocks, GroupOf(blocks, noise)});
  }
  boundaries.emplace(*model_, precision_, store, wanted, WorkOfPrefix());
}

void FineTuning::Close(std::optional<Boundaries>& boundaries) {
  if (boundaries) prefix_before_ += boundaries->counts();
  boundaries.reset();
}

Expected<Done> FineTuning::MakeBoundaries() {
  Close(boundaries_);
  Close(noisy_);
  if (stepper_->plan().frozen_blocks < kFewestBlocks) return Done{};
  Open(boundaries_, environment_.prefixes, {});
  if (!TrainsFromBoundaries() || PrefixDrops()) return Done{};
  Enter(TrialPhase::kFilling);
  for (const TaskSetup& task : setup_.tasks) {
    const Expected<Done> prepared = boundaries_->Prepare(*task.train);
    if (!prepared.ok()) return prepared;
    CountFill(*boundaries_);
  }
  return Done{};
}

// Each epoch's numbers are kept where those of all epochs fit.
const PrefixStore* FineTuning::StoreOfNoise() const {
  if (environment_.prefixes == nullptr) return nullptr;
  const ModelConfig& config = model_->config();
  const bool one_token = ReadsFirstToken(config, setup_.heads()) &&
                         stepper_->plan().frozen_blocks > config.layers;
  const TokenStore& train = *setup_.tasks[0].train;
  const std::size_t tokens = one_token ? train.size() : train.token_total();
  const std::uint64_t bytes =
      tokens * static_cast<std::uint64_t>(config.hidden) * sizeof(float);
  const auto epochs = static_cast<std::uint64_t>(
      settings_.max_steps > 0 ? (total_steps_ + StepsOf(0) - 1) / StepsOf(0)
                              : settings_.epochs);
  const bool fits = epochs * bytes <= environment_.prefixes->most_bytes();
  if (!fits && progress_.position.all.epoch == 0) {
    listener_.Log("the dropout of " + std::to_string(epochs) +
                  " epochs is not kept: it takes " +
                  std::to_string(epochs * bytes) +
                  " bytes, and the prefix store may hold " +
                  std::to_string(environment_.prefixes->most_bytes()));
  }
  return fits ? environment_.prefixes : nullptr;
}

Expected<Done> FineTuning::MakeNoisy(std::uint64_t epoch) {
  if (noisy_ && noisy_epoch_ == epoch) return Done{};
  Open(noisy_, StoreOfNoise(), RowNoise{noise_seed_, epoch});
  noisy_epoch_ = epoch;
  return noisy_->Prepare(*setup_.tasks[0].train);
}

// Gives the boundary of the batch that the maker made last.
Expected<Done> FineTuning::GiveTrainingBoundary(const BatchMaker& maker,
                                                Batch& batch) {
  if (!PrefixDrops()) {
    const Expected<Done> given = GiveBoundary(*boundaries_, maker, batch);
    CountFill(*boundaries_);
    return given;
  }
  Expected<Done> done = MakeNoisy(batches_->position().all.epoch);
  if (!done.ok()) return done;
  if (!noisy_->Has(maker.tokens(), maker.rows())) {
    std::vector<std::uint32_t> next(maker.rows().begin(), maker.rows().end());
    for (const RowBatch& rows : batches_->Rest()) {
      const std::vector<std::uint32_t> more =
          maker.RowsOf(Labelled(maker, rows));
      next.insert(next.end(), more.begin(), more.end());
    }
    done = noisy_->Foresee(maker.tokens(), next);
    if (!done.ok()) return done;
  }
  CountFill(*noisy_);
  return GiveBoundary(*noisy_, maker, batch);
}

Expected<Done> FineTuning::GiveBoundary(Boundaries& boundaries,
                                        const BatchMaker& maker, Batch& batch) {
  ASSIGN_OR_FAULT(
      at::Tensor boundary,
      boundaries.Of(maker.tokens(), maker.rows(), batch.ids.size(1)));
  batch.boundary = std::move(boundary);  // [B, N, H] or [B, 1, H]
  return Done{};
}

}  // namespace frostline::trainer
