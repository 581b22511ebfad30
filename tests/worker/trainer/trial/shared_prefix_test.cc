// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/tiny_registry.h"
#include "tests/worker/trainer/trial/trial_world.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Trials whose frozen layers are computed once: the same bits, less work.

// Embeddings and `k` of three layers are frozen.
std::string FrozenTo(int k) {
  std::string rates = R"("embeddings": 0, "pooler": 1e-3, "head": 1e-2)";
  for (int i = 0; i < 3; ++i) {
    rates +=
        R"(, "layer.)" + std::to_string(i) + R"(": )" + (i < k ? "0" : "1e-3");
  }
  return rates;
}

constexpr char kFour[] = R"("epochs": 4, "extra": {"dropout": 0.1},)";
constexpr FreezeSemantics kOff = {FreezeMode::kHard, PrefixDropout::kOff};
constexpr FreezeSemantics kHf = {FreezeMode::kHard, PrefixDropout::kHf};

class SharedPrefix : public ::testing::Test {
 protected:
  void Share(std::uint64_t bytes = 1U << 30U) {
    world_.prefixes = PrefixStore::Open(folder(), bytes).value();
  }
  std::string folder() const { return world_.folder() + "/prefix"; }

  TrialMessage Trial(const FreezeSemantics& freeze, const std::string& rates,
                     const std::string& training = kFour) const {
    TrialMessage trial = world_.Trial(training, rates);
    trial.training.freeze = freeze;
    return trial;
  }

  TrialEnd Run(const FreezeSemantics& freeze, const std::string& rates,
               const std::string& training = kFour,
               const std::string& precision = "fp32") {
    TrialMessage trial = Trial(freeze, rates, training);
    trial.training.precision = precision;
    TrialEnd end = world_.Run(trial);
    EXPECT_EQ(end.state, TrialState::kSucceeded) << end.cause;
    end.metrics.erase("train_seconds");
    end.metrics.erase("peak_memory_mib");
    return end;
  }

  // Calls `change` with the path of every segment.
  template <typename Change>
  void Segments(Change change) const {
    int segments = 0;
    for (const auto& each :
         std::filesystem::recursive_directory_iterator(folder())) {
      if (each.path().extension() != ".rows") continue;
      ++segments;
      change(each.path());
    }
    EXPECT_GT(segments, 0);
  }

  TrialWorld world_;
};

// What it froze it had trained before, so the store has nothing for it.
TEST_F(SharedPrefix, ALayerThatFrozeOnTheWayIsNotTheStoresOne) {
  constexpr char kRule[] =
      R"("epochs": 6, "extra": {"dropout": 0, "layers_by": "autofreeze",
         "layers_every_steps": 2},)";
  const TrialEnd alone = Run(kOff, FrozenTo(0), kRule);
  EXPECT_THAT(world_.witness.log, HasSubstr("autofreeze after step "));
  Share();
  Run(kOff, FrozenTo(1), kFour);
  Run(kOff, FrozenTo(2), kFour);
  const TrialEnd shared = Run(kOff, FrozenTo(0), kRule);
  EXPECT_EQ(alone.metrics, shared.metrics);
}

TEST_F(SharedPrefix, AloneFilledAndFoundAreTheSameBits) {
  for (int k = 1; k <= 3; ++k) {
    world_.prefixes.reset();
    const TrialEnd alone = Run(kOff, FrozenTo(k));
    Share();
    const TrialEnd filled = Run(kOff, FrozenTo(k));
    const TrialEnd found = Run(kOff, FrozenTo(k));
    EXPECT_EQ(alone.metrics, filled.metrics) << k;
    EXPECT_EQ(alone.metrics, found.metrics) << k;
    EXPECT_GT(filled.usage->prefix.misses, 0);
    EXPECT_GT(filled.usage->prefix.bytes, 0);
    EXPECT_EQ(found.usage->prefix.misses, 0);
    EXPECT_EQ(found.usage->prefix.bytes, 0);
    EXPECT_LT(found.usage->flops_spent, filled.usage->flops_spent);
    EXPECT_GT(found.usage->flops_shared, 0.0);
  }
}

TEST_F(SharedPrefix, SaysThatItFillsTheStore) {
  Share();
  Run(kOff, FrozenTo(2));
  ASSERT_FALSE(world_.witness.phases.empty());
  EXPECT_EQ(world_.witness.phases.front(), TrialPhase::kFilling);
}

