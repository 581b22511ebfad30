// SPDX-License-Identifier: Apache-2.0
//
// File: http_edge.h
//
// The edge for browsers: the page, and below it the verbs as JSON
// (json_calls.h). It listens on loopback, and elsewhere over TLS alone.
//
//   GET  /                 the page
//   GET  /page.4be1f3a0.js, …   its files, which never change under one name
//   POST /frostline.v1.StudyService/ListStudies, or GET   a verb
//   POST /login            {"token":"frost_…"}: keeps it in a cookie that no
//                          script can read
//   POST /logout           forgets it
//   GET  /session          {"csrf":"…"}: what the page shows with each change
//
// What guards it: only names of this machine are answered (Host), so that no
// other site's name can be made to mean this server; a request that a browser
// says came from another site is refused; nothing is answered with CORS; the
// page may load nothing but its own files (CSP), and may not be framed. A
// request that a proxy passed on is not local: it needs a token. A change that
// comes from a browser also shows what only the page can have read (/session).
#ifndef FROSTLINE_SERVER_HTTP_HTTP_EDGE_H_
#define FROSTLINE_SERVER_HTTP_HTTP_EDGE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/audit/audit_log.h"
#include "server/auth/access.h"
#include "server/guard/guard.h"
#include "server/verbs/verb_table.h"

namespace frostline::server {

struct HttpOptions {
  // "127.0.0.1:7071", "[::1]:0", "localhost:7071"; empty: nowhere.
  std::string listen = "127.0.0.1:7071";
  // Takes the next free port where this one is in use.
  bool takes_next_port = true;
  bool allows_writes = false;
  // Callers of this machine need no token, as over gRPC in plaintext.
  bool trusts_local_callers = true;
  // Below which path a proxy has the page: "/user/ana/proxy". Requests may come
  // with it or without.
  std::string base_path = {};
  // Other names by which a proxy calls the page, or a browser beyond loopback.
  std::vector<std::string> hosts = {};
  // PEM files, needed beyond loopback, where every caller needs a token. They
  // are read again when they change. On loopback they are not used.
  std::string tls_certificate = {};
  std::string tls_key = {};
};

// Says whether browsers of other machines can reach the address. False for what
// is no address.
bool IsBeyondLoopback(const std::string& listen);

// A server of HTTP: the page, the verbs as JSON, and metrics.
// Thread-compatible. Destroyed before what it serves, and after that has
// answered what was asked.
class HttpEdge {
 public:
  // Checks the options as Listen() does, and takes no port.
  static absl::Status Check(const HttpOptions& options);
  // Listens and serves at once. What is pointed to outlives it; `audit` and
  // `counts` may be null. The error is REQUEST_INVALID, ADDRESS_NOT_LOOPBACK,
  // PORT_BUSY or TLS_FILE, at "http-listen" or another flag.
  static absl::StatusOr<std::unique_ptr<HttpEdge>> Listen(
      HttpOptions options, const VerbTable& verbs, const Gate& gate,
      AuditLog* audit, CallCounts* counts);
  ~HttpEdge();  // waits for the requests under way
  HttpEdge(const HttpEdge&) = delete;
  HttpEdge& operator=(const HttpEdge&) = delete;

  const std::string& url() const;  // "http://127.0.0.1:7071/", "https://lab/"
  // Takes no new requests.
  void Stop();

 private:
  class Impl;
  explicit HttpEdge(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Compresses as `Content-Encoding: gzip` says. Empty when that fails.
std::string Gzip(std::string_view text);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_HTTP_HTTP_EDGE_H_
