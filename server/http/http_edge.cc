// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_edge.h"

#include <httplib.h>
#include <sys/socket.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/plain/json.h"
#include "base/plain/sums.h"
#include "base/secret.h"
#include "server/http/json_calls.h"
#include "server/http/page_assets.h"
#include "tls/served_certificate.h"

namespace frostline::server {

std::string Gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kWindowWithGzipHead = 15 + 16;
  constexpr int kMemory = 8;
  if (deflateInit2(&stream, Z_BEST_SPEED + 3, Z_DEFLATED, kWindowWithGzipHead,
                   kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in =
      const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int ended = deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return ended == Z_STREAM_END ? result : "";
}

namespace {

constexpr char kField[] = "http-listen";
// A page asks for several things at a time, and each connection of a browser
// takes a thread for as long as it is kept.
constexpr std::size_t kThreads = 24;
constexpr int kKeepSeconds = 1;
constexpr int kReadSeconds = 5;
constexpr int kWriteSeconds = 10;
constexpr int kPortsTried = 10;
constexpr std::size_t kWorthCompressing = 1024;
constexpr std::size_t kMostCookieBytes = 512;

constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
    "data:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";

constexpr char kNoPage[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
    "<title>Frostline</title><h1>Frostline</h1>"
    "<p>The coordinator runs. This program was built without the page, because "
    "there was no Node.js when it was built, or <code>./dev setup dashboard"
    "</code> had not been run.</p><p>The command line shows all that the page "
    "would: <code>frostline study list</code>, <code>frostline report STUDY"
    "</code>. What is served here as JSON: <code>curl -d '{}' "
    "URL/frostline.v1.StudyService/ListStudies</code>.</p></html>\n";

struct Place {
  std::string host;  // "127.0.0.1", "::1", "0.0.0.0", "lab.example.org"
  int port = 0;

  bool is_loopback() const { return host == "127.0.0.1" || host == "::1"; }
};

absl::StatusOr<Place> PlaceOf(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  Place place;
  if (colon == std::string::npos ||
      !absl::SimpleAtoi(listen.substr(colon + 1), &place.port) ||
      place.port < 0 || place.port > 65'535) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("\"", listen, "\" is no address"),
                     "give HOST:PORT, such as 127.0.0.1:7071, or none", kField);
  }
  place.host = listen.substr(0, colon);
  if (place.host == "localhost") place.host = "127.0.0.1";
  if (absl::StartsWith(place.host, "[") && absl::EndsWith(place.host, "]")) {
    place.host = place.host.substr(1, place.host.size() - 2);
  }
  if (!place.host.empty()) return place;
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("\"", listen, "\" names no host"),
                   "give HOST:PORT; 0.0.0.0 stands for every address", kField);
}

absl::Status CheckPlace(const HttpOptions& options) {
  ASSIGN_OR_RETURN(const Place place, PlaceOf(options.listen));
  const bool has_tls =
      !options.tls_certificate.empty() && !options.tls_key.empty();
  if (place.is_loopback() || has_tls) return absl::OkStatus();
  return MakeError(
      ErrorId::kAddressNotLoopback,
      absl::StrCat("the page at ", options.listen,
                   " can be reached by other machines"),
      "give --tls-cert and --tls-key, or listen on 127.0.0.1 and reach it "
      "through `ssh -L 7071:127.0.0.1:7071 HOST` or a proxy that encrypts",
      kField);
}

absl::Status CheckPath(const std::string& path) {
  const bool is_plain =
      path.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
          "/-_.~@%") == std::string::npos;
  if (path.empty() || (is_plain && path.front() == '/' && path.back() != '/')) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kRequestInvalid, absl::StrCat("\"", path, "\" is no path"),
      "begin it with / and end it without, such as /frostline", "base-path");
}

// "localhost:7071" is "localhost", "[::1]:7071" is "[::1]".
std::string NameIn(const std::string& host) {
  if (absl::StartsWith(host, "[")) return host.substr(0, host.find(']') + 1);
  return absl::AsciiStrToLower(host.substr(0, host.find(':')));
}

std::string EtagOf(std::string_view body) {
  Sha256Sum sum;
  sum.Add(body);
  return absl::StrCat("\"", sum.Finish().substr(0, 32), "\"");
}

