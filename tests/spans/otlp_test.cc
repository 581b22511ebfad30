// SPDX-License-Identifier: Apache-2.0
#include "spans/otlp.h"

#include "gtest/gtest.h"

namespace frostline::spans {
namespace {

Span OneSpan() {
  Span span;
  span.context = {"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", true};
  span.parent = "0102030405060708";
  span.name = "train";
  span.begin = 1'000;
  span.end = 3'000;
  span.attributes = {{"frostline.worker", "w1"},
                     {"frostline.attempt", std::int64_t{2}}};
  return span;
}

TEST(OtlpTest, WritesBytesWhereWeHaveDigitsAndNanoseconds) {
  const auto request = ToOtlp({{"service.name", "x"}}, {OneSpan()});
  const auto& span = request.resource_spans(0).scope_spans(0).spans(0);
  EXPECT_EQ(span.trace_id().size(), 16u);
  EXPECT_EQ(span.trace_id().substr(0, 3), "\x4b\xf9\x2f");
  EXPECT_EQ(span.span_id().size(), 8u);
  EXPECT_EQ(span.parent_span_id(), "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(span.start_time_unix_nano(), 1'000'000u);
  EXPECT_EQ(span.end_time_unix_nano(), 3'000'000u);
  EXPECT_EQ(span.attributes(0).value().string_value(), "w1");
  EXPECT_EQ(span.attributes(1).value().int_value(), 2);
  EXPECT_FALSE(span.has_status());
}

TEST(OtlpTest, SaysWhoSends) {
  const auto request = ToOtlp({{"service.name", "x"}}, {});
  const auto& attribute = request.resource_spans(0).resource().attributes(0);
  EXPECT_EQ(attribute.key(), "service.name");
  EXPECT_EQ(attribute.value().string_value(), "x");
}

TEST(OtlpTest, WritesLinksAndWhatFailed) {
  Span span = OneSpan();
  span.links.push_back(span.context);
  span.error = "no heartbeat";
  const auto request = ToOtlp({}, {span});
  const auto& written = request.resource_spans(0).scope_spans(0).spans(0);
  EXPECT_EQ(written.links(0).trace_id(), written.trace_id());
  EXPECT_EQ(written.status().code(), otlp::Status::STATUS_CODE_ERROR);
  EXPECT_EQ(written.status().message(), "no heartbeat");
}

TEST(OtlpTest, NeverEndsASpanBeforeItBegan) {
  Span span = OneSpan();
  span.end = span.begin - 500;  // the clock was set back
  const auto request = ToOtlp({}, {span});
  const auto& written = request.resource_spans(0).scope_spans(0).spans(0);
  EXPECT_EQ(written.end_time_unix_nano(), written.start_time_unix_nano());
}

}  // namespace
}  // namespace frostline::spans
