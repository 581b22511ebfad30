// SPDX-License-Identifier: Apache-2.0
//
// File: postgres_server.h
//
// A real PostgreSQL for tests, of Debian's package, on a socket in a temporary
// folder. It ends with the process.
#ifndef FROSTLINE_TESTS_SUPPORT_POSTGRES_SERVER_H_
#define FROSTLINE_TESTS_SUPPORT_POSTGRES_SERVER_H_

#include <sys/types.h>

#include <string>

#include "tests/support/temp_folder.h"

namespace frostline {

class PostgresServer {
 public:
  // The one of this process, which is started at the first call.
  static PostgresServer& Get();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Returns the superuser's URL of an empty database that no coordinator uses.
  std::string EmptyDatabase();
  // Runs a statement as psql does; what it printed.
  std::string Run(const std::string& url, const std::string& sql) const;
  // Ends the server at once, as a power cut would, and starts it again.
  void KillAndStart();

 private:
  PostgresServer();
  void Start();
  [[noreturn]] void AbortWithLog() const;
  std::string UrlOf(const std::string& database) const;

  TempFolder folder_;
  pid_t server_ = -1;
  int databases_ = 0;  // d1, d2, …
};

}  // namespace frostline

#endif  // FROSTLINE_TESTS_SUPPORT_POSTGRES_SERVER_H_
