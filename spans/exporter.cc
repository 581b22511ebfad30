// SPDX-License-Identifier: Apache-2.0
#include "spans/exporter.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/rng.h"
#include "grpc/otlp/trace_service.grpc.pb.h"
#include "spans/otlp.h"
#include "tls/credentials.h"

namespace frostline::spans {
namespace {

constexpr char kFlag[] = "--otlp";
constexpr char kFix[] =
    "give the URL of a collector that speaks OTLP over gRPC: "
    "http://127.0.0.1:4317 or https://HOST:PORT";
constexpr int kDefaultPort = 4317;
constexpr int kLastPort = 65'535;

absl::Status Refuse(const std::string& url, const std::string& why) {
  return BadFlag(kFlag, absl::StrCat("is '", url, "', ", why), kFix);
}

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Finds where the host ends. An IPv6 address stands in brackets, so that its
// colons are not taken for the port's.
std::size_t EndOfHost(std::string_view address) {
  if (!address.starts_with('[')) return address.find(':');
  const std::size_t bracket = address.find(']');
  return bracket == std::string_view::npos ? bracket : bracket + 1;
}

bool IsThisMachine(std::string_view host) {
  const bool is_number =
      host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "[::1]" ||
         (is_number && host.starts_with("127."));
}

}  // namespace

absl::StatusOr<Collector> ParseCollector(const std::string& url) {
  Collector collector;
  std::string_view rest = url;
  collector.is_encrypted = TakePrefix(&rest, "https://");
  if (!collector.is_encrypted && !TakePrefix(&rest, "http://")) {
    return Refuse(url, "without http:// or https://");
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::string_view host = rest.substr(0, EndOfHost(rest));
  std::string_view port = rest.substr(host.size());
  const bool is_bare = port.empty();
  int number = kDefaultPort;
  const bool has_port =
      is_bare ||
      (TakePrefix(&port, ":") && absl::SimpleAtoi(std::string(port), &number) &&
       number > 0 && number <= kLastPort);
  constexpr std::string_view kNotInHosts = "/?#@ \t\"'\\";
  if (host.empty() || !has_port ||
      host.starts_with('[') != host.ends_with(']') ||
      host.find_first_of(kNotInHosts) != std::string_view::npos) {
    return Refuse(url, "which is not HOST:PORT behind its scheme");
  }
  if (!collector.is_encrypted && !IsThisMachine(host)) {
    return Refuse(url, "plaintext to another machine");
  }
  collector.address = absl::StrCat(std::string(host), ":", number);
  return collector;
}

std::vector<Flag> CollectorFlags(Collector* collector) {
  return {{kFlag, "URL",
           "Send spans of each trial's life to this OpenTelemetry collector, "
           "http://127.0.0.1:4317",
           [collector](const std::string& url) {
             auto parsed = ParseCollector(url);
             if (!parsed.ok()) return parsed.status();
             parsed->ca = std::move(collector->ca);
             *collector = *std::move(parsed);
             return absl::OkStatus();
           }},
          TextFlag("--otlp-ca", "FILE",
                   "Who signs the collector's certificate; this machine's "
                   "roots unless given",
                   &collector->ca)};
}

absl::Status CheckCollector(const Collector& collector) {
  if (collector.ca.empty() || collector.is_encrypted) return absl::OkStatus();
  return BadFlag("--otlp-ca", "is given without a collector at https://",
                 "give --otlp https://HOST:PORT, or leave it out");
}

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr auto kGather = milliseconds(500);  // spans that share a call
constexpr auto kCallBound = seconds(10);
constexpr auto kLastBound = seconds(2);
constexpr Duration kFirstPause = seconds(1);
constexpr Duration kLongestPause = seconds(30);

// Says whether to send again, by
// https://opentelemetry.io/docs/specs/otlp/#failures.
bool MayBeTakenLater(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DATA_LOSS:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(
    const Collector& collector, const Clock& clock) {
  if (!collector.is_encrypted) return grpc::InsecureChannelCredentials();
  if (collector.ca.empty()) return grpc::SslCredentials({});
  tls::TlsFiles files;
  files.ca = collector.ca;
  return tls::ChannelCredentialsOf(files, clock);
}

}  // namespace

class Exporter::Sender {
 public:
  Sender(const Collector& collector,
         const std::shared_ptr<grpc::ChannelCredentials>& credentials,
         Attributes program)
      : address_(collector.address),
        program_(std::move(program)),
        stub_(otlp::TraceService::NewStub(
            grpc::CreateChannel(collector.address, credentials))),
        rng_(std::random_device{}()),
        thread_([this] { Run(); }) {}

  ~Sender() {
    {
      const MutexLock lock(&mutex_);
      stop_by_ = steady_clock::now() + kLastBound;
      if (call_ != nullptr) call_->TryCancel();
      wake_.SignalAll();
    }
    thread_.join();
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void Take(Span span) {
    const MutexLock lock(&mutex_);
    if (stop_by_ || waiting_.size() >= kMostWaiting) {
      return counts_.dropped.Add();
    }
    waiting_.push_back(std::move(span));
    if (waiting_.size() == 1 || waiting_.size() == kMostAtOnce) {
      wake_.SignalAll();
    }
  }

  const SpanCounts& counts() const { return counts_; }

 private:
  using Spans = std::vector<Span>;

  // Returns no spans when there is nothing left to send, ever.
  Spans NextSpans() {
    const MutexLock lock(&mutex_);
    while (waiting_.empty() && !stop_by_) wake_.Wait(&mutex_);
    const auto gathered = steady_clock::now() + kGather;
    while (!stop_by_ && waiting_.size() < kMostAtOnce &&
           wake_.WaitUntil(&mutex_, gathered)) {
    }
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                            waiting_.size(), kMostAtOnce));
    Spans spans(std::make_move_iterator(waiting_.begin()),
                std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    return spans;
  }

  std::optional<steady_clock::time_point> stop_by() {
    const MutexLock lock(&mutex_);
    return stop_by_;
  }

  // Waits; it may end early when the exporter is destroyed.
  void Pause(Duration time) {
    const auto until = steady_clock::now() + time;
    const MutexLock lock(&mutex_);
    while (!stop_by_ && wake_.WaitUntil(&mutex_, until)) {
    }
  }

  void SetCall(grpc::ClientContext* call) {
    const MutexLock lock(&mutex_);
    call_ = call;
  }

  grpc::Status Send(const Spans& spans, steady_clock::time_point deadline,
                    otlp::ExportTraceServiceResponse* response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         (deadline - steady_clock::now()));
    const otlp::ExportTraceServiceRequest request = ToOtlp(program_, spans);
    SetCall(&context);
    grpc::Status sent = stub_->Export(&context, request, response);
    SetCall(nullptr);
    return sent;
  }

  void Note(const grpc::Status& sent) {
    if (sent.ok() == is_taken_) return;
    is_taken_ = sent.ok();
    if (is_taken_) {
      return Log(LogLevel::kInfo, "spans_taken_again",
                 {{"collector", address_}});
    }
    Log(LogLevel::kWarning, "spans_not_taken",
        {{"collector", address_},
         {"cause", sent.error_message()},
         {"fix", "see whether it listens there for OTLP over gRPC"}});
  }

  void Deliver(const Spans& spans) {
    const auto all = static_cast<std::int64_t>(spans.size());
    while (true) {
      const auto stop_by = this->stop_by();
      otlp::ExportTraceServiceResponse response;
      const grpc::Status sent = Send(
          spans, stop_by.value_or(steady_clock::now() + kCallBound), &response);
      Note(sent);
      if (sent.ok()) {
        const std::int64_t refused = std::clamp<std::int64_t>(
            response.partial_success().rejected_spans(), 0, all);
        counts_.sent.Add(all - refused);
        counts_.dropped.Add(refused);
        return pause_.Reset();
      }
      if (stop_by || !MayBeTakenLater(sent.error_code())) {
        return counts_.dropped.Add(all);
      }
      Pause(pause_.Next(rng_));
    }
  }

  void Run() {
    while (true) {
      const Spans spans = NextSpans();
      if (spans.empty()) return;
      Deliver(spans);
    }
  }

  const std::string address_;
  const Attributes program_;
  const std::unique_ptr<otlp::TraceService::Stub> stub_;
  SpanCounts counts_;
  // Used by the thread alone.
  Rng rng_;
  Backoff pause_{kFirstPause, kLongestPause};
  bool is_taken_ = true;

  Mutex mutex_;
  CondVar wake_;
  Spans waiting_ ABSL_GUARDED_BY(mutex_);
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // The time by which the thread has to end.
  std::optional<steady_clock::time_point> stop_by_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<Exporter>> Exporter::Open(
    const Collector& collector, Attributes program, const Clock& clock) {
  ASSIGN_OR_RETURN(const auto credentials, CredentialsOf(collector, clock));
  return std::unique_ptr<Exporter>(new Exporter(
      std::make_unique<Sender>(collector, credentials, std::move(program))));
}

Exporter::Exporter(std::unique_ptr<Sender> sender)
    : sender_(std::move(sender)) {}
Exporter::~Exporter() = default;

void Exporter::Take(Span span) { sender_->Take(std::move(span)); }
const SpanCounts& Exporter::counts() const { return sender_->counts(); }

}  // namespace frostline::spans
