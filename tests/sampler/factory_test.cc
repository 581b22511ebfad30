// SPDX-License-Identifier: Apache-2.0
#include "sampler/factory.h"

#include "sampler/sampler.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

Space OneParameter(const Domain& domain) {
  return Space({{"p", domain, std::nullopt}}, {}, std::nullopt);
}

TEST(MakeSampler, AnUnknownNameIsRefusedWithWhatThereIs) {
  const auto made = MakeSampler({.name = "tep", .options = {}},
                                OneParameter(Levels{{0, 1}}), kLoss);
  EXPECT_THAT(made, FailsAt(ErrorId::kSamplerInvalid, "sampler.name"));
  const std::string fix = DetailOf(made.status())->fix;
  EXPECT_THAT(fix, testing::StartsWith("did you mean tpe? there are: "));
  for (const std::string& name : SamplerNames()) {
    EXPECT_THAT(fix, testing::HasSubstr(name));
  }
}

TEST(MakeSampler, EveryNameRefusesAnOptionNobodyKnows) {
  for (const std::string& name : SamplerNames()) {
    EXPECT_THAT(MakeSampler({.name = name, .options = {{"depth", "3"}}},
                            OneParameter(Levels{{0, 1}}), kLoss),
                FailsAt(ErrorId::kSamplerInvalid, "sampler.options.depth"))
        << name;
  }
}

TEST(MakeSampler, KnownOptionsAreReadStrictly) {
  const auto make = [](const std::string& name, const Options& options) {
    return MakeSampler({.name = name, .options = options},
                       OneParameter(LogUniform{1e-6, 1e-3, true}), kLoss)
        .status();
  };
  EXPECT_OK(make("tpe", {{"startup_trials", "0"}, {"multivariate", "false"}}));
  EXPECT_THAT(make("tpe", {{"candidates", "0"}}),
              FailsWith(ErrorId::kSamplerInvalid));
  EXPECT_THAT(make("random", {{"frozen_share", "1.01"}}),
              FailsWith(ErrorId::kSamplerInvalid));
}

}  // namespace
}  // namespace frostline::sampler
