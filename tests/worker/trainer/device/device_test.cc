// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/device/device.h"

#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/plain/json.h"
#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/model/layers.h"
#include "worker/trainer/self_check.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// On the processor; what a GPU does, fixture_runner asks one.

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

TEST(Device, PeakMemoryIsTheMostThatTensorsHeldAtOnce) {
  constexpr std::int64_t kBytes = std::int64_t{64} << 20;
  Device device = Processor();
  const at::Tensor held = at::ones({kBytes / 4});
  device.ResetPeakMemory();
  const std::int64_t before = device.PeakMemoryBytes();
  EXPECT_GE(before, kBytes);
  const auto in_other_threads = [&](std::int64_t bytes) {
    std::thread([=] { at::ones({bytes / 4}); }).join();
  };
  in_other_threads(kBytes);
  in_other_threads(kBytes);  // the first one's have gone
  EXPECT_NEAR(static_cast<double>(device.PeakMemoryBytes() - before), kBytes,
              1 << 16);
  device.ResetPeakMemory();
  EXPECT_NEAR(static_cast<double>(device.PeakMemoryBytes() - before), 0.0,
              1 << 16);
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

TEST(OpenMpRuntimes, AreThoseInTheMapEachOnce) {
  EXPECT_THAT(
      OpenMpRuntimes(
          "7f1-7f2 r-xp 00000000 fe:00 11  /usr/lib/libgomp.so.1.0.0\n"
          "7f2-7f3 rw-p 00001000 fe:00 11  /usr/lib/libgomp.so.1.0.0\n"
          "7f4-7f5 r-xp 00000000 fe:00 12  /opt/a b/libgomp-a34b3233.so.1\n"
          "7f5-7f6 r-xp 00000000 fe:00 13  /opt/lib/libiomp5.so\n"
          "7f6-7f7 r-xp 00000000 fe:00 14  /usr/lib/libompi.so.40\n"
          "7f7-7f8 rw-p 00000000 00:00 0   [heap]\n"),
      ElementsAre("/opt/a b/libgomp-a34b3233.so.1", "/opt/lib/libiomp5.so",
                  "/usr/lib/libgomp.so.1.0.0"));
}

TEST(OpenMpRuntimes, NoneIsFine) {
  EXPECT_THAT(OpenMpRuntimes(""), ElementsAre());
}

// bf16 and fp16 against fp32, on recorded models.

// Eight bits of mantissa or eleven, a few layers deep.
double Within(Precision precision) {
  return precision == Precision::kBf16 ? 2e-2 : 2.5e-3;
}

ModuleRates Rates(const Model& model, double rate) {
  ModuleRates rates;
  for (const std::string& each :
       ModuleNames(model.config(), model.head().spec())) {
    rates[each] = rate;
  }
  return rates;
}

Stepper Make(Model& model, Precision precision, double rate = 1e-3) {
  StepOptions options;
  options.schedule = {ScheduleKind::kConstant, 0, 100};
  options.precision = precision;
  const FreezePlan plan = MakeFreezePlan(model.config(), model.head().spec(),
                                         Rates(model, rate), {})
                              .value();
  return Stepper::Make(model, plan, options).value();
}

using Case = std::tuple<const char*, Precision>;

class InHalf : public testing::TestWithParam<Case> {
 protected:
  InHalf()
      : half_(std::get<1>(GetParam())),
        folder_("models/" + std::string(std::get<0>(GetParam()))),
        batch_(BatchOf(ReadTensors(FixturePath(folder_ + "/io.safetensors")),
                       "b0")),
        model_(LoadFixture(folder_).model) {}

  Precision half_;
  std::string folder_;
  Batch batch_;
  Model model_;
};

TEST_P(InHalf, LogitsAndLossAreCloseToThoseOfFp32AndNotTheSame) {
  const Prediction exact =
      Make(model_, Precision::kFp32).Predict(batch_).value();
  const Prediction rounded = Make(model_, half_).Predict(batch_).value();
  EXPECT_EQ(rounded.logits.scalar_type(), at::kFloat);
  const double scale = std::max(1.0, exact.logits.abs().max().item<double>());
  const double off = Furthest(exact.logits, rounded.logits);
  EXPECT_LE(off, Within(half_) * scale);
  EXPECT_GT(off, 0.0);
  EXPECT_NEAR(rounded.loss, exact.loss,
              Within(half_) * std::max(1.0, exact.loss));
}

TEST_P(InHalf, TwentyStepsLowerTheLossAndWeightsStayFp32) {
  Stepper stepper = Make(model_, half_);
  const double before = stepper.Predict(batch_).value().loss;
  for (int step = 0; step < 20; ++step) {
    const Expected<StepResult> result = stepper.Step({&batch_, 1});
    ASSERT_TRUE(result.ok()) << result.fault().cause;
    ASSERT_TRUE(result.value().finite);
  }
  EXPECT_LT(stepper.Predict(batch_).value().loss, 0.7 * before);
  for (const TrainedTensor& each : stepper.optimizer().tensors()) {
    EXPECT_EQ(each.value.scalar_type(), at::kFloat) << each.name;
    EXPECT_EQ(each.first.scalar_type(), at::kFloat) << each.name;
  }
}

// The weights of `model` in tensors that nobody has cast before.
Model Copied(const Model& model) {
  std::vector<at::Tensor> values;
  for (const Weight& each : model.weights()) {
    values.push_back(each.value.detach().clone());
  }
  return Model(model.config(), model.head().spec(), values);
}

// A rounded copy of a weight that outlived its step would be of the one before.
TEST_P(InHalf, EachStepSeesTheWeightsOfTheOneBefore) {
  Stepper stepper = Make(model_, half_);
  ASSERT_TRUE(stepper.Step({&batch_, 1}).ok());
  Model fresh = Copied(model_);
  EXPECT_TRUE(stepper.Predict(batch_).value().logits.equal(
      Make(fresh, half_).Predict(batch_).value().logits));
}

// What autocast would cast for each batch is cast once: to the same bits, also
// when a layer has thawed and moved meanwhile.
TEST_P(InHalf, KeptCopiesOfFrozenWeightsAreWhatAutocastMakes) {
  Stepper stepper = Make(model_, half_, 0.0);
  const auto fresh_logits = [&] {
    Model fresh = Copied(model_);
    const at::NoGradGuard no_graph;
    const Autocast autocast(half_, at::kCPU);
    return fresh.Forward(batch_, {}).to(at::kFloat);
  };
  EXPECT_TRUE(stepper.Predict(batch_).value().logits.equal(fresh_logits()));
  const auto plan_of = [&](double rate) {
    return MakeFreezePlan(model_.config(), model_.head().spec(),
                          Rates(model_, rate), {})
        .value();
  };
  ASSERT_TRUE(stepper.Replan(plan_of(1e-2)).ok());
  ASSERT_TRUE(stepper.Step({&batch_, 1}).ok());
  ASSERT_TRUE(stepper.Replan(plan_of(0.0)).ok());
  EXPECT_TRUE(stepper.Predict(batch_).value().logits.equal(fresh_logits()));
}

TEST_P(InHalf, NothingIsLeftSwitchedOnForOthers) {
  Stepper stepper = Make(model_, half_);
  ASSERT_TRUE(stepper.Step({&batch_, 1}).ok());
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  Model exact = LoadFixture(folder_).model;
  Model after = LoadFixture(folder_).model;
  const at::Tensor before =
      Make(exact, Precision::kFp32).Predict(batch_).value().logits;
  Stepper rounds = Make(after, half_);
  ASSERT_TRUE(rounds.Predict(batch_).ok());
  EXPECT_TRUE(before.equal(
      Make(after, Precision::kFp32).Predict(batch_).value().logits));
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, InHalf,
    testing::Combine(testing::Values("bert-seq2", "distilbert-tok17",
                                     "roberta-reg", "modernbert-tok17",
                                     "deberta-tok17", "qwen3-seq2"),
                     testing::Values(Precision::kBf16, Precision::kFp16)),
    [](const auto& each) {
      std::string name = std::string(std::get<0>(each.param)) + "_in_" +
                         std::string(NameOf(std::get<1>(each.param)));
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

// 1/0.9 rounded to bf16 would make everything 0.16 % too small.
TEST(DropoutInBf16, ScalesWithoutABias) {
  Batch batch;
  batch.noise = at::zeros({1}, at::kLong);
  const at::Tensor ones = at::ones({1, 1 << 14}, at::kBFloat16);
  const at::Tensor kept = Dropout(ones * 1.8, 0.1, batch, {});
  const double largest = kept.to(at::kFloat).max().item<double>();
  EXPECT_EQ(largest, 2.0);  // of 1.8 and 1.8125 in bf16; 1.109 gives 1.99
}

TEST(SelfCheck, OfTheProcessorIsRightAndMeasured) {
  const SelfCheck check = RunSelfCheck("cpu");
  EXPECT_TRUE(check.ok) << check.error;
  EXPECT_EQ(check.device, "cpu");
  EXPECT_GT(check.threads, 0);
  EXPECT_GT(check.fp32_gflops, 0.0);
  EXPECT_EQ(check.bf16_gflops > 0.0, check.does_bf16_well);
  EXPECT_FALSE(check.blas.empty());
  EXPECT_FALSE(check.simd.empty());
  EXPECT_LE(check.openmp.size(), 1U) << check.openmp[0];
}

TEST(SelfCheck, OfAGpuThatIsNotThereIsNotOk) {
  const SelfCheck check = RunSelfCheck("cuda:63");
  EXPECT_FALSE(check.ok);
  EXPECT_THAT(check.error, HasSubstr("there is no GPU"));
}

TEST(Warnings, ComeBelowHalfOfWhatTheMachineShouldDo) {
  SelfCheck check;
  check.expected_gflops = 100.0;
  check.fp32_gflops = 50.0;
  EXPECT_THAT(WarningsOf(check), IsEmpty());
  check.fp32_gflops = 49.0;
  EXPECT_THAT(WarningsOf(check),
              ElementsAre(HasSubstr("reach 49 of about 100 GFLOP/s")));
  check.expected_gflops = 0.0;  // unknown
  EXPECT_THAT(WarningsOf(check), IsEmpty());
}

TEST(Warnings, NameTwoOpenMpRuntimesAndABf16ThatCosts) {
  SelfCheck check;
  check.openmp = {"/a/libgomp.so.1", "/b/libiomp5.so"};
  check.fp32_gflops = 50.0;
  check.bf16_gflops = 10.0;
  EXPECT_THAT(WarningsOf(check),
              ElementsAre(HasSubstr("bf16"), HasSubstr("/b/libiomp5.so")));
}

TEST(SelfCheck, ReadsAsOneLineOfJsonAndAsLinesForALog) {
  SelfCheck check;
  check.error = "a \"word\"\nand more";
  check.openmp = {"/a/libgomp.so.1"};
  check.warnings = {"slow"};
  const std::string line = ToJson(check);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Expected<Json> json = Json::Parse(line);
  ASSERT_TRUE(json.ok()) << line;
  EXPECT_EQ(json.value().root().Find("error")->text, "a \"word\" and more");
  EXPECT_EQ(json.value().root().Find("warnings")->first->text, "slow");
  EXPECT_THAT(ToLines(check), Contains("warning: slow"));
}

}  // namespace
}  // namespace frostline::trainer
