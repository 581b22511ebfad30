// SPDX-License-Identifier: Apache-2.0
//
// The program frostline-coordinator: it makes its parts in order and ends them.
// Nothing else happens here.
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "base/error.h"
#include "base/log.h"
#include "base/plain/audit_chain.h"
#include "base/plain/file.h"
#include "base/secret.h"
#include "base/terminal_log.h"
#include "proto/library_versions.h"
#include "proto/wire_error.h"
#include "server/auth/access.h"
#include "server/auth/issuer.h"
#include "server/coordinator.h"
#include "server/http/http_edge.h"
#include "server/notify/deliver.h"
#include "server/options.h"
#include "server/overview/overview.h"
#include "server/rpc/server.h"
#include "spans/exporter.h"
#include "storage/factory.h"
#include "tls/certificate.h"
#include "tls/credentials.h"
#include "tls/private_file.h"

namespace frostline::server {
namespace {

constexpr Duration kShutdownGrace = std::chrono::seconds(5);
// What is still computed after the last commit is stored nowhere.
constexpr Duration kLastGrace = std::chrono::seconds(5);
constexpr std::size_t kMaxLine = 2000;

// Blocks signals before any thread starts, so that every thread inherits that
// and the signals wait for sigwait() below.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // A write beyond a limit on file sizes then fails like one on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return signals;
}

// Raises the limit on files, since every parked worker holds a socket.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    Log(LogLevel::kWarning, "file_limit_kept", {{"why", std::strerror(errno)}});
  }
}

// Limits how many arenas glibc makes, to two for each core. Memory that a
// computation gave back stays in its thread's arena, and glibc's own limit of
// eight for each core would let gigabytes stay.
void LimitArenas() {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  mallopt(M_ARENA_MAX, static_cast<int>(2 * cores));
}

CoordinatorOptions CoordinatorOptionsOf(const ServeOptions& options) {
  CoordinatorOptions result;
  result.lease_ttl = options.lease_ttl;
  result.heartbeat_interval = options.heartbeat_interval;
  result.restart_grace = options.restart_grace;
  result.backup_folder = options.data_folder + "/backups";
  result.libraries = proto::RpcLibraries();
  result.libraries["SQLite"] = storage::SqliteVersion();
  if (!options.ephemeral) {
    result.schema_version = storage::SchemaVersion();
    result.audit_folder = absl::StrCat(options.data_folder, "/", kAuditFolder);
  }
  // Nobody knows what is on disk after a failed commit; a restart reads it.
  result.on_fatal = [](const absl::Status& status) {
    Log(LogLevel::kError, "fatal", {{"cause", DescribeError(status)}});
    _exit(kExitFailure);
  };
  return result;
}

// The calls of four seconds may come at once.
RateLimit RateLimitOf(const ServeOptions& options) {
  const auto rate = static_cast<double>(options.calls_per_caller);
  return {.calls_per_s = rate, .burst = 4 * rate};
}

storage::StoreSpec StoreSpecOf(const ServeOptions& options) {
  storage::StoreSpec spec;
  spec.data_folder = options.data_folder;
  spec.ephemeral = options.ephemeral;
  spec.url = options.store;
  spec.limits.no_new_leases_bytes = options.disk_reserve_bytes;
  spec.limits.no_new_studies_bytes = 4 * options.disk_reserve_bytes;
  spec.limits.ballast_bytes = options.disk_reserve_bytes / 4;
  return spec;
}

HostFiles HostFilesOf(const ServeOptions& options) {
  return {.data_folder = options.data_folder,
          .certificate = options.tls_certificate,
          .authority = options.tls_ca};
}

spans::Attributes SelfInSpans() {
  return {{"service.name", "frostline-coordinator"},
          {"service.version", FROSTLINE_VERSION}};
}

// Ends the process unless it has ended by itself.
void EndAfterGrace(ExitCode code) {
  std::thread([code] {
    std::this_thread::sleep_for(kLastGrace);
    Log(LogLevel::kWarning, "ended_early",
        {{"why", "a computation went on after the last commit"}});
    _exit(code);
  }).detach();
}