TEST_F(SharedPrefix, IsAsGoodAsComputingItInEachBatch) {
  const std::string still =
      R"("epochs": 4, "clip_norm": 0, "extra": {"dropout": 0},)";
  const TrialEnd batch =
      Run({FreezeMode::kLr0, PrefixDropout::kOff}, FrozenTo(2), still);
  Share();
  const TrialEnd shared = Run(kHf, FrozenTo(2), still);
  EXPECT_GT(shared.usage->flops_shared, 0.0);
  EXPECT_NEAR(batch.metrics.at("loss"), shared.metrics.at("loss"), 1e-4);
}

// The set has 24 texts to train and 10 to validate; epochs are four.
TEST_F(SharedPrefix, ComputesEachTextOnceForAllEpochsAndEvaluations) {
  Share();
  const PrefixCounts counts = Run(kOff, FrozenTo(2)).usage->prefix;
  EXPECT_EQ(counts.misses, 24 + 10);
  EXPECT_EQ(counts.hits, 4 * (24 + 10));
}

TEST_F(SharedPrefix, WithDropoutAsInTransformersOnlyEvaluationsShare) {
  Share();
  const TrialEnd first = Run(kHf, FrozenTo(2));
  EXPECT_EQ(first.usage->prefix.hits, 4 * 10);
  EXPECT_EQ(first.usage->flops_shared, 0.0);
  world_.prefixes.reset();
  EXPECT_EQ(first.metrics, Run(kHf, FrozenTo(2)).metrics);
}

// As transformers drops, by a seed that the study's other trials have, too.
constexpr char kOneSeed[] =
    R"("epochs": 4, "seed": 7, "extra": {"dropout": 0.1},)";

TEST_F(SharedPrefix, DropoutOfASharedSeedIsStoredByEpoch) {
  for (int k = 1; k <= 3; ++k) {
    world_.prefixes.reset();
    const TrialEnd alone = Run(kHf, FrozenTo(k), kOneSeed);
    Share();
    const TrialEnd filled = Run(kHf, FrozenTo(k), kOneSeed);
    const TrialEnd found = Run(kHf, FrozenTo(k), kOneSeed);
    EXPECT_EQ(alone.metrics, filled.metrics) << k;
    EXPECT_EQ(alone.metrics, found.metrics) << k;
    EXPECT_EQ(filled.usage->prefix.misses, 4 * 24 + 10);
    EXPECT_EQ(found.usage->prefix.misses, 0);
    EXPECT_EQ(found.usage->prefix.hits, 4 * (24 + 10));
    EXPECT_GT(found.usage->flops_shared, 0.0);
  }
}

TEST_F(SharedPrefix, DropoutOfAnotherSeedOrRateIsComputedAnew) {
  Share();
  const TrialEnd seven = Run(kHf, FrozenTo(2), kOneSeed);
  const TrialEnd eight =
      Run(kHf, FrozenTo(2),
          R"("epochs": 4, "seed": 8, "extra": {"dropout": 0.1},)");
  const TrialEnd stronger =
      Run(kHf, FrozenTo(2),
          R"("epochs": 4, "seed": 7, "extra": {"dropout": 0.2},)");
  EXPECT_EQ(eight.usage->prefix.misses, 4 * 24);
  EXPECT_EQ(stronger.usage->prefix.misses, 4 * 24);
  EXPECT_NE(seven.metrics, eight.metrics);
}

TEST_F(SharedPrefix, DropoutGoesOnFromACheckpointWithTheSameBits) {
  const TrialEnd whole = Run(kHf, FrozenTo(2), kOneSeed);
  world_.checkpoint_seconds = 0.0;
  int stops = 0;
  for (int asked = 30; asked < 200; asked += 17) {  // filling and training
    world_.prefixes.reset();
    std::filesystem::remove_all(folder());
    Share();
    Witness stopped;
    stopped.StopAfter(asked, StopReason::kPreempt);
    if (world_.Run(Trial(kHf, FrozenTo(2), kOneSeed), stopped).state !=
        TrialState::kStopped) {
      break;
    }
    if (stopped.checkpoint.empty()) continue;
    ++stops;
    TrialMessage rest = Trial(kHf, FrozenTo(2), kOneSeed);
    rest.resume_path = world_.folder() + "/" + stopped.checkpoint;
    rest.resume_step = stopped.checkpoint_step;
    TrialEnd end = world_.Run(rest);
    end.metrics.erase("train_seconds");
    end.metrics.erase("peak_memory_mib");
    EXPECT_EQ(end.metrics, whole.metrics) << asked;
  }
  EXPECT_GT(stops, 3);
}

