// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/cpu_info.h"

#include <gtest/gtest.h>

namespace frostline::trainer {
namespace {

// Two threads of each of two cores, and one core of another socket.
constexpr char kIntel[] =
    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
    "cpu MHz\t\t: 2000.000\nphysical id\t: 0\ncore id\t\t: 0\n"
    "flags\t\t: fpu avx2 avx512f amx_bf16\n\n"
    "processor\t: 1\ncpu MHz\t\t: 3000.000\nphysical id\t: 0\ncore id\t\t: 0\n"
    "processor\t: 2\ncpu MHz\t\t: 2500.000\nphysical id\t: 0\ncore id\t\t: 1\n"
    "processor\t: 3\nphysical id\t: 1\ncore id\t\t: 1\n";

TEST(CpuInfo, CountsCoresAndTakesTheFastest) {
  const CpuInfo info = ParseCpuInfo(kIntel);
  EXPECT_EQ(info.cores, 3);
  EXPECT_EQ(info.clock_ghz, 3.0);
  EXPECT_TRUE(info.does_bf16_well());
  // 2 threads x 3 GHz x 16 lanes x 2 units x 2.
  EXPECT_EQ(PeakGflops(info, 2), 384.0);
  EXPECT_EQ(PeakGflops(info, 64), 576.0);
}

TEST(CpuInfo, Zen4TakesTwoPassesAndZen5One) {
  CpuInfo info = ParseCpuInfo(
      "processor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\n"
      "flags : avx2 avx512f avx512_bf16\n");
  EXPECT_EQ(info.lanes(), 8);
  EXPECT_TRUE(info.does_bf16_well());
  info.family = 26;
  EXPECT_EQ(info.lanes(), 16);
}

TEST(CpuInfo, OlderProcessorsHaveNoBf16) {
  const CpuInfo info = ParseCpuInfo("processor : 0\nflags : sse2 avx2 f16c\n");
  EXPECT_EQ(info.lanes(), 8);
  EXPECT_FALSE(info.does_bf16_well());
}

// Arm tells neither its clock nor which processors share a core.
TEST(CpuInfo, WhatIsNotToldIsUnknown) {
  const CpuInfo arm =
      ParseCpuInfo("processor : 0\nFeatures : fp asimd bf16\nprocessor : 1\n");
  EXPECT_EQ(arm.cores, 2);
  EXPECT_TRUE(arm.does_bf16_well());
  EXPECT_EQ(PeakGflops(arm, 2), 0.0);
  EXPECT_EQ(PeakGflops(ParseCpuInfo(""), 2), 0.0);
}

}  // namespace
}  // namespace frostline::trainer
