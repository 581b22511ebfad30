// SPDX-License-Identifier: Apache-2.0
//
// Counts the pages that the kernel must map for a training step.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <vector>

#include "worker/trainer/device/main_memory.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {
namespace {

std::int64_t PageFaults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// The gradients of layers, written as a step writes them. Malloc would keep
// none of them by itself.
void TakeAndFreeGradients() {
  std::vector<at::Tensor> gradients;
  for (int i = 0; i < 24; ++i) gradients.push_back(at::ones({1536, 768}));
}

constexpr std::int64_t kBytes = 4L * 768 * 24 * 1536;
constexpr std::int64_t kPages = kBytes / 4096;

// Blocks find their places within a few steps.
TEST(PageFaults, AStepFindsThePagesOfTheLastOnes) {
  ASSERT_TRUE(KeepFreedMemory());
  for (int step = 0; step < 20; ++step) TakeAndFreeGradients();
  const std::int64_t before = PageFaults();
  for (int step = 0; step < 10; ++step) TakeAndFreeGradients();
  EXPECT_LT(PageFaults() - before, kPages / 10);  // of ten steps together
}

}  // namespace
}  // namespace frostline::trainer
