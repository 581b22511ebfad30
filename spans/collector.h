// SPDX-License-Identifier: Apache-2.0
//
// File: collector.h
//
// Where spans go, as --otlp says it: the URL of a collector that speaks OTLP
// over gRPC, in the form of OTEL_EXPORTER_OTLP_ENDPOINT.
//
//   http://127.0.0.1:4317    a collector on this machine
//   https://otel.lan:4317    elsewhere; --otlp-ca FILE signs its certificate
#ifndef FROSTLINE_SPANS_COLLECTOR_H_
#define FROSTLINE_SPANS_COLLECTOR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/flags.h"

namespace frostline::spans {

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

}  // namespace frostline::spans

#endif  // FROSTLINE_SPANS_COLLECTOR_H_
