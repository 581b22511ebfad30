// SPDX-License-Identifier: Apache-2.0
//
// Counts the pages that the kernel must map for a training step.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "worker/trainer/device/device.h"

namespace frostline::trainer {
namespace {

std::int64_t PageFaults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

constexpr std::size_t kBlock = std::size_t{20} << 20U;
constexpr std::int64_t kPages = 3 * kBlock / 4096;

// As a step takes its gradients, writes them and frees them.
void TakeAndFreeBlocks() {
  std::array<char*, 3> blocks{};
  for (char*& block : blocks) {
    block = static_cast<char*>(std::malloc(kBlock));
    for (std::size_t i = 0; i < kBlock; i += 4096) {
      *static_cast<volatile char*>(block + i) = 1;
    }
  }
  for (char* block : blocks) std::free(block);
}

// Blocks find their places within a few steps.
TEST(PageFaults, AStepFindsThePagesOfTheLastOnes) {
  ASSERT_TRUE(KeepFreedMemory());
  for (int step = 0; step < 20; ++step) TakeAndFreeBlocks();
  const std::int64_t before = PageFaults();
  for (int step = 0; step < 10; ++step) TakeAndFreeBlocks();
  EXPECT_LT(PageFaults() - before, kPages / 10);  // of ten steps together
}

}  // namespace
}  // namespace frostline::trainer
