// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <set>

#include "server/wire/spec.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

constexpr std::uint64_t kMostInInt32 = (1ull << 31) - 1;

v1::StudySpec SpecWithSeed(v1::SeedMode seeds) {
  v1::StudySpec spec = ExampleSpec();
  spec.set_seeds(seeds);
  return spec;
}

TEST(TrainingSeed, EveryTrialHasOneOfItsOwnThatAnyProgramCanHold) {
  const v1::StudySpec spec = ExampleSpec();
  EXPECT_EQ(SeedModeOf(spec), v1::SEED_MODE_PER_TRIAL);
  std::set<std::uint64_t> seeds;
  for (std::int64_t number = 0; number < 1000; ++number) {
    const std::uint64_t seed = TrainingSeed(spec, number, number % 3);
    EXPECT_EQ(seed, TrainingSeed(spec, number, 0));
    EXPECT_GE(seed, 1u);
    EXPECT_LE(seed, kMostInInt32);
    seeds.insert(seed);
  }
  EXPECT_EQ(seeds.size(), 1000u);
  v1::StudySpec other = spec;
  other.set_seed(spec.seed() + 1);
  EXPECT_NE(TrainingSeed(other, 0, 0), TrainingSeed(spec, 0, 0));
}

TEST(TrainingSeed, PairedRunsOfAnyPointsShareTheirSeed) {
  const v1::StudySpec spec = SpecWithSeed(v1::SEED_MODE_PAIRED);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), TrainingSeed(spec, 17, 0));
  EXPECT_EQ(TrainingSeed(spec, 4, 2), TrainingSeed(spec, 17, 2));
  EXPECT_NE(TrainingSeed(spec, 4, 0), TrainingSeed(spec, 4, 1));
}

TEST(TrainingSeed, PairedRunsTakeTheSeedsOfTheListFirst) {
  v1::StudySpec spec = SpecWithSeed(v1::SEED_MODE_PAIRED);
  const std::uint64_t third = TrainingSeed(spec, 4, 2);
  spec.add_training_seeds(41);
  spec.add_training_seeds(7);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), 41u);
  EXPECT_EQ(TrainingSeed(spec, 17, 1), 7u);
  EXPECT_EQ(TrainingSeed(spec, 17, 2), third);
}

TEST(TrainingSeed, IsSharedUnlessEachTrialHasItsOwn) {
  EXPECT_FALSE(SharesSeeds(ExampleSpec()));
  EXPECT_TRUE(SharesSeeds(SpecWithSeed(v1::SEED_MODE_PAIRED)));
  EXPECT_TRUE(SharesSeeds(SpecWithSeed(v1::SEED_MODE_FIXED)));
}

TEST(TrainingSeed, AFixedSeedIsTheStudysOwnOrTheOneGiven) {
  v1::StudySpec spec = SpecWithSeed(v1::SEED_MODE_FIXED);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), TrainingSeed(spec, 17, 5));
  spec.mutable_training()->set_seed(1);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), 1u);
  spec.clear_seeds();
  EXPECT_EQ(SeedModeOf(spec), v1::SEED_MODE_FIXED);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), 1u);
}

TEST(TrainingSeed, IsNotedBesideWhatPeopleWrote) {
  v1::Trial written;
  (*written.mutable_labels())["by"] = "ada";
  storage::TrialRow row;
  row.labels = written.SerializeAsString();
  NoteSeed({.seed = 12, .repeat = 2}, row);
  EXPECT_EQ(NotedSeedOf(row).seed, 12u);
  EXPECT_EQ(NotedSeedOf(row).repeat, 2);
  v1::Trial kept;
  ASSERT_TRUE(kept.ParseFromString(row.labels));
  EXPECT_EQ(kept.labels().at("by"), "ada");
}

// A trial that an earlier version queued keeps the seed that version had sent.
TEST(TrainingSeed, OfOldRowsIsWhatItWas) {
  storage::TrialRow row;
  row.number = 3;
  v1::StudySpec spec = ExampleSpec();
  EXPECT_EQ(SeedToTrainWith(row, spec), Rng(7, 3ull | (1ull << 62)).Next());
  spec.mutable_training()->set_seed(1);
  EXPECT_EQ(SeedToTrainWith(row, spec), 1u);
  NoteSeed({.seed = 99, .repeat = 0}, row);
  EXPECT_EQ(SeedToTrainWith(row, spec), 99u);
}

