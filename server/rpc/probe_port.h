// SPDX-License-Identifier: Apache-2.0
//
// File: probe_port.h
//
// The port for probes speaks two languages. A new connection waits here until
// its first bytes show which one it speaks: HTTP/2 is handed on to gRPC with
// nothing of it read; HTTP/1 is answered here, one request for each connection.
//
// Limits: a connection is closed when it has not asked within 5 s, or not taken
// the answer within 10 s. The head of a request has at most 8 KiB. At most 64
// connections wait; when one more comes, the oldest is closed. So slow
// connections are never in the way of a probe, which leaves at once.
//
// Threads: one thread of its own does everything, and waits for no peer and no
// page.
#ifndef FROSTLINE_SERVER_RPC_PROBE_PORT_H_
#define FROSTLINE_SERVER_RPC_PROBE_PORT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "server/metrics/page.h"

namespace frostline::server {

// As much of HTTP/1 as a scraper needs: `GET /metrics` and no more. These are
// pure functions of the bytes that have come.

// The most bytes of a request's first line and headers.
inline constexpr std::size_t kMaxHeadBytes = 8 * 1024;

enum class Speech {
  kUnclear,  // so far it may be either
  kHttp1,    // or anything unknown
  kHttp2,
};

// Returns which language the first bytes of a connection are in.
Speech SpeechOf(std::string_view bytes);

enum class ScrapeVerdict {
  kIncomplete,  // more is to come
  kMetrics,
  kNotFound,          // 404
  kMethodNotAllowed,  // 405
  kTooLarge,          // 431
  kInvalid,           // 400: no HTTP/1
};

ScrapeVerdict JudgeScrape(std::string_view head);

// Returns the whole answer to any verdict but kIncomplete. `page` is for
// kMetrics alone, and null when it cannot be made (503).
std::string ScrapeAnswer(ScrapeVerdict verdict, const std::string* page);

struct ProbePortLimits {
  std::size_t most = 64;
  Duration to_ask = std::chrono::seconds(5);
  Duration to_take = std::chrono::seconds(10);
};

// The thread that sorts the connections at the port for probes, and answers
// those that speak HTTP/1. HealthListener owns it.
class ProbePort {
 public:
  // A function that takes over the socket. It is called on the probe port's
  // thread.
  using HandOn = std::function<void(int fd)>;

  // Requests for metrics get a page that `scribe` makes. Both arguments outlive
  // this object.
  ProbePort(PageMaker& scribe, const Clock& clock, ProbePortLimits limits = {});
  ~ProbePort();  // stops
  ProbePort(const ProbePort&) = delete;
  ProbePort& operator=(const ProbePort&) = delete;

  void Start(HandOn hand_on);
  // Takes over the socket, which does not block. Any thread may call.
  void Receive(int fd);
  // Closes all connections that are here. Idempotent.
  void Stop();

 private:
  class Rounds;
  // Shared with pages that are still being made.
  std::shared_ptr<Rounds> rounds_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_PROBE_PORT_H_
