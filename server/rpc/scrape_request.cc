// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/scrape_request.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace frostline::server {
namespace {

// A client of HTTP/2 says this first (RFC 9113, 3.4). No method of HTTP/1 that
// is in use begins so: PRI is kept for it.
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kToldApart = 3;
constexpr std::string_view kBlanks = " \t";

// The method, the target and the version of a request's line.
struct RequestLine {
  std::string_view method;
  std::string_view target;
  std::string_view version;
};

RequestLine Split(std::string_view line) {
  RequestLine parts;
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return parts;
  parts.method = line.substr(0, first);
  parts.target = line.substr(first + 1, last - first - 1);
  parts.version = line.substr(last + 1);
  return parts;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
  });
}

std::string AnswerOf(const char* status, const char* more,
                     const std::string& body, const char* type) {
  return absl::StrCat(
      "HTTP/1.1 ", status, "\r\n", more, "Content-Type: ", type,
      "\r\nContent-Length: ", body.size(),
      "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n", body);
}

std::string Refusal(const char* status, const char* more = "") {
  return AnswerOf(status, more, absl::StrCat(status, "\n"),
                  "text/plain; charset=utf-8");
}

}  // namespace

Speech SpeechOf(std::string_view bytes) {
  const std::string_view begin = kPreface.substr(0, kToldApart);
  const std::size_t seen = std::min(bytes.size(), begin.size());
  if (bytes.substr(0, seen) != begin.substr(0, seen)) return Speech::kHttp1;
  return seen < begin.size() ? Speech::kUnclear : Speech::kHttp2;
}

ScrapeVerdict JudgeScrape(std::string_view head) {
  const std::size_t end = head.find("\r\n\r\n");
  if (std::min(end, head.size()) > kMaxHeadBytes) {
    return ScrapeVerdict::kTooLarge;
  }
  if (end == std::string_view::npos) {
    return head.size() < kMaxHeadBytes ? ScrapeVerdict::kIncomplete
                                       : ScrapeVerdict::kTooLarge;
  }
  const RequestLine line = Split(head.substr(0, head.find("\r\n")));
  const bool is_http1 =
      line.version == "HTTP/1.1" || line.version == "HTTP/1.0";
  const bool has_form =
      IsToken(line.method) && !line.target.empty() &&
      line.target.find_first_of(kBlanks) == std::string_view::npos;
  if (!is_http1 || !has_form) return ScrapeVerdict::kInvalid;
  if (line.method != "GET") return ScrapeVerdict::kMethodNotAllowed;
  const std::string_view path = line.target.substr(0, line.target.find('?'));
  return path == "/metrics" ? ScrapeVerdict::kMetrics
                            : ScrapeVerdict::kNotFound;
}

std::string ScrapeAnswer(ScrapeVerdict verdict, const std::string* page) {
  switch (verdict) {
    case ScrapeVerdict::kMetrics:
      if (page == nullptr) return Refusal("503 Service Unavailable");
      return AnswerOf("200 OK", "", *page,
                      "text/plain; version=0.0.4; charset=utf-8");
    case ScrapeVerdict::kNotFound:
      return Refusal("404 Not Found");
    case ScrapeVerdict::kMethodNotAllowed:
      return Refusal("405 Method Not Allowed", "Allow: GET\r\n");
    case ScrapeVerdict::kTooLarge:
      return Refusal("431 Request Header Fields Too Large");
    case ScrapeVerdict::kIncomplete:
    case ScrapeVerdict::kInvalid:
      break;
  }
  return Refusal("400 Bad Request");
}

}  // namespace frostline::server
