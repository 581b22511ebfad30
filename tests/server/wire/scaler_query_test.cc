// SPDX-License-Identifier: Apache-2.0
#include "server/wire/scaler_query.h"

#include "gmock/gmock.h"
#include "server/wire/validate.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

externalscaler::ScaledObjectRef Asked(
    const std::map<std::string, std::string>& metadata) {
  externalscaler::ScaledObjectRef asked;
  asked.set_name("frostline-worker");
  asked.set_namespace_("frostline");
  asked.mutable_scalermetadata()->insert(metadata.begin(), metadata.end());
  return asked;
}

absl::StatusOr<ScalerQuery> Parse(
    const std::map<std::string, std::string>& metadata) {
  return ParseScalerQuery(Asked(metadata));
}

TEST(ScalerQueryTest, WithoutKeysItIsOfAllStudiesAndOneTrialAWorker) {
  ASSERT_OK_AND_ASSIGN(const ScalerQuery query, Parse({}));
  EXPECT_EQ(query.study, "");
  EXPECT_TRUE(query.labels.empty());
  EXPECT_EQ(query.slots, 1);
}

TEST(ScalerQueryTest, ReadsOurKeysAndPassesOverThoseOfKeda) {
  ASSERT_OK_AND_ASSIGN(const ScalerQuery query,
                       Parse({{"scalerAddress", "coordinator:7070"},
                              {"enableTLS", "true"},
                              {"unsafeSsl", "false"},
                              {"study", "imdb"},
                              {"labels", "gpu=a100,zone=b=c"},
                              {"slots", "4"}}));
  EXPECT_EQ(query.study, "studies/imdb");
  EXPECT_THAT(query.labels,
              UnorderedElementsAre(Pair("gpu", "a100"), Pair("zone", "b=c")));
  EXPECT_EQ(query.slots, 4);
}

TEST(ScalerQueryTest, AStudyMayHaveItsWholeName) {
  EXPECT_EQ(Parse({{"study", "studies/imdb"}})->study, "studies/imdb");
}

// KEDA puts the variable's value in its place and keeps the key.
TEST(ScalerQueryTest, AKeyMayComeFromAVariable) {
  EXPECT_EQ(Parse({{"studyFromEnv", "imdb"}})->study, "studies/imdb");
  EXPECT_THAT(Parse({{"studyFromEnv", "imdb"}, {"study", "imdb"}}),
              FailsAt(ErrorId::kRequestInvalid, "scalerMetadata.studyFromEnv"));
}

struct Bad {
  std::map<std::string, std::string> metadata;
  ErrorId id;
  const char* field;
};

