// SPDX-License-Identifier: Apache-2.0
#include "spans/collector.h"

#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

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

// An IPv6 address stands in brackets, so that its colons are not the port's.
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

}  // namespace frostline::spans
