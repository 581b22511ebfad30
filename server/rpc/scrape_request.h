// SPDX-License-Identifier: Apache-2.0
//
// File: scrape_request.h
//
// As much of HTTP/1 as a scraper needs: `GET /metrics` and no more. Pure
// functions of the bytes that have come.
#ifndef FROSTLINE_SERVER_RPC_SCRAPE_REQUEST_H_
#define FROSTLINE_SERVER_RPC_SCRAPE_REQUEST_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_SCRAPE_REQUEST_H_