TEST(TrainingSeed, RepeatsEndTheBudgetUnlessTheStudySaysWhen) {
  v1::StudySettings settings;
  settings.mutable_budget()->set_trials(36);
  v1::StudySpec spec = ExampleSpec();
  spec.mutable_repeat()->set_times(3);
  FillRepeat(settings, spec);
  EXPECT_EQ(spec.repeat().leaders(), 3);
  EXPECT_EQ(spec.repeat().after(), 30);
  spec.mutable_repeat()->set_after(12);
  FillRepeat(settings, spec);
  EXPECT_EQ(spec.repeat().after(), 12);
  EXPECT_OK(CheckSeeds(spec, settings));
}

struct SeedMistake {
  const char* name;
  ErrorId id;
  const char* field;
  std::function<void(v1::StudySpec&)> spoil;
};

const SeedMistake kSeedMistakes[] = {
    {"unknown_mode", ErrorId::kRequestInvalid, "seeds",
     [](auto& spec) { spec.set_seeds(static_cast<v1::SeedMode>(9)); }},
    {"fixed_and_paired", ErrorId::kRequestInvalid, "seeds",
     [](auto& spec) {
       spec.set_seeds(v1::SEED_MODE_PAIRED);
       spec.mutable_training()->set_seed(1);
     }},
    {"a_list_without_pairs", ErrorId::kRequestInvalid, "training_seeds",
     [](auto& spec) { spec.add_training_seeds(3); }},
    {"a_seed_of_zero", ErrorId::kRequestInvalid, "training_seeds",
     [](auto& spec) {
       spec.set_seeds(v1::SEED_MODE_PAIRED);
       spec.add_training_seeds(0);
     }},
    {"a_seed_twice", ErrorId::kRequestInvalid, "training_seeds",
     [](auto& spec) {
       spec.set_seeds(v1::SEED_MODE_PAIRED);
       spec.add_training_seeds(3);
       spec.add_training_seeds(3);
     }},
    {"too_many_seeds", ErrorId::kRequestInvalid, "training_seeds",
     [](auto& spec) {
       spec.set_seeds(v1::SEED_MODE_PAIRED);
       for (std::uint64_t i = 1; i < 102; ++i) spec.add_training_seeds(i);
     }},
    {"repeat_of_one_seed", ErrorId::kRequestInvalid, "repeat",
     [](auto& spec) {
       spec.mutable_repeat()->set_times(3);
       spec.mutable_training()->set_seed(1);
     }},
    {"repeat_once", ErrorId::kRequestInvalid, "repeat.times",
     [](auto& spec) { spec.mutable_repeat()->set_times(1); }},
    {"repeat_for_ever", ErrorId::kRequestInvalid, "repeat.times",
     [](auto& spec) { spec.mutable_repeat()->set_times(2'000'000'000); }},
    {"negative_leaders", ErrorId::kRequestInvalid, "repeat.leaders",
     [](auto& spec) {
       spec.mutable_repeat()->set_times(2);
       spec.mutable_repeat()->set_leaders(-1);
     }},
    {"all_points_lead", ErrorId::kRequestInvalid, "repeat.leaders",
     [](auto& spec) {
       spec.mutable_repeat()->set_times(2);
       spec.mutable_repeat()->set_leaders(2'000'000'000);
     }},
    {"negative_after", ErrorId::kRequestInvalid, "repeat.after",
     [](auto& spec) {
       spec.mutable_repeat()->set_times(2);
       spec.mutable_repeat()->set_after(-5);
     }},
    {"nothing_but_repeats", ErrorId::kBudgetInvalid, "repeat",
     [](auto& spec) { spec.mutable_repeat()->set_times(11); }},
};

class BadSeeds : public ::testing::TestWithParam<SeedMistake> {};

TEST_P(BadSeeds, AreRefusedWithTheirFieldAndFix) {
  v1::StudySettings settings;
  settings.mutable_budget()->set_trials(30);
  v1::StudySpec spec = ExampleSpec();
  GetParam().spoil(spec);
  FillRepeat(settings, spec);
  const absl::Status refused = CheckSeeds(spec, settings);
  ASSERT_THAT(refused, FailsWith(GetParam().id));
  EXPECT_EQ(DetailOf(refused)->field, GetParam().field);
  EXPECT_NE(DetailOf(refused)->fix, "");
}

INSTANTIATE_TEST_SUITE_P(All, BadSeeds, ::testing::ValuesIn(kSeedMistakes),
                         [](const auto& test) {
                           return std::string(test.param.name);
                         });

}  // namespace
}  // namespace frostline::server