bool TakesGzip(const httplib::Request& request) {
  return absl::StrContains(request.get_header_value("Accept-Encoding"), "gzip");
}

// A body that is sent often.
struct Prepared {
  std::string type;
  std::string plain;
  std::string gzip;
  std::string etag;
};

Prepared Prepare(std::string_view type, std::string_view body) {
  return {.type = std::string(type) + "; charset=utf-8",
          .plain = std::string(body),
          .gzip = Gzip(body),
          .etag = EtagOf(body)};
}

bool IsKnown(const httplib::Request& request, const std::string& etag) {
  return absl::StrContains(request.get_header_value("If-None-Match"), etag);
}

void SendBody(const httplib::Request& request, const Prepared& body,
              httplib::Response& response) {
  response.set_header("ETag", body.etag);
  response.set_header("Vary", "Accept-Encoding, Cookie");
  if (IsKnown(request, body.etag)) {
    response.status = 304;
    return;
  }
  const bool packed = TakesGzip(request) && !body.gzip.empty();
  if (packed) response.set_header("Content-Encoding", "gzip");
  // The library would compress a plain body again, with Brotli at its slowest;
  // what a provider gives it leaves as it is.
  const auto bytes =
      std::make_shared<std::string>(packed ? body.gzip : body.plain);
  response.set_content_provider(
      bytes->size(), body.type,
      [bytes](std::size_t begin, std::size_t count, httplib::DataSink& sink) {
        sink.write(bytes->data() + begin, count);
        return true;
      });
}

void SendError(const absl::Status& status, httplib::Response& response) {
  const JsonAnswer error = JsonErrorOf(status);
  response.status = error.status;
  response.set_content(error.body, "application/json");
}

absl::Status Refused(const std::string& cause, const std::string& fix) {
  return MakeError(ErrorId::kRoleDenied, cause, fix);
}

bool CameThroughProxy(const httplib::Request& request) {
  constexpr std::array<const char*, 4> kMarks = {
      "X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via"};
  return std::any_of(kMarks.begin(), kMarks.end(), [&](const char* mark) {
    return request.has_header(mark);
  });
}

bool IsToken(const std::string& text) {
  return !text.empty() && text.size() <= kMostCookieBytes &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
         });
}

bool IsFromBrowser(const httplib::Request& request) {
  return request.has_header("Origin") || request.has_header("Sec-Fetch-Site") ||
         request.has_header("Cookie");
}

// Over TLS where there is a certificate to show.
std::unique_ptr<httplib::Server> MakeServer(
    tls::ServedCertificate* certificate) {
  if (certificate == nullptr) return std::make_unique<httplib::Server>();
  return std::make_unique<httplib::SSLServer>([certificate](SSL_CTX& context) {
    certificate->ServeIn(&context);
    return true;
  });
}

// Null on loopback, where nothing is encrypted.
absl::StatusOr<std::unique_ptr<tls::ServedCertificate>> CertificateFor(
    const HttpOptions& options) {
  ASSIGN_OR_RETURN(const Place place, PlaceOf(options.listen));
  if (place.is_loopback()) return nullptr;
  return tls::ServedCertificate::Open({.certificate = options.tls_certificate,
                                       .key = options.tls_key,
                                       .ca = ""});
}

// The text after "token": in {"token":"…"}; a token needs no escapes.
std::string TokenIn(const std::string& body) {
  const std::vector<std::string> parts = absl::StrSplit(body, '"');
  return parts.size() == 5 && parts[1] == "token" ? parts[3] : "";
}

}  // namespace

