// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/anteroom.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ScrapeRequestTest, TellsTheTwoLanguagesApartByThreeBytes) {
  EXPECT_EQ(SpeechOf(""), Speech::kUnclear);
  EXPECT_EQ(SpeechOf("P"), Speech::kUnclear);
  EXPECT_EQ(SpeechOf("PR"), Speech::kUnclear);
  EXPECT_EQ(SpeechOf("PRI * HTTP/2.0\r\n"), Speech::kHttp2);
  EXPECT_EQ(SpeechOf("G"), Speech::kHttp1);
  EXPECT_EQ(SpeechOf("PO"), Speech::kHttp1);
  EXPECT_EQ(SpeechOf(std::string_view("\x16\x03\x01", 3)), Speech::kHttp1);
}

struct Asked {
  const char* head;
  ScrapeVerdict verdict;
};

class JudgeTest : public ::testing::TestWithParam<Asked> {};

TEST_P(JudgeTest, Judges) {
  EXPECT_EQ(JudgeScrape(GetParam().head), GetParam().verdict);
}

INSTANTIATE_TEST_SUITE_P(
    All, JudgeTest,
    ::testing::Values(
        Asked{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
              ScrapeVerdict::kMetrics},
        Asked{"GET /metrics?a=b HTTP/1.0\r\n\r\n", ScrapeVerdict::kMetrics},
        Asked{"GET /metrics HTTP/1.1\r\nHost: x\r\n",
              ScrapeVerdict::kIncomplete},
        Asked{"GET / HTTP/1.1\r\n\r\n", ScrapeVerdict::kNotFound},
        Asked{"GET /metrics/ HTTP/1.1\r\n\r\n", ScrapeVerdict::kNotFound},
        Asked{"GET /../metrics HTTP/1.1\r\n\r\n", ScrapeVerdict::kNotFound},
        Asked{"POST /metrics HTTP/1.1\r\n\r\n",
              ScrapeVerdict::kMethodNotAllowed},
        Asked{"HEAD /metrics HTTP/1.1\r\n\r\n",
              ScrapeVerdict::kMethodNotAllowed},
        Asked{"GET /metrics\r\n\r\n", ScrapeVerdict::kInvalid},
        Asked{"GET /metrics HTTP/3\r\n\r\n", ScrapeVerdict::kInvalid},
        Asked{"GET /met rics HTTP/1.1\r\n\r\n", ScrapeVerdict::kInvalid},
        Asked{"\r\n\r\n", ScrapeVerdict::kInvalid}));

TEST(ScrapeRequestTest, RefusesAHeadWithoutEnd) {
  const std::string line = "GET /metrics HTTP/1.1\r\nX: ";
  EXPECT_EQ(JudgeScrape(line + std::string(kMaxHeadBytes, 'x')),
            ScrapeVerdict::kTooLarge);
  EXPECT_EQ(JudgeScrape(line + std::string(kMaxHeadBytes, 'x') + "\r\n\r\n"),
            ScrapeVerdict::kTooLarge);
}

TEST(ScrapeRequestTest, AnswersWithItsLengthAndCloses) {
  const std::string page = "a 1\n";
  const std::string answer = ScrapeAnswer(ScrapeVerdict::kMetrics, &page);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n\r\na 1\n"));
  EXPECT_THAT(ScrapeAnswer(ScrapeVerdict::kMethodNotAllowed, nullptr),
              HasSubstr("Allow: GET\r\n"));
  EXPECT_THAT(ScrapeAnswer(ScrapeVerdict::kMetrics, nullptr),
              StartsWith("HTTP/1.1 503 "));
}

}  // namespace
}  // namespace frostline::server