// An epoch fits, four do not: they are computed for the next batches, held in
// main memory, and forgotten.
TEST_F(SharedPrefix, DropoutOfEpochsThatDoNotFitIsNotKept) {
  const TrialEnd alone = Run(kHf, FrozenTo(2), kOneSeed);
  Share(50000);
  const TrialEnd without = Run(kHf, FrozenTo(2), kOneSeed);
  EXPECT_EQ(alone.metrics, without.metrics);
  EXPECT_EQ(without.usage->prefix.misses, 4 * 24 + 10);
  EXPECT_THAT(world_.witness.log,
              HasSubstr("the dropout of 4 epochs is not kept: it takes"));
}

// One step on the same texts: what differs is rounding, where the seed's noise
// is shared, whether boundaries are stored or not.
TEST_F(SharedPrefix, TrialsOfAnyDepthSeeTheSameNoise) {
  const auto loss_of = [&](int k, const std::string& seed) {
    return Run(kHf, FrozenTo(k),
               seed + R"("max_steps": 1, "extra": {"dropout": 0.1},)")
        .metrics.at("train_loss");
  };
  const double shallow = loss_of(0, "");
  EXPECT_NEAR(loss_of(2, ""), shallow, 1e-5);
  EXPECT_NEAR(loss_of(3, R"("seed": 7, )"), shallow, 1e-5);
  EXPECT_GT(std::abs(loss_of(3, R"("seed": 8, )") - shallow), 1e-4);
}

// Depth 3 goes on from what depth 1 stored, to the bits that it has from the
// texts, and spends the forward passes of two layers.
TEST_F(SharedPrefix, GoesOnFromTheNearestLowerBoundary) {
  for (const FreezeSemantics& freeze : {kOff, kHf}) {
    world_.prefixes.reset();
    std::filesystem::remove_all(folder());
    Share();
    const TrialEnd whole = Run(freeze, FrozenTo(3), kOneSeed);
    world_.prefixes.reset();
    std::filesystem::remove_all(folder());
    Share();
    Run(freeze, FrozenTo(1), kOneSeed);
    const TrialEnd on_top = Run(freeze, FrozenTo(3), kOneSeed);
    EXPECT_EQ(on_top.metrics, whole.metrics);
    EXPECT_EQ(on_top.usage->prefix.misses, whole.usage->prefix.misses);
    EXPECT_LT(on_top.usage->flops_spent, whole.usage->flops_spent);
    EXPECT_DOUBLE_EQ(on_top.usage->flops_spent + on_top.usage->flops_shared,
                     whole.usage->flops_spent + whole.usage->flops_shared);
  }
}

// In bf16 a boundary is rounded and takes half the bytes; a trial reads the
// same numbers, whether nobody keeps them, or the store, or the device.
TEST_F(SharedPrefix, InBf16ABoundaryHasHalfTheBytesAndTheSameBitsAnywhere) {
  for (int k = 1; k <= 3; ++k) {
    world_.prefixes.reset();
    world_.resident.reset();
    std::filesystem::remove_all(folder());
    const TrialEnd alone = Run(kOff, FrozenTo(k), kFour, "bf16");
    Share();
    const std::int64_t whole =
        Run(kOff, FrozenTo(k)).usage->prefix.bytes;  // in fp32
    Run(kOff, FrozenTo(1), kFour, "bf16");
    const TrialEnd on_top = Run(kOff, FrozenTo(k), kFour, "bf16");
    EXPECT_EQ(on_top.metrics, alone.metrics) << k;
    EXPECT_EQ(2 * on_top.usage->prefix.bytes, k == 1 ? 0 : whole) << k;
    world_.resident.emplace(at::kCPU, std::uint64_t{1} << 30U);
    for (int i = 0; i < 2; ++i) {
      const TrialEnd again = Run(kOff, FrozenTo(k), kFour, "bf16");
      EXPECT_EQ(again.metrics, alone.metrics) << k;
      EXPECT_EQ(again.usage->prefix.misses, 0) << k;
    }
  }
}