TEST(ScalerQueryTest, EachMistakeIsNamed) {
  const std::string long_text(5'000, 'x');
  std::map<std::string, std::string> many;
  for (int i = 0; i < 17; ++i) many["k" + std::to_string(i)] = "";
  const Bad bads[] = {
      {{{"stduy", "imdb"}}, ErrorId::kRequestInvalid, "scalerMetadata"},
      {{{"", "imdb"}}, ErrorId::kRequestInvalid, "scalerMetadata"},
      {{{"FromEnv", ""}}, ErrorId::kRequestInvalid, "scalerMetadata"},
      {{{long_text, ""}}, ErrorId::kRequestInvalid, "scalerMetadata"},
      {many, ErrorId::kFieldTooLarge, "scalerMetadata"},
      {{{"labels", long_text}}, ErrorId::kFieldTooLarge, "scalerMetadata"},
      {{{"study", ""}}, ErrorId::kNameInvalid, "scalerMetadata.study"},
      {{{"study", "A b"}}, ErrorId::kNameInvalid, "scalerMetadata.study"},
      {{{"study", "studies/a/trials/1"}},
       ErrorId::kNameInvalid,
       "scalerMetadata.study"},
      {{{"labels", ""}}, ErrorId::kRequestInvalid, "scalerMetadata.labels"},
      {{{"labels", "gpu"}}, ErrorId::kRequestInvalid, "scalerMetadata.labels"},
      {{{"labels", "=a"}}, ErrorId::kRequestInvalid, "scalerMetadata.labels"},
      {{{"labels", "a=1,a=2"}},
       ErrorId::kRequestInvalid,
       "scalerMetadata.labels"},
      {{{"labels", std::string(257, 'k') + "=v"}},
       ErrorId::kFieldTooLarge,
       "scalerMetadata.labels"},
      {{{"slots", ""}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"},
      {{{"slots", "two"}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"},
      {{{"slots", "1.5"}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"},
      {{{"slots", "0"}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"},
      {{{"slots", "1025"}}, ErrorId::kRequestInvalid, "scalerMetadata.slots"}};
  for (const Bad& bad : bads) {
    EXPECT_THAT(Parse(bad.metadata), FailsAt(bad.id, bad.field))
        << bad.metadata.begin()->first.substr(0, 20);
  }
}

TEST(ScalerQueryTest, AnUnknownKeyIsShownWithThoseThatThereAre) {
  const absl::Status status = Parse({{"stduy", "imdb"}}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("stduy"));
  EXPECT_THAT(DetailOf(status)->fix, HasSubstr("study, labels or slots"));
}

TEST(ScalerQueryTest, AnObjectHasANameAndANamespace) {
  externalscaler::ScaledObjectRef asked = Asked({});
  asked.clear_name();
  EXPECT_THAT(Validate(asked), FailsAt(ErrorId::kRequestInvalid, "name"));
  asked = Asked({});
  asked.clear_namespace_();
  EXPECT_THAT(Validate(asked), FailsAt(ErrorId::kRequestInvalid, "namespace"));
  asked.set_namespace_(std::string(254, 'n'));
  EXPECT_THAT(Validate(asked), FailsAt(ErrorId::kFieldTooLarge, "namespace"));
}

TEST(ScalerQueryTest, ThereIsOneMetric) {
  externalscaler::GetMetricsRequest request;
  *request.mutable_scaledobjectref() = Asked({});
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "metricName"));
  // KEDA takes its own prefix away before it asks.
  request.set_metricname(std::string("s0-") + kUnclaimedTrials);
  EXPECT_THAT(Validate(request),
              FailsAt(ErrorId::kRequestInvalid, "metricName"));
  request.set_metricname(kUnclaimedTrials);
  EXPECT_OK(Validate(request));
}

// Field by field what KEDA's own stubs write and read.
TEST(ScalerQueryTest, TheBytesAreThoseOfKeda) {
  externalscaler::GetMetricsResponse response;
  auto& value = *response.add_metricvalues();
  value.set_metricname("m");
  value.set_metricvalue(5);
  value.set_metricvaluefloat(2.0);
  EXPECT_EQ(response.SerializeAsString(),
            std::string("\x0a\x0e\x0a\x01m\x10\x05\x19\0\0\0\0\0\0\0@", 16));
  externalscaler::GetMetricSpecResponse specs;
  auto& spec = *specs.add_metricspecs();
  spec.set_metricname("m");
  spec.set_targetsize(5);
  spec.set_targetsizefloat(2.0);
  EXPECT_EQ(specs.SerializeAsString(), response.SerializeAsString());
  externalscaler::GetMetricsRequest request;
  ASSERT_TRUE(request.ParseFromString(
      "\x0a\x0e\x0a\x01w\x12\x01n\x1a\x06\x0a\x01k\x12\x01v\x12\x01m"));
  EXPECT_EQ(request.scaledobjectref().name(), "w");
  EXPECT_EQ(request.scaledobjectref().namespace_(), "n");
  EXPECT_EQ(request.scaledobjectref().scalermetadata().at("k"), "v");
  EXPECT_EQ(request.metricname(), "m");
  externalscaler::IsActiveResponse active;
  active.set_result(true);
  EXPECT_EQ(active.SerializeAsString(), "\x08\x01");
}

}  // namespace
}  // namespace frostline::server
