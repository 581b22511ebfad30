// SPDX-License-Identifier: Apache-2.0
//
// Too little memory ends one trial, wherever it strikes.
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/trainer/process/small_world.h"
#include "tests/worker/trainer/process/trainer_under_test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kWatched = true;  // their shadow is larger than any limit
#else
constexpr bool kWatched = false;
#endif

namespace frostline::trainer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The most that the process has mapped so far.
std::uint64_t PeakAddressSpace(pid_t pid) {
  std::istringstream status(
      ReadBytes("/proc/" + std::to_string(pid) + "/status"));
  for (std::string word; status >> word;) {
    std::uint64_t kib = 0;
    if (word == "VmPeak:" && status >> kib) return kib << 10;
  }
  return 0;
}

// Or shows what was said instead.
MATCHER(Succeeds, "") { return arg["state"] == "succeeded"; }

constexpr std::uint64_t kRoom = std::uint64_t{256} << 20;

class Memory : public ::testing::Test {
 protected:
  Memory() {
    world_.AddData(
        "big", "format: tsv",
        {{"train", Reviews(20'000, 3)}, {"validation", Reviews(9, 4)}});
    world_.Write();
    TrainerUnderTest free(world_.registry());
    free.Train(world_.Trial());
    start_.address_space = PeakAddressSpace(free.pid()) + kRoom;
  }

  static void ExpectOutOfMemory(const nlohmann::json& finish) {
    ASSERT_FALSE(finish.is_null()) << "the process has died";
    EXPECT_EQ(finish["state"], "failed");
    EXPECT_EQ(finish["class"], "out_of_memory");
    EXPECT_THAT(finish["cause"].get<std::string>(),
                AllOf(StartsWith("FL-5016: "), HasSubstr("smaller batches")));
  }

  SmallWorld world_;
  TrainerStart start_;
};

TEST_F(Memory, ABatchThatDoesNotFitFailsItsTrialAlone) {
  if (kWatched) GTEST_SKIP();
  TrainerUnderTest trainer(world_.registry(), start_);
  nlohmann::json trial = world_.Trial("m", "big");
  trial["training"]["batch_size"] = 20'000;
  trial["training"]["epochs"] = 1;
  ExpectOutOfMemory(trainer.Train(trial).finish);
  EXPECT_THAT(trainer.Train(world_.Trial()).finish, Succeeds());
  ExpectOutOfMemory(trainer.Train(trial).finish);
  EXPECT_THAT(trainer.Train(world_.Trial()).finish, Succeeds());
}

// A library below LibTorch may be the one that asks in vain, in words of its
// own.
TEST_F(Memory, WhereverItRunsOutItIsSaidSo) {
  if (kWatched) GTEST_SKIP();
  nlohmann::json trial = world_.Trial("m", "big");
  trial["training"]["batch_size"] = 2'000;
  trial["training"]["epochs"] = 1;
  int ran_out = 0;
  for (const std::uint64_t more : {0, 8, 16, 24, 32, 48, 64, 96}) {
    TrainerStart start = start_;
    start.address_space = start_.address_space - kRoom + (more << 20);
    TrainerUnderTest trainer(world_.registry(), start);
    const nlohmann::json finish = trainer.Train(trial).finish;
    SCOPED_TRACE(more);
    if (finish.is_null()) continue;  // a library has ended the process
    if (finish["state"] == "succeeded") continue;
    ExpectOutOfMemory(finish);
    ++ran_out;
  }
  EXPECT_GT(ran_out, 0);
}

// Before LibTorch computes anything: rows and tokens need memory, too.
TEST_F(Memory, ADataSetThatDoesNotFitFailsItsTrialAlone) {
  if (kWatched) GTEST_SKIP();
  const std::string rows = Reviews(5'000, 5);
  std::string huge = rows;
  for (int i = 0; i < 600; ++i) huge += rows.substr(rows.find('\n') + 1);
  world_.AddData("huge", "format: tsv",
                 {{"train", huge}, {"validation", Reviews(9, 4)}});
  world_.Write();
  TrainerUnderTest trainer(world_.registry(), start_);
  ExpectOutOfMemory(trainer.Train(world_.Trial("m", "huge")).finish);
  EXPECT_THAT(trainer.Train(world_.Trial()).finish, Succeeds());
}

}  // namespace
}  // namespace frostline::trainer
