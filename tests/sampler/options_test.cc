// SPDX-License-Identifier: Apache-2.0
#include "sampler/sampler.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

OptionReader Reader(const Options& options) {
  return OptionReader(ErrorId::kSamplerInvalid, "sampler x", "sampler.options",
                      options);
}

TEST(OptionReader, ReadsWhatIsThereAndKeepsTheDefaultOfTheRest) {
  const Options options = {{"a", "7"}, {"b", "0.25"}, {"c", "false"}};
  OptionReader reader = Reader(options);
  EXPECT_EQ(reader.Int("a", 1, 0, 10), 7);
  EXPECT_EQ(reader.Number("b", 1.0, 0.0, 1.0), 0.25);
  EXPECT_FALSE(reader.Bool("c", true));
  EXPECT_EQ(reader.OneOf("d", "x", {"x", "y"}), "x");
  EXPECT_OK(reader.Finish());
}

TEST(OptionReader, RefusesWhatIsNotWhollyOfItsType) {
  for (const char* text : {"", " 5", "5 ", "+5", "5.0", "0x5", "five", "11",
                           "-1", "99999999999999999999"}) {
    const Options options = {{"a", text}};
    OptionReader reader = Reader(options);
    EXPECT_EQ(reader.Int("a", 3, 0, 10), 3);
    EXPECT_THAT(reader.Finish(),
                FailsAt(ErrorId::kSamplerInvalid, "sampler.options.a"))
        << text;
  }
  for (const char* text : {"nan", "inf", "1e999", "0.5x", "1.5"}) {
    const Options options = {{"a", text}};
    OptionReader reader = Reader(options);
    reader.Number("a", 0.5, 0.0, 1.0);
    EXPECT_THAT(reader.Finish(), FailsWith(ErrorId::kSamplerInvalid)) << text;
  }
  for (const char* text : {"True", "1", "yes", ""}) {
    const Options options = {{"a", text}};
    OptionReader reader = Reader(options);
    reader.Bool("a", true);
    EXPECT_THAT(reader.Finish(), FailsWith(ErrorId::kSamplerInvalid)) << text;
  }
}

TEST(OptionReader, AnUnknownOptionIsRefusedWithTheNearestName) {
  const Options options = {{"startup_trails", "5"}};
  OptionReader reader = Reader(options);
  reader.Int("candidates", 1, 0, 10);
  reader.Int("startup_trials", 1, 0, 10);
  const absl::Status status = reader.Finish();
  EXPECT_THAT(status, FailsAt(ErrorId::kSamplerInvalid,
                              "sampler.options.startup_trails"));
  EXPECT_THAT(DetailOf(status)->fix,
              testing::AllOf(testing::HasSubstr("did you mean startup_trials?"),
                             testing::HasSubstr("candidates")));
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(NearestName("tpee", {"grid", "random", "tpe"}), "tpe");
  EXPECT_EQ(NearestName("bayesian-optimisation", {"grid", "tpe"}), "");
}

TEST(NearestName, DoesNotMindCapitals) {
  EXPECT_EQ(NearestName("TPE", {"grid", "qmc", "tpe"}), "tpe");
  EXPECT_EQ(NearestName("Levels-GP", {"levels-gp", "qmc"}), "levels-gp");
}

}  // namespace
}  // namespace frostline::sampler
