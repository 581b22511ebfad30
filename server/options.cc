// SPDX-License-Identifier: Apache-2.0
#include "server/options.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/terminal_log.h"

namespace frostline::server {
namespace {

constexpr Duration kShortestTtl = std::chrono::milliseconds(100);
constexpr std::size_t kMostConnections = 1'000'000;
constexpr Duration kLongestTime = std::chrono::hours(1);
constexpr Duration kLongestLife = std::chrono::hours(24 * 825);

// The flag --heartbeat-interval, which is "auto" or a time.
Flag HeartbeatFlag(Duration* interval, bool* given) {
  Flag flag = TimeFlag("--heartbeat-interval",
                       "How often workers report in; auto: a quarter of the "
                       "TTL",
                       kShortestTtl / 10, kLongestTime, interval);
  flag.take = [given, read = flag.take](const std::string& text) {
    *given = text != "auto";
    return *given ? read(text) : absl::OkStatus();
  };
  flag.unless_given = "auto";
  return flag;
}

// The first --listen replaces the default.
Flag ListenFlag(std::vector<std::string>* listen) {
  Flag flag{"--listen", "ADDRESS",
            "HOST:PORT (port 0 picks a free one), tls:HOST:PORT or unix:PATH; "
            "may be repeated",
            [listen, given = false](const std::string& text) mutable {
              if (!given) listen->clear();
              given = true;
              listen->push_back(text);
              return absl::OkStatus();
            }};
  flag.unless_given = listen->front();
  flag.repeats = true;
  return flag;
}

// The flags of the page.
std::vector<Flag> PageFlags(ServeOptions* options) {
  Flag listen{
      "--http-listen", "ADDRESS",
      "Where the page for browsers is; beyond loopback with --tls; none: "
      "nowhere",
      [options](const std::string& text) {
        options->http_listen = text == "none" ? "" : text;
        options->is_http_listen_given = true;
        return absl::OkStatus();
      }};
  listen.unless_given = options->http_listen + " or the next free port";
  Flag host{"--http-host", "NAME",
            "Another name of the page, behind a proxy; a token is then asked "
            "for; may be repeated",
            [options](const std::string& text) {
              options->http_hosts.push_back(text);
              return absl::OkStatus();
            }};
  host.repeats = true;
  return {listen,
          SwitchFlag("--allow-ui-writes",
                     "Let the page change studies, as far as its caller may",
                     &options->allow_ui_writes),
          TextFlag("--base-path", "PATH",
                   "Below which path a proxy has the page: /frostline",
                   &options->base_path),
          host};
}

// The flag for a folder that `frostline tls init` made.
Flag TlsFolderFlag(ServeOptions* options) {
  return {"--tls", "DIR",
          "A folder of `frostline tls init`: stands for the four files in it",
          [options](const std::string& folder) {
            options->tls_certificate = folder + "/coordinator.crt";
            options->tls_key = folder + "/coordinator.key";
            options->tls_ca = folder + "/ca.crt";
            const std::string key = folder + "/ca.key";
            std::error_code unreadable;  // then its reader says why
            if (std::filesystem::exists(key, unreadable)) {
              options->tls_ca_key = key;
            }
            return absl::OkStatus();
          }};
}

// Leaves the value at 0 unless given.
Flag ConnectionsFlag(std::size_t* connections) {
  Flag flag = WholeFlag<std::size_t>(
      "--max-connections",
      "No more are let in, and no more than the limit on descriptors allows", 1,
      kMostConnections, connections);
  flag.unless_given = "auto";
  return flag;
}

std::vector<Flag> AccessFlags(ServeOptions* options) {
  return {
      ListenFlag(&options->listen),
      TextFlag("--health-listen", "ADDRESS",
               "For probes and scrapes: health and /metrics in "
               "plaintext, and nothing else",
               &options->health_listen),
      TextFlag("--tls-cert", "FILE",
               "The coordinator's certificate, for all but loopback",
               &options->tls_certificate),
      TextFlag("--tls-key", "FILE", "Its key, of mode 0600", &options->tls_key),
      TextFlag("--tls-ca", "FILE", "Who signs certificates of clients",
               &options->tls_ca),
      TlsFolderFlag(options),
      TextFlag("--tls-ca-key", "FILE",
               "The CA's key: workers may join, and renew their certificates",
               &options->tls_ca_key),
      TimeFlag("--certificate-life", "How long a worker's certificate holds",
               std::chrono::seconds(5), kLongestLife,
               &options->certificate_life),
      WholeFlag<std::int64_t>("--calls-per-caller",
                              "Calls a second of one identity", 1,
                              1'000'000'000, &options->calls_per_caller),
      SwitchFlag("--require-tokens", "Ask local callers for a token too",
                 &options->require_tokens),
      ConnectionsFlag(&options->max_connections),
      WholeFlag<std::size_t>("--max-connections-per-address",
                             "Of another machine, or of all that share its "
                             "address",
                             1, kMostConnections,
                             &options->max_connections_per_address)};
}

FlagTable TableOf(ServeOptions* options, bool* heartbeat_given) {
  FlagTable table{
      "frostline-coordinator",
      FROSTLINE_VERSION,
      "The coordinator: keeps studies, proposes trials, leases them.",
      {TextFlag("--data", "DIR",
                "Folder of the database; made if missing (default: frost)",
                &options->data_folder),
       SwitchFlag("--ephemeral", "Keep everything until the end only",
                  &options->ephemeral),
       TextFlag("--store", "URL",
                "Keep studies in this PostgreSQL database: "
                "postgres://USER@HOST/DATABASE",
                &options->store),
       TimeFlag("--lease-ttl", "A worker silent for so long loses its trial",
                kShortestTtl, kLongestTime, &options->lease_ttl),
       HeartbeatFlag(&options->heartbeat_interval, heartbeat_given),
       TimeFlag("--restart-grace", "Added to every lease after a restart",
                Duration::zero(), kLongestTime, &options->restart_grace),
       BytesFlag("--disk-reserve", "With less free, nothing new is leased",
                 &options->disk_reserve_bytes),
       TextFlag("--ready-file", "FILE",
                "Gets the address once calls are answered; gone at the end",
                &options->ready_file),
       TextFlag("--notify-file", "FILE",
                "Programs and webhooks that studies may have told of their "
                "end, of mode 0600",
                &options->notify_file),
       TextFlag("--restore", "FILE",
                "Make this backup the database in --data, then end",
                &options->restore),
       TextFlag("--copy-from", "DATABASE",
                "Copy this database, a data folder or postgres://…, to that of "
                "--copy-to, then end",
                &options->copy_from),
       TextFlag("--copy-to", "DATABASE",
                "Where --copy-from copies to: an empty one", &options->copy_to),
       SwitchFlag("--audit-end",
                  "Print what the database in --data has of the audit, as "
                  "lines of JSON, then end",
                  &options->audit_end),
       LogLevelFlag(&options->log_level), LogFormatFlag()}};
  for (auto flags : {AccessFlags(options), PageFlags(options),
                     spans::CollectorFlags(&options->collector)}) {
    std::move(flags.begin(), flags.end(), std::back_inserter(table.flags));
  }
  return table;
}

constexpr char kUsualData[] = "frost";  // as fixes and pages call it

bool Copies(const ServeOptions& options) {
  return !options.copy_from.empty() || !options.copy_to.empty();
}

absl::Status CheckCopy(const ServeOptions& options) {
  if (options.copy_from.empty() || options.copy_to.empty()) {
    return options.copy_to.empty() ? BadFlag("--copy-to", "is missing",
                                             "say where --copy-from copies to")
                                   : BadFlag("--copy-from", "is missing",
                                             "say what is copied to --copy-to");
  }
  if (options.data_folder.empty() && !options.ephemeral &&
      options.store.empty() && options.restore.empty() && !options.audit_end) {
    return absl::OkStatus();
  }
  return BadFlag("--copy-from", "names its database itself",
                 "leave --data, --store, --ephemeral, --restore and "
                 "--audit-end out");
}

absl::Status CheckTogether(const ServeOptions& options) {
  if (Copies(options)) return CheckCopy(options);
  if (options.data_folder.empty() != options.ephemeral) {
    return options.ephemeral
               ? BadFlag("--ephemeral", "is given with --data",
                         "leave one of the two out")
               : BadFlag("--data", "is missing",
                         "give --data DIR, or --ephemeral to keep nothing");
  }
  if (!options.store.empty() &&
      (options.ephemeral || !options.restore.empty() || options.audit_end)) {
    return BadFlag("--store", "is of a coordinator that serves, and keeps",
                   "leave --ephemeral, --restore and --audit-end out");
  }
  if (!options.restore.empty() && options.ephemeral) {
    return BadFlag("--restore", "needs a folder to restore to",
                   "give --data DIR instead of --ephemeral");
  }
  if (options.audit_end && options.ephemeral) {
    return BadFlag("--audit-end", "needs a folder to read",
                   "give --data DIR instead of --ephemeral");
  }
  if (!options.tls_ca_key.empty() && options.tls_ca.empty()) {
    return BadFlag("--tls-ca-key", "is given without --tls-ca",
                   "give the CA's certificate as well, or --tls DIR");
  }
  RETURN_IF_ERROR(spans::CheckCollector(options.collector));
  if (options.heartbeat_interval * 3 <= options.lease_ttl) {
    return absl::OkStatus();
  }
  return BadFlag("--heartbeat-interval",
                 "is more than a third of the lease TTL",
                 "make it shorter, or --lease-ttl longer");
}

}  // namespace

absl::StatusOr<ServeOptions> ParseServeOptions(int argc,
                                               const char* const* argv) {
  ServeOptions options;
  bool heartbeat_given = false;
  ASSIGN_OR_RETURN(options.print,
                   ParseFlags(TableOf(&options, &heartbeat_given), argc, argv));
  if (!options.print.empty()) return options;
  options.wants_log_here = GivesLogFlag(argc, argv);
  const bool reads_only =
      !options.restore.empty() || options.audit_end || Copies(options);
  if (options.data_folder.empty() && !options.ephemeral && !reads_only) {
    options.data_folder = kUsualData;
  }
  if (!heartbeat_given) options.heartbeat_interval = options.lease_ttl / 4;
  RETURN_IF_ERROR(CheckTogether(options));
  return options;
}

}  // namespace frostline::server