TEST_F(SharedPrefix, ASpoiltLowerBoundaryIsComputedFromTheText) {
  const TrialEnd whole = Run(kOff, FrozenTo(2));
  Share();
  Run(kOff, FrozenTo(1));
  Segments([](const std::filesystem::path& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100).put('x');
  });
  EXPECT_EQ(Run(kOff, FrozenTo(2)).metrics, whole.metrics);
}

// What is shared is what a trial that shares nothing spends more.
TEST_F(SharedPrefix, CountsWhatIsNotRepeated) {
  const double each_step = Run(kHf, FrozenTo(2)).usage->flops_spent;
  Share();
  Run(kOff, FrozenTo(2));
  const TrialEnd found = Run(kOff, FrozenTo(2));
  EXPECT_DOUBLE_EQ(found.usage->flops_spent + found.usage->flops_shared,
                   each_step);
}

// Rows that are spoilt on disk would be computed anew: nothing reads them.
TEST_F(SharedPrefix, WhatStaysOnTheDeviceIsNotReadAgainAndIsTheSameBits) {
  for (const FreezeSemantics& freeze : {kOff, kHf}) {
    world_.prefixes.reset();
    world_.resident.reset();
    std::filesystem::remove_all(folder());
    const TrialEnd alone = Run(freeze, FrozenTo(3), kOneSeed);
    Share();
    world_.resident.emplace(at::kCPU, std::uint64_t{1} << 30U);
    EXPECT_EQ(Run(freeze, FrozenTo(3), kOneSeed).metrics, alone.metrics);
    const std::int64_t before = world_.resident->gathered();
    Segments([](const std::filesystem::path& path) {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(100).put('x');
    });
    const TrialEnd again = Run(freeze, FrozenTo(3), kOneSeed);
    EXPECT_EQ(again.metrics, alone.metrics);
    EXPECT_EQ(again.usage->prefix.misses, 0);
    EXPECT_EQ(again.usage->prefix.hits, 4 * (24 + 10));
    EXPECT_EQ(world_.resident->gathered() - before, 4 * (24 + 10));
  }
}

// Batches are then put together of what is there and what is sent.
TEST_F(SharedPrefix, ADeviceWithLittleRoomKeepsAPartAndTheSameBits) {
  const TrialEnd alone = Run(kOff, FrozenTo(2));
  Share();
  for (const std::uint64_t bytes : {1U, 20'000U, 270'000U}) {
    world_.resident.emplace(at::kCPU, bytes);
    EXPECT_EQ(Run(kOff, FrozenTo(2)).metrics, alone.metrics) << bytes;
    EXPECT_LE(world_.resident->bytes(), bytes);
  }
}

TEST_F(SharedPrefix, OfAnotherDepthIsAnotherGroup) {
  Share();
  Run(kOff, FrozenTo(2));
  EXPECT_GT(Run(kOff, FrozenTo(3)).usage->prefix.misses, 0);
  EXPECT_EQ(Run(kOff, FrozenTo(2)).usage->prefix.misses, 0);
}

// Which texts go together is found once for layers of one shape.
TEST_F(SharedPrefix, TrialsOfTwoDepthsLookAtBatchesOnce) {
  Run(kOff, FrozenTo(1));
  ASSERT_EQ(world_.size_book.size(), 1U);
  const std::size_t lengths = world_.size_book.begin()->second.size();
  EXPECT_GT(lengths, 0U);
  Run(kOff, FrozenTo(2));
  ASSERT_EQ(world_.size_book.size(), 1U);
  EXPECT_EQ(world_.size_book.begin()->second.size(), lengths);
}

TEST_F(SharedPrefix, ThawingGoesFromDepthToDepth) {
  const std::string training =
      std::string(R"("unfreeze_every_steps": 4, )") + kFour;
  const std::string rates =
      R"("embeddings": 0, "layer.0": 0, "layer.1": 1e-3, "layer.2": 1e-3,
         "pooler": 1e-3, "head": 1e-2)";
  const TrialEnd alone = Run(kOff, rates, training);
  Share();
  EXPECT_EQ(alone.metrics, Run(kOff, rates, training).metrics);
  const TrialEnd found = Run(kOff, rates, training);
  EXPECT_EQ(alone.metrics, found.metrics);
  EXPECT_EQ(found.usage->prefix.misses, 0);
}

