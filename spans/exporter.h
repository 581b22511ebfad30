// SPDX-License-Identifier: Apache-2.0
//
// File: exporter.h
//
// Sends spans to the collector that --otlp names.
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

// Where spans go, as --otlp says: the URL of a collector that speaks OTLP over
// gRPC, in the form of OTEL_EXPORTER_OTLP_ENDPOINT.
//
//   http://127.0.0.1:4317    a collector on this machine
//   https://otel.lan:4317    elsewhere; --otlp-ca FILE signs its certificate
struct Collector {
  std::string address;  // HOST:PORT; empty: no spans are sent
  bool is_encrypted = false;
  std::string ca;  // a PEM file; empty: the CAs of this machine

  bool empty() const { return address.empty(); }
};

// The error is REQUEST_INVALID for a text that is no such URL, and for
// plaintext to another machine, since spans name studies.
absl::StatusOr<Collector> ParseCollector(const std::string& url);

// Returns the flags --otlp and --otlp-ca. `collector`, which they fill, must
// outlive them.
std::vector<Flag> CollectorFlags(Collector* collector);
// The error is REQUEST_INVALID for a CA when there is no collector that uses
// TLS.
absl::Status CheckCollector(const Collector& collector);

// How many spans were sent and dropped. Any thread may read.
struct SpanCounts {
  Counter sent;
  Counter dropped;  // no room, or the collector refused them
};

// A sink that sends spans to a collector, some hundred at a time, on a thread
// of its own. While the collector is away 8,192 spans wait in memory; newer
// ones are dropped and counted, and no trial waits. The log says once when the
// collector goes and once when it is back. Any thread may call Take(), which
// returns at once.
class Exporter final : public SpanSink {
 public:
  static constexpr std::size_t kMostWaiting = 8'192;
  static constexpr std::size_t kMostAtOnce = 512;

  // The error is TLS_FILE for a CA that cannot be read. It is no error if the
  // collector cannot be reached: it may start later.
  static absl::StatusOr<std::unique_ptr<Exporter>> Open(
      const Collector& collector, Attributes program, const Clock& clock);
  // Tries once more to send what still waits, for at most two seconds.
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