// Writes the file for which scripts wait instead of reading our output. A file
// left by an earlier life that was killed is replaced.
absl::Status WriteReadyFile(const std::string& path,
                            const std::string& address) {
  if (path.empty()) return absl::OkStatus();
  const auto written = WriteFileAtomically(path, address + "\n");
  if (written.ok()) return absl::OkStatus();
  const Fault& fault = written.fault();
  const std::string cause =
      absl::StrCat("--ready-file ", path, " cannot be written: ", fault.cause);
  return DiskErrorOr(
      fault.system_error, cause,
      MakeError(ErrorId::kRequestInvalid, cause,
                "name a file in a folder that is there and writable",
                "--ready-file"));
}

std::string LogFileOf(const ServeOptions& options) {
  return absl::StrCat(options.data_folder, "/coordinator.log");
}

// Returns the first name in the certificate, with the port that is served with
// it.
absl::StatusOr<std::string> JoinAddress(const std::string& certificate,
                                        const RpcServer& server) {
  ASSIGN_OR_RETURN(const std::string pem,
                   tls::ReadPublicFile(certificate, "--tls-cert"));
  ASSIGN_OR_RETURN(const tls::CertificateFacts facts,
                   tls::ReadCertificate(pem));
  if (facts.hosts.empty() || server.tls_address().empty()) return "";
  const std::string& served = server.tls_address();
  const std::string& host = facts.hosts.front();
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return absl::StrCat(is_ipv6 ? absl::StrCat("[", host, "]") : host,
                      served.substr(served.rfind(':')));
}

absl::StatusOr<ExitCode> Restore(const ServeOptions& options) {
  ASSIGN_OR_RETURN(const storage::BackupReport report,
                   storage::RestoreStore(options.restore, options.data_folder));
  std::cout << "restored " << report.studies << " studies with "
            << report.trials << " trials to " << options.data_folder << "\n";
  return kExitOk;
}

constexpr std::size_t kDigitsShown = 16;

// Copies a database and says what both sides hold. A signal ends it at once:
// nothing of the copy is there before its last step.
absl::StatusOr<ExitCode> Copy(const ServeOptions& options,
                              const sigset_t& stop_signals,
                              const Clock& clock) {
  pthread_sigmask(SIG_UNBLOCK, &stop_signals, nullptr);
  const SteadyTime start = clock.Steady();
  ASSIGN_OR_RETURN(const storage::CopyReport report,
                   storage::CopyDatabase(options.copy_from, options.copy_to));
  const std::chrono::duration<double> took = clock.Steady() - start;
  std::cout << absl::StrFormat("%-13s  %9s  %s\n", "TABLE", "ROWS", "DIGEST");
  for (const storage::CopiedTable& table : report.tables) {
    std::cout << absl::StrFormat("%-13s  %9d  %s\n", table.name, table.rows,
                                 table.digest.substr(0, kDigitsShown));
  }
  std::cout << absl::StrFormat("copied %d rows, equal on both sides, %.1f s\n",
                               report.rows, took.count())
            << std::flush;
  return kExitOk;
}

// Prints what `frostline audit verify` reads: the newest entry that the files
// have, then the lines that the database still has.
absl::StatusOr<ExitCode> PrintAuditEnd(const ServeOptions& options) {
  ASSIGN_OR_RETURN(const storage::AuditEnd end,
                   storage::ReadAuditEnd(options.data_folder));
  std::cout << "{\"moved\":" << end.moved << "}\n";
  for (const storage::AuditRow& row : end.rows) std::cout << row.lines;
  std::cout << std::flush;
  return kExitOk;
}

absl::StatusOr<RpcOptions> RpcOptionsOf(const ServeOptions& options,
                                        const Clock& clock) {
  RpcOptions rpc;
  rpc.listen = options.listen;
  rpc.health_listen = options.health_listen;
  rpc.door.connections = options.max_connections;
  rpc.door.per_address = options.max_connections_per_address;
  const tls::TlsFiles files{options.tls_certificate, options.tls_key,
                            options.tls_ca};
  if (!files.empty()) {
    ASSIGN_OR_RETURN(rpc.credentials, tls::ServerCredentialsOf(files, clock));
  }
  return rpc;
}