// The prefix shrinks from epoch to epoch: the same bits alone, filled, found
// and after a stop anywhere, without dropout in it and with an epoch's own.
TEST_F(SharedPrefix, ThawingByEpochsIsTheSameCachedOrNotAndAfterAStop) {
  const std::string training =
      std::string(R"("unfreeze_every_epochs": 1, "seed": 5, )") + kFour;
  const std::string rates =
      R"("embeddings": 0, "layer.0": 0, "layer.1": 1e-3, "layer.2": 1e-3,
         "pooler": 1e-3, "head": 1e-2)";
  for (const FreezeSemantics& freeze : {kOff, kHf}) {
    world_.prefixes.reset();
    const TrialEnd alone = Run(freeze, rates, training);
    Share();
    EXPECT_EQ(alone.metrics, Run(freeze, rates, training).metrics);
    const TrialEnd found = Run(freeze, rates, training);
    EXPECT_EQ(alone.metrics, found.metrics);
    EXPECT_EQ(found.usage->prefix.misses, 0);
    int stops = 0;
    for (int asked = 3; asked < 60; asked += 4) {
      Witness first;
      first.StopAfter(asked, StopReason::kPreempt);
      const TrialMessage whole = Trial(freeze, rates, training);
      if (world_.Run(whole, first).state != TrialState::kStopped) break;
      if (first.checkpoint.empty()) continue;
      ++stops;
      TrialMessage rest = whole;
      rest.resume_path = world_.folder() + "/" + first.checkpoint;
      rest.resume_step = first.checkpoint_step;
      Witness second;
      TrialEnd end = world_.Run(rest, second);
      end.metrics.erase("train_seconds");
      end.metrics.erase("peak_memory_mib");
      EXPECT_EQ(end.metrics, alone.metrics) << asked;
    }
    EXPECT_GT(stops, 3);
  }
}

TEST_F(SharedPrefix, AStopWhileFillingEndsTheTrial) {
  Share();
  world_.witness.StopAfter(5, StopReason::kPreempt);
  const TrialEnd end = world_.Run(Trial(kOff, FrozenTo(2)));
  EXPECT_EQ(end.state, TrialState::kStopped);
  EXPECT_EQ(end.usage->steps, 0);
  Witness again;
  EXPECT_EQ(world_.Run(Trial(kOff, FrozenTo(2)), again).state,
            TrialState::kSucceeded);
}

TEST_F(SharedPrefix, GoesOnFromACheckpointWithTheSameBits) {
  const TrialEnd whole = Run(kOff, FrozenTo(2));
  Share();
  Run(kOff, FrozenTo(2));
  world_.checkpoint_seconds = 0.0;
  Witness stopped;
  stopped.StopAfter(9, StopReason::kPreempt);
  ASSERT_EQ(world_.Run(Trial(kOff, FrozenTo(2)), stopped).state,
            TrialState::kStopped);
  TrialMessage rest = Trial(kOff, FrozenTo(2));
  rest.resume_path = world_.folder() + "/" + stopped.checkpoint;
  rest.resume_step = stopped.checkpoint_step;
  TrialEnd end = world_.Run(rest);
  end.metrics.erase("train_seconds");
  end.metrics.erase("peak_memory_mib");
  EXPECT_EQ(end.metrics, whole.metrics);
}

TEST_F(SharedPrefix, FlippedBitsCostTimeAndNoNumber) {
  Share();
  const TrialEnd filled = Run(kOff, FrozenTo(2));
  Segments([](const std::filesystem::path& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (std::streamoff at = 100; file.seekp(at).put('x'); at += 4096) {
      if (static_cast<std::uintmax_t>(at) + 4096 >=
          std::filesystem::file_size(path)) {
        break;
      }
    }
  });
  const TrialEnd after = Run(kOff, FrozenTo(2));
  EXPECT_EQ(filled.metrics, after.metrics);
  EXPECT_GT(after.usage->prefix.misses, 0);
}

