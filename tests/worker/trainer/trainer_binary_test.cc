// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int exit_code = -1;
  std::string output;  // standard output and standard error
};

Outcome RunTrainer(const std::string& arguments) {
  const std::string command = std::string(std::getenv("FROSTLINE_BIN_DIR")) +
                              "/frostline-trainer " + arguments + " 2>&1";
  Outcome run;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return run;
  std::array<char, 512> part;
  while (fgets(part.data(), part.size(), pipe) != nullptr) {
    run.output += part.data();
  }
  run.exit_code = WEXITSTATUS(pclose(pipe));
  return run;
}

TEST(TrainerBinaryTest, SelfCheckMultipliesAndSaysWithWhichLibTorch) {
  const Outcome run = RunTrainer("--self-check");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const nlohmann::json line = nlohmann::json::parse(run.output);
  EXPECT_TRUE(line["ok"]);
  EXPECT_THAT(std::string(line["torch"]), HasSubstr("2."));
  // The sum over all entries of (i - 2k)(3k - j), i < 48, k < 32, j < 40.
  EXPECT_EQ(line["matmul_sum"], -43868160.0);
  EXPECT_GT(line["threads"], 0);
  EXPECT_GT(line["fp32_gflops"], 0);
  EXPECT_FALSE(std::string(line["blas"]).empty());
  EXPECT_LE(line["openmp"].size(), 1U) << line["openmp"];
}

TEST(TrainerBinaryTest, VersionNamesBothVersions) {
  const Outcome run = RunTrainer("--version");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, HasSubstr("frostline-trainer 0."));
  EXPECT_THAT(run.output, HasSubstr("LibTorch 2."));
}

TEST(TrainerBinaryTest, AnythingElseIsAUsageError) {
  for (const char* arguments : {"", "--train", "--version again"}) {
    const Outcome run = RunTrainer(arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_THAT(run.output, StartsWith("error[FL-1016]: "));
    EXPECT_THAT(run.output, HasSubstr("\n  because: "));
    EXPECT_THAT(run.output, HasSubstr("\n  fix: "));
  }
}

}  // namespace
}  // namespace frostline::trainer
