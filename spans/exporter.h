// SPDX-License-Identifier: Apache-2.0
//
// File: exporter.h
//
// Spans go to a collector, which the value of --otlp names.
#ifndef FROSTLINE_SPANS_EXPORTER_H_
#define FROSTLINE_SPANS_EXPORTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/flags.h"
#include "base/metrics.h"
#include "spans/span.h"

namespace frostline::spans {

// Where spans go, as --otlp says it: the URL of a collector that speaks OTLP
// over gRPC, in the form of OTEL_EXPORTER_OTLP_ENDPOINT.
//
//   http://127.0.0.1:4317    a collector on this machine
//   https://otel.lan:4317    elsewhere; --otlp-ca FILE signs its certificate

struct Collector {
  std::string address;  // HOST:PORT; empty: spans go nowhere
  bool is_encrypted = false;
  std::string ca;  // a PEM file; empty: whom this machine trusts

  bool empty() const { return address.empty(); }
};

// Answers REQUEST_INVALID for what is no such URL, and for plaintext to another
// machine: spans name studies.
absl::StatusOr<Collector> ParseCollector(const std::string& url);

// --otlp and --otlp-ca. What they fill outlives them.
std::vector<Flag> CollectorFlags(Collector* collector);
// Answers REQUEST_INVALID for a CA without a collector that shows a
// certificate.
absl::Status CheckCollector(const Collector& collector);

// Sends spans to a collector, some hundred at a time. A collector that is away
// costs spans, never a trial: 8,192 wait in memory, the newest beyond them are
// dropped and counted, and who reads the log is told once when it goes and once
// when it is back.
//
// Threads: Take() may be called by any and goes on at once; a thread of its own
// waits for the collector.

struct SpanCounts {
  Counter sent;
  Counter dropped;  // no room, or the collector would not have them
};

class Exporter final : public SpanSink {
 public:
  static constexpr std::size_t kMostWaiting = 8'192;
  static constexpr std::size_t kMostAtOnce = 512;

  // Answers TLS_FILE for a CA that cannot be read. A collector that is not
  // there is no error: it may come.
  static absl::StatusOr<std::unique_ptr<Exporter>> Open(
      const Collector& collector, Attributes program, const Clock& clock);
  // What still waits is tried once more, for two seconds in all.
  ~Exporter() override;
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  void Take(Span span) override;
  // Any thread may read.
  const SpanCounts& counts() const;

 private:
  class Sender;
  explicit Exporter(std::unique_ptr<Sender> sender);

  std::unique_ptr<Sender> sender_;
};

}  // namespace frostline::spans

#endif  // FROSTLINE_SPANS_EXPORTER_H_