// Beyond loopback the page has the certificate of gRPC, and its names.
absl::StatusOr<HttpOptions> HttpOptionsOf(const ServeOptions& options) {
  HttpOptions http;
  http.listen = options.http_listen;
  http.takes_next_port = !options.is_http_listen_given;
  // Whoever asks for any port gets no page at a port that others count on.
  if (!options.is_http_listen_given &&
      absl::EndsWith(options.listen.front(), ":0")) {
    http.listen = "127.0.0.1:0";
  }
  http.allows_writes = options.allow_ui_writes;
  http.base_path = options.base_path;
  http.hosts = options.http_hosts;
  if (!IsBeyondLoopback(http.listen)) return http;
  http.tls_certificate = options.tls_certificate;
  http.tls_key = options.tls_key;
  if (options.tls_certificate.empty()) return http;
  ASSIGN_OR_RETURN(const std::string pem,
                   tls::ReadPublicFile(options.tls_certificate, "--tls-cert"));
  ASSIGN_OR_RETURN(const tls::CertificateFacts facts,
                   tls::ReadCertificate(pem));
  for (const std::string& host : facts.hosts) {
    const bool is_ipv6 = absl::StrContains(host, ":");
    http.hosts.push_back(is_ipv6 ? absl::StrCat("[", host, "]") : host);
  }
  return http;
}

// Says where the server is served, to scripts and people; these learn where the
// log is.
absl::Status Announce(const ServeOptions& options, const RpcServer& server,
                      const HttpEdge* page, bool is_log_away) {
  RETURN_IF_ERROR(WriteReadyFile(options.ready_file, server.address()));
  for (const std::string& address : server.addresses()) {
    std::cout << "listening on " << address << "\n" << std::flush;
  }
  if (!server.health_address().empty()) {
    std::cout << "health on " << server.health_address() << "\n" << std::flush;
  }
  if (page != nullptr) {
    std::cout << "page on " << page->url() << "\n" << std::flush;
  }
  if (is_log_away) {
    SayOnTerminal(absl::StrCat("the coordinator is ready: data in ",
                               options.data_folder, ", log in ",
                               LogFileOf(options)));
  }
  return absl::OkStatus();
}

// Returns null where there is to be no page. Where gRPC is served to no other
// user of this machine there is none unless it was asked for, and then its
// callers need a token.
absl::StatusOr<std::unique_ptr<HttpEdge>> ServePage(HttpOptions options,
                                                    Coordinator& coordinator,
                                                    const Gate& gate,
                                                    RpcServer& server) {
  options.trusts_local_callers = server.trusts_local_callers();
  const bool is_asked_for = !options.takes_next_port;
  if (options.listen.empty() ||
      (!is_asked_for && !options.trusts_local_callers)) {
    return nullptr;
  }
  return HttpEdge::Listen(options, coordinator.verbs(), gate,
                          &coordinator.audit(), server.counts());
}

