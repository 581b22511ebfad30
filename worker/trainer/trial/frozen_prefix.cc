// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/frozen_prefix.h"

#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/prefix/boundary_maker.h"

namespace frostline::trainer {
namespace {

// The fewest frozen blocks to replace: embeddings alone are computed faster
// than they are read.
constexpr std::int64_t kFewestBlocks = 2;

// Returns the adapters of so many leading blocks for a group's key. Frozen ones
// add only zeros, but that turns a -0 into a 0, so bits may differ. Layers of
// rank 0 have none: their numbers are those of any study that freezes them.
std::string AdaptersOf(const ModelConfig& config, std::int64_t blocks) {
  const LoraSpec& lora = config.lora;
  if (config.bottleneck.any()) {
    return "bottleneck " + std::to_string(config.bottleneck.size);
  }
  if (!lora.any()) return "";
  std::string parts;
  for (const LoraPart part : lora.parts) {
    parts += " " + std::to_string(static_cast<int>(part));
  }
  if (lora.ranks.empty()) return std::to_string(lora.rank) + parts;
  std::string text;
  for (std::int64_t layer = 0; layer + 1 < blocks; ++layer) {
    for (const LoraPart part : lora.parts) {
      const std::int64_t rank = lora.RankOf(part, layer);
      if (rank == 0) continue;
      text += " " + std::to_string(layer) + ":" + std::to_string(rank) + "@" +
              std::to_string(static_cast<int>(part));
    }
  }
  return text;
}

// Gives the boundary of the batch that the maker made last.
Expected<Done> GiveBoundary(Boundaries& boundaries, const BatchMaker& maker,
                            Batch& batch) {
  ASSIGN_OR_FAULT(
      at::Tensor boundary,
      boundaries.Of(maker.tokens(), maker.rows(), batch.ids.size(1)));
  batch.boundary = std::move(boundary);  // [B, N, H] or [B, 1, H]
  return Done{};
}

}  // namespace

FrozenPrefix::FrozenPrefix(const TrialMessage& trial, const TrialSetup& setup,
                           const TrialEnvironment& environment,
                           const Course& course, const TrainedModel& trained,
                           FlopsCounter& flops, Pace& pace)
    : trial_(trial),
      setup_(setup),
      environment_(environment),
      course_(course),
      trained_(trained),
      flops_(flops),
      pace_(pace) {}

Expected<Done> FrozenPrefix::Follow() {
  Close(boundaries_);
  Close(noisy_);
  if (trained_.PretrainedBlocks() < kFewestBlocks) return Done{};
  Open(boundaries_, environment_.prefixes, {});
  if (!Trains() || Drops()) return Done{};
  pace_.Enter(TrialPhase::kFilling);
  for (const TaskSetup& task : setup_.tasks) {
    RETURN_IF_FAULT(boundaries_->Prepare(*task.train));
    flops_.AddFill(*boundaries_);
  }
  return Done{};
}

Expected<Done> FrozenPrefix::GiveTraining(const BatchMaker& maker,
                                          const TaskBatches& batches,
                                          Batch& batch) {
  if (!Trains()) return Done{};
  if (!Drops()) {
    const Expected<Done> given = GiveBoundary(*boundaries_, maker, batch);
    flops_.AddFill(*boundaries_);
    return given;
  }
  RETURN_IF_FAULT(MakeNoisy(batches.position().all.epoch));
  if (!noisy_->Has(maker.tokens(), maker.rows())) {
    std::vector<std::uint32_t> next(maker.rows().begin(), maker.rows().end());
    for (const RowBatch& rows : batches.Rest()) {
      const std::vector<std::uint32_t> more =
          maker.RowsOf(maker.Labelled(rows));
      next.insert(next.end(), more.begin(), more.end());
    }
    RETURN_IF_FAULT(noisy_->Foresee(maker.tokens(), next));
  }
  flops_.AddFill(*noisy_);
  return GiveBoundary(*noisy_, maker, batch);
}

Expected<Done> FrozenPrefix::Prepare(const TokenStore& tokens) {
  return boundaries_ ? boundaries_->Prepare(tokens) : Done{};
}

Expected<Done> FrozenPrefix::Give(const BatchMaker& maker, Batch& batch) {
  return boundaries_ ? GiveBoundary(*boundaries_, maker, batch) : Done{};
}

void FrozenPrefix::EndEvaluation() {
  if (boundaries_) boundaries_->TakeComputed();
}

PrefixCounts FrozenPrefix::counts() const {
  PrefixCounts counts = before_;
  if (boundaries_) counts += boundaries_->counts();
  if (noisy_) counts += noisy_->counts();
  return counts;
}

// Returns whether frozen layers give other numbers in each epoch.
bool FrozenPrefix::Drops() const {
  const ModelConfig& config = trained_.model().config();
  return trial_.training.freeze.prefix_dropout == PrefixDropout::kHf &&
         (config.hidden_dropout > 0.0 || config.attention_dropout > 0.0);
}

// Returns whether steps take boundaries, too. With dropout they do so only if
// other trials draw the same noise. DeBERTa never does: it drops distances for
// all texts of a batch, so its noise does not depend on one text alone.
bool FrozenPrefix::Trains() const {
  if (!boundaries_ || !Drops()) return boundaries_.has_value();
  return trial_.training.seed != 0 && !setup_.many() &&
         trained_.model().config().family != Family::kDebertaV3;
}

GroupName FrozenPrefix::GroupOf(std::int64_t blocks,
                                const std::optional<RowNoise>& noise) const {
  const ModelConfig& config = trained_.model().config();
  GroupParts parts = {.weights_sha256 = setup_.pretrained->sha256,
                      .config_json = setup_.pretrained->loaded.config_json,
                      .adapters = AdaptersOf(config, blocks),
                      .blocks = blocks,
                      .first_token = ReadsOneToken(blocks),
                      .precision = trained_.precision(),
                      .noise = ""};
  std::string about = trial_.model.id + ", embeddings and " +
                      std::to_string(blocks - 1) + " of " +
                      std::to_string(config.layers) + " layers, " +
                      std::string(NameOf(trained_.precision()));
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

bool FrozenPrefix::ReadsOneToken(std::int64_t blocks) const {
  const ModelConfig& config = trained_.model().config();
  return ReadsFirstToken(config, setup_.heads()) && blocks > config.layers;
}

SizesByLength* FrozenPrefix::KnownOf(std::int64_t blocks) const {
  if (environment_.size_book == nullptr) return nullptr;
  GroupParts shapes;
  shapes.config_json = setup_.pretrained->loaded.config_json;
  shapes.adapters = AdaptersOf(trained_.model().config(), blocks);
  shapes.first_token = ReadsOneToken(blocks);
  shapes.precision = trained_.precision();
  return &(*environment_.size_book)[GroupKeyOf(shapes, environment_.kernels)];
}

PrefixWork FrozenPrefix::Work() {
  PrefixWork work;
  work.seconds = environment_.seconds;
  work.stop =
      StopSign([this] { return pace_.listener().stop() != StopReason::kNone; });
  work.told = [this](std::size_t done, std::size_t all) {
    pace_.Enter(TrialPhase::kFilling);
    pace_.Log("frozen layers: " + std::to_string(done) + " of " +
              std::to_string(all) + " texts");
  };
  work.log = [this](const std::string& line) { pace_.listener().Log(line); };
  return work;
}

void FrozenPrefix::Open(std::optional<Boundaries>& boundaries,
                        const PrefixStore* store,
                        const std::optional<RowNoise>& noise) {
  Close(boundaries);
  BoundarySpec wanted;
  wanted.blocks = trained_.PretrainedBlocks();
  wanted.group = GroupOf(wanted.blocks, noise);
  wanted.noise = noise;
  wanted.known = KnownOf(wanted.blocks);
  wanted.resident = environment_.resident;
  for (std::int64_t blocks = wanted.blocks - 1; blocks >= kFewestBlocks;
       --blocks) {
    wanted.lower.push_back({blocks, GroupOf(blocks, noise)});
  }
  boundaries.emplace(trained_.model(), trained_.precision(), store, wanted,
                     Work());
}

void FrozenPrefix::Close(std::optional<Boundaries>& boundaries) {
  if (boundaries) before_ += boundaries->counts();
  boundaries.reset();
}

// Returns the store for boundaries with dropout, or null if those of all epochs
// would not fit into it.
const PrefixStore* FrozenPrefix::StoreOfNoise() const {
  if (environment_.prefixes == nullptr) return nullptr;
  const TokenStore& train = *setup_.tasks[0].train;
  const std::size_t tokens = ReadsOneToken(trained_.PretrainedBlocks())
                                 ? train.size()
                                 : train.token_total();
  const std::uint64_t bytes =
      tokens * static_cast<std::uint64_t>(trained_.model().config().hidden) *
      c10::elementSize(KindOfBoundary(trained_.precision()));
  const auto epochs = static_cast<std::uint64_t>(course_.EpochsBegun());
  const bool fits = epochs * bytes <= environment_.prefixes->most_bytes();
  if (!fits && course_.progress().position.all.epoch == 0) {
    pace_.listener().Log("the dropout of " + std::to_string(epochs) +
                         " epochs is not kept: it takes " +
                         std::to_string(epochs * bytes) +
                         " bytes, and the prefix store may hold " +
                         std::to_string(environment_.prefixes->most_bytes()));
  }
  return fits ? environment_.prefixes : nullptr;
}

Expected<Done> FrozenPrefix::MakeNoisy(std::uint64_t epoch) {
  if (noisy_ && noisy_epoch_ == epoch) return Done{};
  Open(noisy_, StoreOfNoise(),
       RowNoise{SeedOf(trial_, Draws::kDropout), epoch});
  noisy_epoch_ = epoch;
  return noisy_->Prepare(*setup_.tasks[0].train);
}

}  // namespace frostline::trainer
