// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/normalizer.h"

#include <sstream>

#include "tests/worker/trainer/text/text_fixture.h"

namespace frostline::trainer {
namespace {

std::string Normalized(std::string_view text,
                       const BertNormalizerOptions& options = {}) {
  NormalizedText out;
  BertNormalizer(options).Run(text, 0, out);
  return std::string(out.bytes());
}

// "0-1 1-2": the span of each byte.
std::string Spans(std::string_view text, std::uint32_t base = 0) {
  NormalizedText out;
  BertNormalizer({}).Run(text, base, out);
  std::ostringstream spans;
  for (std::size_t i = 0; i < out.bytes().size(); ++i) {
    spans << (i > 0 ? " " : "") << out.SpanAt(i).begin << '-'
          << out.SpanAt(i).end;
  }
  return spans.str();
}

TEST(BertNormalizer, CleansAscii) {
  EXPECT_EQ(Normalized("The\tFILM\r\n!"), "the film  !");
  EXPECT_EQ(Normalized(std::string_view("a\0b\x7F\x0B", 5)), "ab");
}

TEST(BertNormalizer, RemovesAccentsOfBothForms) {
  EXPECT_EQ(Normalized("\u00c9te\u0301"), "ete");
  EXPECT_EQ(Normalized("\u1e69"), "s");
}

TEST(BertNormalizer, SetsIdeographsApart) {
  EXPECT_EQ(Normalized("a\u4e2db"), "a \u4e2d b");
}

TEST(BertNormalizer, KeepsAccentsOfCasedModels) {
  BertNormalizerOptions cased;
  cased.lowercase = false;
  cased.strip_accents = false;
  EXPECT_EQ(Normalized("\u00c9te\u0301", cased), "\u00c9te\u0301");
}

TEST(BertNormalizer, LowersWithoutStrippingWhenAsked) {
  BertNormalizerOptions options;
  options.strip_accents = false;
  EXPECT_EQ(Normalized("\u00c9\u0130", options), "\u00e9i\u0307");
}

TEST(BertNormalizer, SpansPointIntoTheOriginal) {
  EXPECT_EQ(Spans("ab"), "0-1 1-2");
  EXPECT_EQ(Spans("a\x01"
                  "b"),
            "0-1 2-3");                     // the removed one is skipped
  EXPECT_EQ(Spans("e\u0301x"), "0-1 2-3");  // so is the accent
  EXPECT_EQ(Spans("ab", 5), "5-6 6-7");
}

TEST(BertNormalizer, WhatIsAddedHasTheSpanOfItsCharacter) {
  EXPECT_EQ(Spans("\u4e2d"), "0-1 0-1 0-1 0-1 0-1");  // blank, 3 bytes, blank
}

// U+1D165 is an accent by class but not by category, so it stays; order moves
// it before U+0301, spans stay in the order of the text.
TEST(BertNormalizer, ReorderingLeavesSpansInOrder) {
  EXPECT_EQ(Normalized("a\u0301\U0001D165"), "a\U0001D165");
  EXPECT_EQ(Spans("a\u0301\U0001D165"), "0-1 1-2 1-2 1-2 1-2");
}

}  // namespace
}  // namespace frostline::trainer
