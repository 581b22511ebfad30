// SPDX-License-Identifier: Apache-2.0
//
// With the driver of fake_driver.cc, which LD_LIBRARY_PATH puts before any
// other.
#include "gmock/gmock.h"
#include "worker/trainer/device/device.h"

namespace frostline::trainer {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CudaDriver, TellsItsGpus) {
  ASSERT_EQ(CountGpus(), 2);
  const std::optional<Gpu> gpu = GpuAt(1);
  ASSERT_TRUE(gpu.has_value());
  EXPECT_EQ(gpu->name, "Frost 41");
  EXPECT_EQ(gpu->bus_id, "0000:18:00.0");
  EXPECT_TRUE(gpu->does_bf16_well());
  // 132 x 128 lanes x 1.98 GHz x 2.
  EXPECT_NEAR(PeakGflops(*gpu), 66908.2, 0.1);
  EXPECT_FALSE(GpuAt(2).has_value());
  EXPECT_FALSE(GpuAt(-1).has_value());
}

TEST(CudaDriver, AnOlderGpuHasHalfTheLanesAndNoBf16) {
  EXPECT_FALSE(GpuAt(0)->does_bf16_well());
  EXPECT_TRUE(GpuAt(0)->does_fp16_well());
  EXPECT_NEAR(PeakGflops(*GpuAt(0)), 33454.1, 0.1);
}

TEST(Nvml, TellsTheEnergyOfTheOneAsked) {
  EXPECT_EQ(EnergyOf("0000:18:00.0"), 12345.6);
  EXPECT_FALSE(EnergyOf("0000:17:00.0").has_value());
}

// The driver is there, but no GPU answers LibTorch.
TEST(DeviceWithAGpu, NamedAndOutOfOrderIsUnsupported) {
  const Expected<Device> device = Device::Open("cuda");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.fault().kind, FaultKind::kUnsupported);
  EXPECT_THAT(device.fault().cause, StartsWith("this LibTorch cannot"));
  EXPECT_THAT(device.fault().fix, HasSubstr("cpu"));
}

TEST(DeviceWithAGpu, AutoTakesTheProcessorAndSaysWhy) {
  const Expected<Device> device = Device::Open("auto");
  ASSERT_TRUE(device.ok()) << device.fault().cause;
  EXPECT_TRUE(device.value().is_cpu());
  EXPECT_THAT(device.value().note(), StartsWith("there is a GPU, but"));
}

TEST(DeviceWithAGpu, AnotherNumberIsToldHowManyThereAre) {
  EXPECT_THAT(Device::Open("cuda:2").fault().cause,
              HasSubstr("no GPU 2; CUDA sees 2"));
}

}  // namespace
}  // namespace frostline::trainer