class HttpEdge::Impl {
 public:
  Impl(HttpOptions options, std::unique_ptr<tls::ServedCertificate> certificate,
       const VerbTable& verbs, const Gate& gate, AuditLog* audit,
       CallCounts* counts)
      : options_(std::move(options)),
        is_tls_(certificate != nullptr),
        gate_(gate),
        calls_(verbs, gate, audit, counts, options_.allows_writes),
        certificate_(std::move(certificate)),
        server_holder_(MakeServer(certificate_.get())),
        server_(*server_holder_) {
    for (const PageAsset& asset : PageAssets()) {
      files_.emplace(asset.name, Prepare(asset.type, asset.body));
    }
    if (files_.empty()) files_["index.html"] = Prepare("text/html", kNoPage);
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_keep_alive_timeout(kKeepSeconds);
    server_.set_read_timeout(kReadSeconds);
    server_.set_write_timeout(kWriteSeconds);
    server_.set_payload_max_length(kMaxRequestBytes);
    server_.set_tcp_nodelay(true);
    // The library's own options would let a second program take the same port.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          SetHeaders(response);
          const absl::Status from = CheckOrigin(request);
          if (from.ok()) return httplib::Server::HandlerResponse::Unhandled;
          SendError(from, response);
          return httplib::Server::HandlerResponse::Handled;
        });
    server_.Get(".*", [this](const auto& request, auto& response) {
      Get(request, response);
    });
    server_.Post(".*", [this](const auto& request, auto& response) {
      Post(request, response);
    });
  }

  ~Impl() {
    Stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start() {
    ASSIGN_OR_RETURN(const Place place, PlaceOf(options_.listen));
    if (!server_.is_valid()) {
      return absl::InternalError("OpenSSL made no context for the page");
    }
    const int port = Bind(place);
    if (port < 0) {
      return MakeError(
          ErrorId::kPortBusy,
          absl::StrCat(options_.listen,
                       " is in use, or no address of this machine"),
          "give another with --http-listen, or none", kField);
    }
    if (port != place.port && place.port != 0) {
      Log(LogLevel::kInfo, "page_port_taken",
          {{"port", absl::StrCat(place.port)},
           {"instead", absl::StrCat(port)}});
    }
    cookie_ = absl::StrCat("frostline_token_", port);
    // Browsers know it by the names in its certificate.
    const std::string& host =
        is_tls_ && !options_.hosts.empty() ? options_.hosts[0] : place.host;
    const bool is_bare_ipv6 = absl::StrContains(host, ":") && host[0] != '[';
    url_ = absl::StrCat(is_tls_ ? "https://" : "http://",
                        is_bare_ipv6 ? absl::StrCat("[", host, "]") : host, ":",
                        port, options_.base_path, "/");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // Before that, Stop() would have no effect.
    while (!server_.is_running()) std::this_thread::yield();
    return absl::OkStatus();
  }

  void Stop() {
    if (thread_.joinable() && server_.is_running()) server_.stop();
  }

  const std::string& url() const { return url_; }

 private:
  // Returns the port; -1 when there is none.
  int Bind(const Place& place) {
    if (place.port == 0) return server_.bind_to_any_port(place.host);
    const int last =
        options_.takes_next_port ? place.port + kPortsTried : place.port;
    for (int port = place.port; port <= std::min(last, 65'535); ++port) {
      if (server_.bind_to_port(place.host, port)) return port;
    }
    return options_.takes_next_port ? server_.bind_to_any_port(place.host) : -1;
  }

  void SetHeaders(httplib::Response& response) const {
    // By it the page knows what time it is here, however wrong it is there.
    response.set_header(
        "Date", absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT",
                                 absl::FromUnixMicros(SystemClock().Wall()),
                                 absl::UTCTimeZone()));
    if (is_tls_) {
      response.set_header("Strict-Transport-Security", "max-age=31536000");
    }
    response.set_header("Content-Security-Policy", kPolicy);
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("X-Frame-Options", "DENY");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cross-Origin-Opener-Policy", "same-origin");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  }

  bool IsOurName(const std::string& host) const {
    const std::string name = NameIn(host);
    return name == "127.0.0.1" || name == "localhost" || name == "[::1]" ||
           std::find(options_.hosts.begin(), options_.hosts.end(), name) !=
               options_.hosts.end();
  }

  absl::Status CheckOrigin(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    if (!IsOurName(host)) {
      return Refused(
          absl::StrCat("this coordinator is not called ", NameIn(host)),
          "open it as 127.0.0.1 or localhost, or start it with --http-host "
          "NAME behind a proxy");
    }
    // Absent from what is no browser, and from old ones.
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    const bool navigates =
        request.method == "GET" &&
        request.get_header_value("Sec-Fetch-Mode") == "navigate" &&
        !NamesVerb(PathOf(request));
    const bool is_same =
        site.empty() || site == "same-origin" || site == "none" || navigates;
    const std::string origin = request.get_header_value("Origin");
    const std::string from = origin.substr(
        std::min(origin.size(), origin.find("://") == std::string::npos
                                    ? std::size_t{0}
                                    : origin.find("://") + 3));
    const bool is_ours = origin.empty() || site == "same-origin" ||
                         (absl::EqualsIgnoreCase(from, host) && !from.empty());
    if (is_same && is_ours) return absl::OkStatus();
    return Refused("the request comes from another site",
                   "use the coordinator's own page");
  }

  // The path without the proxy's part, and without a slash at its beginning.
  std::string PathOf(const httplib::Request& request) const {
    const absl::string_view path =
        absl::StripPrefix(request.path, options_.base_path);
    return std::string(absl::StripPrefix(path, "/"));
  }

  static bool NamesVerb(const std::string& path) {
    return absl::StrContains(path, "/");
  }

  Shown ShownBy(const httplib::Request& request) const {
    Shown shown;
    shown.is_local = !is_tls_ && options_.trusts_local_callers &&
                     options_.hosts.empty() && !CameThroughProxy(request);
    std::string authorization = request.get_header_value("Authorization");
    if (authorization.empty()) {
      const std::string token = CookieIn(request);
      if (!token.empty()) authorization = absl::StrCat("Bearer ", token);
    }
    shown.authorization = SecretString(std::move(authorization));
    return shown;
  }

  // The token that the page was logged in with; empty: none.
  std::string CookieIn(const httplib::Request& request) const {
    const std::string wanted = absl::StrCat(cookie_, "=");
    for (absl::string_view one :
         absl::StrSplit(request.get_header_value("Cookie"), ';')) {
      one = absl::StripAsciiWhitespace(one);
      if (absl::ConsumePrefix(&one, wanted)) return std::string(one);
    }
    return "";
  }

  // What a page shows with a change, beside its cookie. No other site can read
  // it, since no answer is readable there.
  std::string SessionMark(const httplib::Request& request) const {
    Sha256Sum sum;
    sum.Add(absl::StrCat(secret_, "\n", CookieIn(request)));
    return sum.Finish().substr(0, 32);
  }

  absl::Status CheckSession(const httplib::Request& request) const {
    if (!IsFromBrowser(request)) return absl::OkStatus();
    const SecretString shown(request.get_header_value("X-Frostline-Session"));
    if (shown == SecretString(SessionMark(request))) {
      return absl::OkStatus();
    }
    return Refused("the request does not show what the page was told",
                   "reload the page; it asks for it anew");
  }

  JsonCall CallOf(const httplib::Request& request, const std::string& path,
                  std::string json) const {
    JsonCall call;
    call.method = absl::StrReplaceAll(path, {{"/", "."}});
    call.json = std::move(json);
    call.shown = ShownBy(request);
    call.peer = absl::StrCat(
        absl::StrContains(request.remote_addr, ":") ? "ipv6:[" : "ipv4:",
        request.remote_addr,
        absl::StrContains(request.remote_addr, ":") ? "]:" : ":",
        request.remote_port);
    call.trace = ParseTraceparent(request.get_header_value(kTraceparent));
    if (call.trace.empty()) call.trace = NewTrace();
    call.is_safe = request.method != "POST";
    return call;
  }

  void Answer(const httplib::Request& request, const std::string& path,
              std::string json, httplib::Response& response) const {
    const JsonAnswer answer =
        calls_.Call(CallOf(request, path, std::move(json)));
    response.status = answer.status;
    // What one caller was told is for no other.
    response.set_header("Cache-Control", "private, no-cache");
    if (answer.status != 200) {
      response.set_content(answer.body, "application/json");
      return;
    }
    Prepared body{.type = "application/json",
                  .plain = answer.body,
                  .gzip = "",
                  .etag = EtagOf(answer.body)};
    if (TakesGzip(request) && body.plain.size() >= kWorthCompressing &&
        !IsKnown(request, body.etag)) {
      body.gzip = Gzip(body.plain);
    }
    SendBody(request, body, response);
  }

  void Get(const httplib::Request& request, httplib::Response& response) {
    const std::string path = PathOf(request);
    if (NamesVerb(path)) {
      return Answer(request, path, request.get_param_value("message"),
                    response);
    }
    const auto file = files_.find(path.empty() ? "index.html" : path);
    if (path == "session") {
      response.set_header("Cache-Control", "no-store");
      response.set_content(
          JsonObject().PutText("csrf", SessionMark(request)).Text(),
          "application/json");
      return;
    }
    if (file == files_.end()) {
      response.status = 404;
      response.set_content("there is no such page; the page is /\n",
                           "text/plain; charset=utf-8");
      return;
    }
    response.set_header("Cache-Control",
                        file->first == "index.html"
                            ? "no-cache"
                            : "public, max-age=31536000, immutable");
    SendBody(request, file->second, response);
  }

  void Post(const httplib::Request& request, httplib::Response& response) {
    // No form of another site can send this type.
    if (!absl::StartsWith(request.get_header_value("Content-Type"),
                          "application/json")) {
      return SendError(
          MakeError(ErrorId::kRequestInvalid,
                    "the request is not of the type application/json",
                    "send the header Content-Type: application/json"),
          response);
    }
    const std::string path = PathOf(request);
    if (path == "login") return LogIn(request, response);
    if (path == "logout") return SetCookie(request, "", 0, response);
    const absl::Status session = CheckSession(request);
    if (!session.ok()) return SendError(session, response);
    Answer(request, path, request.body, response);
  }

  void LogIn(const httplib::Request& request, httplib::Response& response) {
    const std::string token = TokenIn(request.body);
    Shown shown;
    shown.authorization =
        SecretString(absl::StrCat("Bearer ", IsToken(token) ? token : "none"));
    const auto who = gate_.Identify(shown);
    if (!who.ok()) return SendError(who.status(), response);
    constexpr int kWeek = 7 * 24 * 3600;
    SetCookie(request, token, kWeek, response);
  }

  void SetCookie(const httplib::Request& request, const std::string& token,
                 int seconds, httplib::Response& response) const {
    const bool is_encrypted =
        is_tls_ || request.get_header_value("X-Forwarded-Proto") == "https";
    response.set_header("Set-Cookie",
                        absl::StrCat(cookie_, "=", token, "; Path=/; Max-Age=",
                                     seconds, "; HttpOnly; SameSite=Strict",
                                     is_encrypted ? "; Secure" : ""));
    response.status = 204;
  }

  const HttpOptions options_;
  const bool is_tls_;
  const Gate& gate_;
  const JsonCalls calls_;
  std::map<std::string, Prepared> files_;
  std::string cookie_;
  std::string url_;
  // Of this process: what a page was told before a restart is told anew.
  const std::string secret_ = RandomHexId() + RandomHexId();
  const std::unique_ptr<tls::ServedCertificate> certificate_;  // or null
  const std::unique_ptr<httplib::Server> server_holder_;
  httplib::Server& server_;
  std::thread thread_;
};

bool IsBeyondLoopback(const std::string& listen) {
  const absl::StatusOr<Place> place = PlaceOf(listen);
  return place.ok() && !place->is_loopback();
}

absl::Status HttpEdge::Check(const HttpOptions& options) {
  if (!options.listen.empty()) RETURN_IF_ERROR(CheckPlace(options));
  return CheckPath(options.base_path);
}

absl::StatusOr<std::unique_ptr<HttpEdge>> HttpEdge::Listen(
    HttpOptions options, const VerbTable& verbs, const Gate& gate,
    AuditLog* audit, CallCounts* counts) {
  RETURN_IF_ERROR(Check(options));
  ASSIGN_OR_RETURN(auto certificate, CertificateFor(options));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(certificate),
                                     verbs, gate, audit, counts);
  RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<HttpEdge>(new HttpEdge(std::move(impl)));
}

HttpEdge::HttpEdge(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpEdge::~HttpEdge() = default;

const std::string& HttpEdge::url() const { return impl_->url(); }
void HttpEdge::Stop() { impl_->Stop(); }

}  // namespace frostline::server
