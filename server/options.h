// SPDX-License-Identifier: Apache-2.0
//
// File: options.h
#ifndef FROSTLINE_SERVER_OPTIONS_H_
#define FROSTLINE_SERVER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/log.h"
#include "spans/exporter.h"

namespace frostline::server {

struct ServeOptions {
  std::string data_folder;  // empty when ephemeral
  bool ephemeral = false;   // gone at the end
  // A PostgreSQL database, as libpq names it, that has what is stored. Empty:
  // data_folder has it.
  std::string store;
  std::vector<std::string> listen = {"127.0.0.1:7070"};
  std::string health_listen;  // empty: no address of its own
  // Where the page is. Empty: nowhere. Unless it is given, a port in use is no
  // failure: the next free one does.
  std::string http_listen = "127.0.0.1:7071";
  bool is_http_listen_given = false;
  bool allow_ui_writes = false;
  std::string base_path;                // below which a proxy has the page
  std::vector<std::string> http_hosts;  // by which a proxy calls it
  // PEM files, needed for every address that other machines can reach. Empty:
  // there is no such address.
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_ca;      // signs clients' certificates; may be empty
  std::string tls_ca_key;  // empty: workers cannot join
  Duration certificate_life = std::chrono::hours(24 * 60);
  bool require_tokens = false;            // of local callers too
  std::int64_t calls_per_caller = 5'000;  // a second, of each identity
  std::size_t max_connections = 0;  // 0: what the limit on descriptors allows
  std::size_t max_connections_per_address = 4096;
  Duration lease_ttl = std::chrono::seconds(60);
  // A quarter of the lease's TTL unless given; a third of it at most.
  Duration heartbeat_interval = std::chrono::seconds(15);
  Duration restart_grace = std::chrono::seconds(120);
  // With less free space than this nothing is leased; with less than four times
  // as much no study is created. A quarter of it is held back as ballast that
  // can be given up.
  std::int64_t disk_reserve_bytes = std::int64_t{256} << 20;
  // A file that holds the address while calls are answered. It is removed when
  // they no longer are.
  std::string ready_file;
  // A backup that becomes the database; the program then ends.
  std::string restore;
  // A database to copy, and where to: each a data folder or a PostgreSQL URL.
  // The program then ends. Empty: nothing is copied.
  std::string copy_from;
  std::string copy_to;
  // Whether to print the end of the audit that the database has, and then end.
  bool audit_end = false;
  // The file that says who may be told that a study has ended. Empty: nobody.
  std::string notify_file;
  spans::Collector collector;  // of spans
  LogLevel log_level = LogLevel::kInfo;
  bool wants_log_here = false;  // on a terminal: a flag about the log is given
  // A text to print before the program exits with 0; unless it is empty.
  std::string print;
};

// Reads the command line. The error is REQUEST_INVALID and names the option.
// Durations are "60s", "1m30s", "500ms" or plain seconds.
absl::StatusOr<ServeOptions> ParseServeOptions(int argc,
                                               const char* const* argv);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_OPTIONS_H_
