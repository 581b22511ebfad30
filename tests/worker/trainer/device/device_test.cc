// SPDX-License-Identifier: Apache-2.0
//
// On the processor; what a GPU does, fixture_runner asks one.
#include "worker/trainer/device/device.h"

#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <vector>

#include "gmock/gmock.h"

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

using testing::HasSubstr;
using testing::Not;

Device Processor() { return Device::Open("cpu").value(); }

TEST(Device, CpuIsTheProcessor) {
  const Device device = Processor();
  EXPECT_TRUE(device.is_cpu());
  EXPECT_EQ(device.name(), "cpu");
  EXPECT_TRUE(device.torch().is_cpu());
  EXPECT_FALSE(device.EnergyJoules().has_value());
}

TEST(Device, AutoIsTheProcessorWhereThereIsNoGpu) {
  if (CountGpus() > 0) GTEST_SKIP() << "there is a GPU";
  const Expected<Device> device = Device::Open("auto");
  ASSERT_TRUE(device.ok());
  EXPECT_TRUE(device.value().is_cpu());
  EXPECT_EQ(device.value().note(), "");
}

TEST(Device, AGpuThatIsNotThereIsUnsupported) {
  const Expected<Device> device = Device::Open("cuda:63");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.fault().kind, FaultKind::kUnsupported);
  EXPECT_THAT(device.fault().cause, HasSubstr("there is no GPU"));
}

TEST(Device, OtherNamesAreMisuse) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:-1", "cuda:-0", "cuda:1x",
                           "cuda:99999999999", "CPU", "cpu:0"}) {
    const Expected<Device> device = Device::Open(name);
    ASSERT_FALSE(device.ok()) << name;
    EXPECT_EQ(device.fault().kind, FaultKind::kMisuse) << name;
  }
}

TEST(Device, PrecisionIsAsWantedOrWhatTheDeviceDoesWell) {
  const Device device = Processor();
  EXPECT_EQ(device.Choose("fp32").value(), Precision::kFp32);
  EXPECT_EQ(device.Choose("bf16").value(), Precision::kBf16);
  const Precision instead =
      device.does_fp16_well() ? Precision::kFp16 : Precision::kFp32;
  EXPECT_EQ(device.Choose("auto").value(),
            device.does_bf16_well() ? Precision::kBf16 : instead);
  EXPECT_EQ(device.Choose("fp16").value(), Precision::kFp16);
  EXPECT_EQ(device.Choose("tf32").fault().kind, FaultKind::kUnsupported);
  EXPECT_EQ(device.Choose("fp8").fault().kind, FaultKind::kMisuse);
  EXPECT_EQ(device.Choose("").fault().kind, FaultKind::kMisuse);
}

TEST(Device, DiceOfOneSeedThrowAlike) {
  const Device device = Processor();
  const auto thrown = [&](std::uint64_t seed) {
    return at::rand({100}, device.MakeGenerator(seed));
  };
  EXPECT_TRUE(thrown(7).equal(thrown(7)));
  EXPECT_FALSE(thrown(7).equal(thrown(8)));
}

TEST(Device, PeakMemoryGrowsByWhatIsHeld) {
  constexpr std::int64_t kBytes = std::int64_t{256} << 20;
  Device device = Processor();
  device.ResetPeakMemory();
  const std::int64_t before = device.PeakMemoryBytes();
  ASSERT_GT(before, 0);
  const at::Tensor held = at::ones({kBytes / 4});
  EXPECT_GE(device.PeakMemoryBytes(), before + kBytes / 2);
}

// Four pebibytes: more than an address has bits for.
TEST(OutOfMemory, OfTheProcessorIsAFaultOfItsKind) {
  const Expected<Done> asked = CatchTorch([]() -> Expected<Done> {
    at::empty({std::int64_t{1} << 50});
    return Done{};
  });
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.fault().kind, FaultKind::kOutOfMemory) << asked.fault().cause;
}

TEST(OutOfMemory, IsToldFromOtherFaults) {
  EXPECT_TRUE(IsOutOfMemory(std::bad_alloc()));
  EXPECT_TRUE(IsOutOfMemory(std::bad_array_new_length()));
  EXPECT_TRUE(IsOutOfMemory(
      std::runtime_error("CUDA out of memory. Tried to allocate 4.00 GiB.")));
  EXPECT_TRUE(IsOutOfMemory(
      std::runtime_error("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
                         "`cublasCreate(handle)`")));
  EXPECT_TRUE(
      IsOutOfMemory(std::runtime_error("could not create a primitive")));
  EXPECT_FALSE(IsOutOfMemory(std::runtime_error(
      "could not create a primitive descriptor for a matmul primitive")));
  EXPECT_FALSE(IsOutOfMemory(
      std::runtime_error("CUDA error: device-side assert triggered")));
}

TEST(OutOfMemory, HasATypeOfItsOwnInLibTorch) {
  try {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "the GPU is full");
  } catch (const std::exception& error) {
    EXPECT_TRUE(IsOutOfMemory(error));
    EXPECT_THAT(TorchFault(error).cause, Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace frostline::trainer
