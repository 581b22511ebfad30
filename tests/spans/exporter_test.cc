// SPDX-License-Identifier: Apache-2.0
#include "spans/exporter.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "gmock/gmock.h"
#include "grpc/otlp/trace_service.grpc.pb.h"
#include "gtest/gtest.h"
#include "spans/otlp.h"
#include "tests/support/status_matchers.h"

namespace frostline::spans {
namespace {

TEST(CollectorTest, IsReadFromAUrl) {
  const auto here = ParseCollector("http://127.0.0.1:4317");
  ASSERT_OK(here);
  EXPECT_EQ(here->address, "127.0.0.1:4317");
  EXPECT_FALSE(here->is_encrypted);

  const auto elsewhere = ParseCollector("https://otel.lan:9999/");
  ASSERT_OK(elsewhere);
  EXPECT_EQ(elsewhere->address, "otel.lan:9999");
  EXPECT_TRUE(elsewhere->is_encrypted);
}

TEST(CollectorTest, HasThePortOfOtlpUnlessGiven) {
  EXPECT_EQ(ParseCollector("http://localhost")->address, "localhost:4317");
  EXPECT_EQ(ParseCollector("http://[::1]")->address, "[::1]:4317");
  EXPECT_EQ(ParseCollector("https://[fd00::7]:1")->address, "[fd00::7]:1");
}

TEST(CollectorTest, IsNoPlaintextOfAnotherMachine) {
  EXPECT_THAT(ParseCollector("http://otel.lan:4317"),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(ParseCollector("http://127.0.0.1.example:4317"),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST(CollectorTest, RefusesWhatIsNoUrl) {
  for (const char* const url :
       {"", "127.0.0.1:4317", "grpc://127.0.0.1:4317", "http://",
        "http://127.0.0.1:0", "http://127.0.0.1:65536", "http://127.0.0.1:x",
        "https://host:4317/v1/traces", "https://user@host:4317",
        "https://a b:4317", "https://[::1"}) {
    EXPECT_THAT(ParseCollector(url), FailsWith(ErrorId::kRequestInvalid))
        << url;
  }
}

TEST(CollectorTest, TakesACaOnlyForACertificate) {
  EXPECT_OK(CheckCollector({"host:1", true, "ca.pem"}));
  EXPECT_OK(CheckCollector({}));
  EXPECT_THAT(CheckCollector({"127.0.0.1:1", false, "ca.pem"}),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(CheckCollector({"", false, "ca.pem"}),
              FailsWith(ErrorId::kRequestInvalid));
}

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// Listens on loopback and keeps the names of spans.
class FakeCollector final : public otlp::TraceService::Service {
 public:
  explicit FakeCollector(int port = 0) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port),
                             grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeCollector() override {
    server_->Shutdown(std::chrono::system_clock::now());
  }

  grpc::Status Export(grpc::ServerContext*,
                      const otlp::ExportTraceServiceRequest* request,
                      otlp::ExportTraceServiceResponse* response) override {
    const std::lock_guard lock(mutex_);
    ++calls_;
    if (!answer_.ok()) return answer_;
    response->mutable_partial_success()->set_rejected_spans(rejects_);
    for (const auto& span : request->resource_spans(0).scope_spans(0).spans()) {
      names_.push_back(span.name());
    }
    return grpc::Status::OK;
  }

  void Answer(const grpc::Status& answer) {
    const std::lock_guard lock(mutex_);
    answer_ = answer;
  }
  void Reject(int spans) {
    const std::lock_guard lock(mutex_);
    rejects_ = spans;
  }
  std::vector<std::string> names() {
    const std::lock_guard lock(mutex_);
    return names_;
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  int port() const { return port_; }
  Collector collector() const {
    return {"127.0.0.1:" + std::to_string(port_), false, ""};
  }

 private:
  std::mutex mutex_;
  grpc::Status answer_;
  int rejects_ = 0;
  int calls_ = 0;
  std::vector<std::string> names_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

Span Named(const std::string& name) {
  Span span;
  span.context = NewTrace();
  span.name = name;
  return span;
}

bool Eventually(const std::function<bool()>& holds) {
  const auto end = steady_clock::now() + seconds(20);
  while (!holds() && steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  return holds();
}

std::unique_ptr<Exporter> OpenTo(const Collector& collector) {
  static const SystemClock clock;
  auto exporter = Exporter::Open(collector, {}, clock);
  EXPECT_OK(exporter);
  return *std::move(exporter);
}

TEST(ExporterTest, SendsWhatItTookInOneCall) {
  FakeCollector collector;
  const auto exporter = OpenTo(collector.collector());
  exporter->Take(Named("queued"));
  exporter->Take(Named("trial"));
  EXPECT_TRUE(Eventually([&] { return exporter->counts().sent.value() == 2; }));
  EXPECT_THAT(collector.names(), testing::ElementsAre("queued", "trial"));
  EXPECT_EQ(collector.calls(), 1);
}

TEST(ExporterTest, SendsTheLastOnesBeforeItEnds) {
  FakeCollector collector;
  auto exporter = OpenTo(collector.collector());
  exporter->Take(Named("trial"));
  exporter.reset();
  EXPECT_THAT(collector.names(), testing::ElementsAre("trial"));
}

TEST(ExporterTest, ComesAgainWhereTheCollectorIsBusy) {
  FakeCollector collector;
  collector.Answer({grpc::StatusCode::UNAVAILABLE, "busy"});
  const auto exporter = OpenTo(collector.collector());
  exporter->Take(Named("trial"));
  EXPECT_TRUE(Eventually([&] { return collector.calls() >= 1; }));
  collector.Answer(grpc::Status::OK);
  EXPECT_TRUE(Eventually([&] { return exporter->counts().sent.value() == 1; }));
  EXPECT_EQ(exporter->counts().dropped.value(), 0);
}

TEST(ExporterTest, DropsWhatTheCollectorWillNeverTake) {
  FakeCollector collector;
  collector.Answer({grpc::StatusCode::INVALID_ARGUMENT, "no"});
  const auto exporter = OpenTo(collector.collector());
  exporter->Take(Named("trial"));
  EXPECT_TRUE(
      Eventually([&] { return exporter->counts().dropped.value() == 1; }));
  EXPECT_EQ(collector.calls(), 1);
}

TEST(ExporterTest, CountsWhatWasRejected) {
  FakeCollector collector;
  collector.Reject(1);
  const auto exporter = OpenTo(collector.collector());
  exporter->Take(Named("queued"));
  exporter->Take(Named("trial"));
  EXPECT_TRUE(Eventually([&] { return exporter->counts().sent.value() == 1; }));
  EXPECT_EQ(exporter->counts().dropped.value(), 1);
}

TEST(ExporterTest, KeepsSoManyAndEndsSoonWithoutACollector) {
  auto exporter = OpenTo({"127.0.0.1:1", false, ""});
  const auto most = static_cast<std::int64_t>(Exporter::kMostWaiting);
  // Those of one call may be on their way.
  const auto more = static_cast<std::int64_t>(Exporter::kMostAtOnce) + 10;
  for (std::int64_t i = 0; i < most + more; ++i) exporter->Take(Named("trial"));
  EXPECT_GE(exporter->counts().dropped.value(), 10);
  EXPECT_EQ(exporter->counts().sent.value(), 0);
  const auto began = steady_clock::now();
  exporter.reset();
  EXPECT_LT(steady_clock::now() - began, seconds(10));
}

TEST(ExporterTest, RefusesACaThatIsNotThere) {
  const SystemClock clock;
  EXPECT_THAT(Exporter::Open({"localhost:1", true, "/none.pem"}, {}, clock),
              FailsWith(ErrorId::kTlsFile));
}

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