TEST_F(SharedPrefix, ABudgetBelowOneBoundaryIsSaidAndDoneWithout) {
  const TrialEnd alone = Run(kOff, FrozenTo(2));
  Share(1000);
  const TrialEnd without = Run(kOff, FrozenTo(2));
  EXPECT_EQ(alone.metrics, without.metrics);
  EXPECT_EQ(without.usage->prefix.bytes, 0);
  EXPECT_THAT(world_.witness.log,
              HasSubstr("goes on without the prefix store: the prefix store "
                        "may hold 1000 bytes"));
}

TEST_F(SharedPrefix, AFolderThatGoesAwayIsDoneWithout) {
  Share();
  std::filesystem::remove_all(folder());
  const TrialEnd end = Run(kOff, FrozenTo(2));
  EXPECT_GT(end.usage->prefix.misses, 0);
  EXPECT_THAT(world_.witness.log, HasSubstr("goes on without"));
}

TEST_F(SharedPrefix, FrozenEmbeddingsAloneAreNotStored) {
  Share();
  EXPECT_EQ(Run(kOff, FrozenTo(0)).usage->prefix.misses, 0);
  EXPECT_THAT(world_.witness.log, Not(HasSubstr("prefix store")));
}

class ModelCacheOf : public testing::Test {
 protected:
  ModelCacheOf() {
    const std::string root = folder_.path().string();
    WriteTinyRegistry(root);
    files_.emplace(DataRoot::Open(root).value());
    shelf_.emplace(ModelCache::Open(*files_, device_).value());
  }

  std::shared_ptr<const Pretrained> Weights(const HeadSpec& head) {
    ModelRequest request;
    request.id = "tiny";
    return shelf_->Weights(*files_, request, head, {}, log_).value();
  }

  static const void* FirstByte(const std::vector<Weight>& weights) {
    return weights.front().value.const_data_ptr();
  }

  TempFolder folder_;
  Device device_ = Device::Open("cpu").value();
  std::optional<VerifiedFiles> files_;
  std::optional<ModelCache> shelf_;
  std::vector<std::string> log_;
};

TEST_F(ModelCacheOf, KeepsAnEncoderOnceForAllHeads) {
  const auto two = Weights({Task::kSequence, 2});
  const auto tags = Weights({Task::kTokens, 17});

  const Model& first = two->loaded.model;
  const Model& second = tags->loaded.model;
  for (std::size_t i = 0; i < first.encoder().weights().size(); ++i) {
    EXPECT_EQ(first.encoder().weights()[i].value.const_data_ptr(),
              second.encoder().weights()[i].value.const_data_ptr());
  }
  EXPECT_EQ(second.head().spec().outputs, 17);
  EXPECT_NE(FirstByte(first.head().weights()),
            FirstByte(second.head().weights()));
}

TEST_F(ModelCacheOf, KeepsAHeadAndSpeaksOfItOnce) {
  const auto once = Weights({Task::kTokens, 17});
  const std::size_t lines = log_.size();
  const auto again = Weights({Task::kTokens, 17});

  EXPECT_GT(lines, 0U);
  EXPECT_EQ(log_.size(), lines);
  EXPECT_EQ(FirstByte(once->loaded.model.head().weights()),
            FirstByte(again->loaded.model.head().weights()));
}

// Layers of rank 0 have no adapter: what they give is one with what a study
// without ranks freezes, whatever the ranks above.
TEST_F(SharedPrefix, LayersBelowTheLowestAdapterAreSharedByAllRanks) {
  const auto ranked = [&](int rank) {
    TrialMessage trial = Trial(kOff, FrozenTo(2));
    trial.training.lora.ranks = {
        {"layer.0", 0}, {"layer.1", 0}, {"layer.2", rank}};
    return trial;
  };
  const Metrics alone = world_.Run(ranked(4)).metrics;
  Share();
  EXPECT_GT(Run(kOff, FrozenTo(2)).usage->prefix.misses, 0);
  for (const int rank : {4, 8}) {
    const TrialEnd found = world_.Run(ranked(rank));
    ASSERT_EQ(found.state, TrialState::kSucceeded) << found.cause;
    EXPECT_EQ(found.usage->prefix.misses, 0) << rank;
    EXPECT_GT(found.usage->prefix.hits, 0);
    if (rank != 4) continue;
    EXPECT_EQ(found.metrics.at("accuracy"), alone.at("accuracy"));
    EXPECT_EQ(found.metrics.at("loss"), alone.at("loss"));
  }
}

}  // namespace
}  // namespace frostline::trainer
