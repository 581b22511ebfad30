// SPDX-License-Identifier: Apache-2.0
//
// File: anteroom.h
//
// The port for probes speaks two languages. Newcomers wait here until their
// first bytes say which: HTTP/2 is handed on to gRPC with nothing of it read,
// and HTTP/1 is answered here, one request a connection.
//
// Bounds: whoever has not asked within 5 s, or not taken the answer within 10
// s, is closed; a request's head has at most 8 KiB; 64 are in the room, and
// where it is full whoever has been there longest makes room. So nobody who is
// slow is in the way of a probe, which leaves the room at once.
//
// Threads: one of its own does everything, and waits for no peer nor page.
#ifndef FROSTLINE_SERVER_RPC_ANTEROOM_H_
#define FROSTLINE_SERVER_RPC_ANTEROOM_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "server/metrics/page.h"

namespace frostline::server {

// As much of HTTP/1 as a scraper needs: `GET /metrics` and no more. Pure
// functions of the bytes that have come.

// A request's line and headers.
inline constexpr std::size_t kMaxHeadBytes = 8 * 1024;

enum class Speech {
  kUnclear,  // as far as it goes it may be either
  kHttp1,    // or nothing that is known
  kHttp2,
};

// Judges by the first bytes of a connection.
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

// The whole answer to anything but kIncomplete; `page` is for kMetrics alone,
// and null where it cannot be made (503).
std::string ScrapeAnswer(ScrapeVerdict verdict, const std::string* page);

struct AnteroomLimits {
  std::size_t most = 64;
  Duration to_ask = std::chrono::seconds(5);
  Duration to_take = std::chrono::seconds(10);
};

class Anteroom {
 public:
  // Takes the socket; called on the room's thread.
  using HandOn = std::function<void(int fd)>;

  // Who asks for metrics gets the scribe's page. Both outlive it.
  Anteroom(Scribe& scribe, const Clock& clock, AnteroomLimits limits = {});
  ~Anteroom();  // stops
  Anteroom(const Anteroom&) = delete;
  Anteroom& operator=(const Anteroom&) = delete;

  void Start(HandOn hand_on);
  // Takes the socket, which does not block. Any thread may call.
  void Receive(int fd);
  // Closes all who are in. It is idempotent.
  void Stop();

 private:
  class Rounds;
  // Shared with pages that are still to come.
  std::shared_ptr<Rounds> rounds_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_ANTEROOM_H_
