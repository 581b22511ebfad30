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

// The gradients of a small BERT: its table of words alone is beyond what malloc
// ever keeps by itself.
void TakeAndFreeGradients() {
  std::vector<at::Tensor> gradients = {at::zeros({30522, 384})};
  for (int i = 0; i < 24; ++i) gradients.push_back(at::zeros({1536, 384}));
}

constexpr std::int64_t kBytes = 4L * 384 * (30522 + 24 * 1536);
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