absl::StatusOr<ExitCode> Serve(const ServeOptions& options,
                               const sigset_t& stop_signals) {
  const SystemClock clock;
  ASSIGN_OR_RETURN(RpcOptions rpc, RpcOptionsOf(options, clock));
  std::unique_ptr<Issuer> issuer;
  if (!options.tls_ca_key.empty()) {
    ASSIGN_OR_RETURN(issuer, Issuer::Open(options.tls_ca, options.tls_ca_key,
                                          options.certificate_life));
  }
  Destinations destinations;
  if (!options.notify_file.empty()) {
    ASSIGN_OR_RETURN(destinations, ReadDestinations(options.notify_file));
  }
  // Checked before a data folder is made for nothing. Removing it afterwards
  // might remove the folder of another coordinator that was quicker.
  RETURN_IF_ERROR(RpcServer::Check(rpc));
  ASSIGN_OR_RETURN(const HttpOptions http, HttpOptionsOf(options));
  RETURN_IF_ERROR(HttpEdge::Check(http));
  const TerminalLog log(LogFileOf(options),
                        !options.ephemeral && !options.wants_log_here);
  ASSIGN_OR_RETURN(const auto store, storage::OpenStore(StoreSpecOf(options)));
  ExitCode code = kExitOk;
  CoordinatorOptions made_of = CoordinatorOptionsOf(options);
  made_of.issuer = issuer.get();
  made_of.on_last_commit = [&code] { EndAfterGrace(code); };
  // Destroyed after the coordinator, whose last spans it sends.
  std::unique_ptr<spans::Exporter> exporter;
  if (!options.collector.empty()) {
    ASSIGN_OR_RETURN(exporter, spans::Exporter::Open(options.collector,
                                                     SelfInSpans(), clock));
  }
  made_of.spans = exporter.get();
  made_of.notify.destinations = std::move(destinations);
  Coordinator coordinator(std::move(made_of), *store, clock);
  RETURN_IF_ERROR(coordinator.Start());
  const Gate gate(coordinator.credentials(), clock, options.require_tokens,
                  RateLimitOf(options));
  rpc.gate = &gate;
  rpc.audit = &coordinator.audit();
  rpc.measure = [&coordinator, &exporter,
                 host = HostFilesOf(options)](MetricsPage& page) {
    coordinator.Measure(page);
    WriteHost(host, FROSTLINE_VERSION, page);
    if (exporter != nullptr) WriteSpans(exporter->counts(), page);
  };
  ASSIGN_OR_RETURN(const auto server,
                   RpcServer::Listen(rpc, coordinator.verbs()));
  if (issuer != nullptr) {
    ASSIGN_OR_RETURN(const std::string at,
                     JoinAddress(options.tls_certificate, *server));
    issuer->ServeAt(at);
  }
  ASSIGN_OR_RETURN(const auto page,
                   ServePage(http, coordinator, gate, *server));
  if (page != nullptr) {
    coordinator.ServePageAt(page->url(), options.allow_ui_writes);
  }
  RETURN_IF_ERROR(Announce(options, *server, page.get(), log.is_on()));
  int signal = 0;
  sigwait(&stop_signals, &signal);
  Log(LogLevel::kInfo, "stopping", {{"signal", strsignal(signal)}});
  if (signal == SIGINT) code = kExitInterrupted;
  if (!options.ready_file.empty()) unlink(options.ready_file.c_str());
  server->StopServing();
  if (page != nullptr) page->Stop();
  coordinator.Drain();
  server->Shutdown(kShutdownGrace);
  return code;
}

ExitCode Fail(const absl::Status& status) {
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(DescribeError(status), '\n'))) {
    std::cerr << proto::CleanText(line, kMaxLine) << "\n";
  }
  return ExitCodeOf(status);
}

ExitCode Main(int argc, const char* const* argv) {
  const sigset_t stop_signals = BlockStopSignals();
  const auto options = ParseServeOptions(argc, argv);
  if (!options.ok()) return Fail(options.status());
  if (!options->print.empty()) {
    std::cout << options->print << std::flush;
    return kExitOk;
  }
  SetLogLevel(options->log_level);
  // Debian's Abseil looks for lock cycles at every lock, for debugging.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  SendLibraryLogsToOurs();
  RaiseFileLimit();
  LimitArenas();
  const auto code = options->audit_end          ? PrintAuditEnd(*options)
                    : !options->restore.empty() ? Restore(*options)
                    : !options->copy_from.empty()
                        ? Copy(*options, stop_signals, SystemClock())
                        : Serve(*options, stop_signals);
  return code.ok() ? *code : Fail(code.status());
}

}  // namespace
}  // namespace frostline::server

int main(int argc, char** argv) {
  frostline::ForbidCoreDumps();
  return frostline::server::Main(argc, argv);
}
