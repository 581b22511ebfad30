// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/node/gpus.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"

namespace frostline::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kTwo[] =
    "GPU-aa 80 1000 4000 250500 61\n"
    "GPU-bb 20 0 8000 50000 33\n";

// False when it has not come about in a long while.
bool AwaitTrue(const std::function<bool()>& condition) {
  for (int i = 0; i < 6'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

class NvmlTest : public ::testing::Test {
 protected:
  NvmlTest() { setenv("STAND_IN_NVML", path_.c_str(), 1); }
  ~NvmlTest() override { unsetenv("STAND_IN_NVML"); }

  void Say(const std::string& gpus) const { std::ofstream(path_) << gpus; }
  static std::unique_ptr<Nvml> Open() {
    return Nvml::Open(FROSTLINE_STAND_IN_NVML);
  }

  const std::string path_ =
      ::testing::TempDir() + "/nvml." + std::to_string(getpid()) + "." +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

std::vector<std::string> UuidsOf(const std::vector<v1::GpuLoad>& gpus) {
  std::vector<std::string> uuids;
  uuids.reserve(gpus.size());
  for (const v1::GpuLoad& gpu : gpus) uuids.push_back(gpu.uuid());
  return uuids;
}

TEST_F(NvmlTest, IsNothingWithoutALibraryOrADriver) {
  EXPECT_EQ(Nvml::Open("libfrostline-none.so.1"), nullptr);
  EXPECT_EQ(Nvml::Open("libc.so.6"), nullptr);  // it knows no such calls
  EXPECT_EQ(Open(), nullptr);
}

TEST_F(NvmlTest, ReadsWhatTheDriverSays) {
  Say(kTwo);
  const auto nvml = Open();
  ASSERT_NE(nvml, nullptr);
  const auto gpus = nvml->Read();
  ASSERT_THAT(UuidsOf(gpus), ElementsAre("GPU-aa", "GPU-bb"));
  EXPECT_EQ(gpus[0].utilization(), 0.8);
  EXPECT_EQ(gpus[0].memory_used_bytes(), 1000);
  EXPECT_EQ(gpus[0].memory_total_bytes(), 4000);
  EXPECT_EQ(gpus[0].power_watts(), 250.5);
  EXPECT_EQ(gpus[0].temperature_celsius(), 61);
}

TEST_F(NvmlTest, LeavesOutWhatMakesNoSense) {
  Say("GPU-aa 900 5000 4000 4000000000 5000\n");
  const auto gpus = Open()->Read();
  ASSERT_THAT(gpus, SizeIs(1));
  EXPECT_FALSE(gpus[0].has_utilization());
  EXPECT_FALSE(gpus[0].has_memory_used_bytes());
  EXPECT_FALSE(gpus[0].has_power_watts());
  EXPECT_FALSE(gpus[0].has_temperature_celsius());
}

TEST_F(NvmlTest, HasSixtyFourGpusAtMost) {
  std::string many;
  for (int i = 0; i < 100; ++i) {
    many += "GPU-" + std::to_string(i) + " 1 0 1 1 1\n";
  }
  Say(many);
  EXPECT_THAT(Open()->Read(), SizeIs(64));
}

TEST_F(NvmlTest, NumbersHoldWhenAGpuIsLost) {
  Say(std::string("lost\n") + kTwo);
  const auto gpus = Open()->Read();
  EXPECT_THAT(UuidsOf(VisibleOnly("2", gpus)), ElementsAre("GPU-bb"));
  EXPECT_THAT(UuidsOf(VisibleOnly(nullptr, gpus)),
              ElementsAre("GPU-aa", "GPU-bb"));
}

TEST_F(NvmlTest, OnlyVisibleGpusAreOurs) {
  Say(kTwo);
  const auto gpus = Open()->Read();
  EXPECT_THAT(UuidsOf(VisibleOnly("1", gpus)), ElementsAre("GPU-bb"));
  EXPECT_THAT(UuidsOf(VisibleOnly("GPU-a", gpus)), ElementsAre("GPU-aa"));
  EXPECT_THAT(UuidsOf(VisibleOnly("1,1,GPU-bb", gpus)), ElementsAre("GPU-bb"));
  EXPECT_THAT(VisibleOnly("", gpus), IsEmpty());
  EXPECT_THAT(VisibleOnly("7,MIG-aa", gpus), IsEmpty());
}

TEST_F(NvmlTest, ARealDriverSaysWhatMakesSense) {
  const auto nvml = Nvml::Open(kNvmlLibrary);
  if (nvml == nullptr) GTEST_SKIP() << "there is no " << kNvmlLibrary;
  for (const v1::GpuLoad& gpu : nvml->Read()) {
    EXPECT_THAT(gpu.uuid(), ::testing::StartsWith("GPU-"));
    EXPECT_GT(gpu.memory_total_bytes(), 0);
  }
}

// The whole agent, beside a coordinator that takes the load or does not.
class AgentsGpus : public NvmlTest {
 protected:
  AgentsGpus() {
    Say(kTwo);
    rig_.options().nvml = FROSTLINE_STAND_IN_NVML;
  }

  Rig rig_{""};
};

TEST_F(AgentsGpus, AreToldWithHeartbeats) {
  rig_.coordinator().TakeLoad();
  rig_.Start();
  EXPECT_TRUE(rig_.coordinator().Await([](const Heard& heard) {
    return !heard.heartbeats.empty() &&
           heard.heartbeats.back().load().gpus_size() == 2;
  }));
}

TEST_F(AgentsGpus, AreNotToldToACoordinatorThatDidNotAsk) {
  rig_.Start();
  EXPECT_TRUE(rig_.coordinator().Await(
      [](const Heard& heard) { return heard.heartbeats.size() >= 20; }));
  for (const auto& beat : rig_.coordinator().heard().heartbeats) {
    EXPECT_FALSE(beat.has_load());
  }
}

v1::GpuLoad Busy(double utilization) {
  v1::GpuLoad gpu;
  gpu.set_uuid("GPU-aa");
  gpu.set_utilization(utilization);
  return gpu;
}

TEST(GpuWatch, TellsTheMeanSinceItWasAsked) {
  std::atomic<int> looks = 0;
  GpuWatch watch(
      [&looks]() -> GpuWatch::Look {
        return
            [&looks] { return std::vector{Busy(++looks == 1 ? 1.0 : 0.25)}; };
      },
      milliseconds(50));
  ASSERT_TRUE(AwaitTrue([&looks] { return looks >= 3; }));
  const auto load = watch.Take();
  ASSERT_TRUE(load.has_value());
  EXPECT_GT(load->gpus(0).utilization(), 0.25);
  EXPECT_LE(load->gpus(0).utilization(), 0.625);
  const int before = looks;
  ASSERT_TRUE(AwaitTrue([&] { return looks >= before + 2; }));
  EXPECT_EQ(watch.Take()->gpus(0).utilization(), 0.25);
}

TEST(GpuWatch, TellsTheSameAgainBetweenTwoLooks) {
  GpuWatch watch(
      []() -> GpuWatch::Look { return [] { return std::vector{Busy(0.5)}; }; },
      hours(1));
  std::optional<v1::NodeLoad> first;
  ASSERT_TRUE(AwaitTrue([&] { return (first = watch.Take()).has_value(); }));
  EXPECT_EQ(watch.Take()->SerializeAsString(), first->SerializeAsString());
}

TEST(GpuWatch, TellsNothingOnceLooksDoNotEnd) {
  const auto end = std::make_shared<std::promise<void>>();
  {
    GpuWatch watch(
        [end]() -> GpuWatch::Look {
          return [end, is_first = std::make_shared<bool>(true)] {
            if (!std::exchange(*is_first, false)) end->get_future().wait();
            return std::vector{Busy(0.5)};
          };
        },
        milliseconds(20));
    ASSERT_TRUE(AwaitTrue([&] { return watch.Take().has_value(); }));
    EXPECT_TRUE(AwaitTrue([&] { return !watch.Take().has_value(); }));
  }  // and its end does not wait for the look
  end->set_value();
}

TEST(GpuWatch, SaysNothingWhereThereAreNone) {
  GpuWatch watch([] { return GpuWatch::Look(); }, milliseconds(1));
  EXPECT_FALSE(watch.Take().has_value());
}

}  // namespace
}  // namespace frostline::agent
