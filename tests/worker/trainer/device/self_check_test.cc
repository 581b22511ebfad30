// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/self_check.h"

#include "base/plain/json.h"
#include "gmock/gmock.h"

namespace frostline::trainer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
