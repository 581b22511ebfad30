// SPDX-License-Identifier: Apache-2.0
#include "tests/support/postgres_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/process.h"

namespace frostline {
namespace {

namespace fs = std::filesystem;

// The newest that is installed.
std::string Programs() {
  std::string newest;
  for (const auto& one : fs::directory_iterator("/usr/lib/postgresql")) {
    const std::string folder = (one.path() / "bin").string();
    if (fs::exists(folder + "/initdb")) newest = std::max(newest, folder);
  }
  if (newest.empty()) std::abort();  // ./dev setup all installs it
  return newest;
}

// PostgreSQL refuses to run as root, and ends when we do.
std::vector<std::string> AsPostgres(std::vector<std::string> words) {
  std::vector<std::string> all = {"setpriv", "--pdeathsig", "SIGQUIT"};
  if (geteuid() == 0) {
    for (const char* const word :
         {"--reuid=postgres", "--regid=postgres", "--clear-groups"}) {
      all.push_back(word);
    }
  }
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

pid_t StartQuietly(std::vector<std::string> words, const std::string& log) {
  const Descriptor out(
      open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  ProcessStart start{.words = std::move(words)};
  start.out = start.err = out.number();
  return StartProcess(start);
}

}  // namespace

PostgresServer& PostgresServer::Get() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() {
  fs::permissions(folder_.path(), fs::perms::all);
  const pid_t made = StartQuietly(
      AsPostgres({Programs() + "/initdb", "-D", folder_.File("data"), "-A",
                  "trust", "-U", "frostline", "-E", "UTF8", "--no-sync"}),
      folder_.File("log"));
  if (made < 0 || ShellCodeOf(WaitForEnd(made)) != 0) AbortWithLog();
  Start();
}

PostgresServer::~PostgresServer() {
  kill(server_, SIGQUIT);
  WaitForEnd(server_);
}

void PostgresServer::Start() {
  const std::vector<std::string> words =
      AsPostgres({Programs() + "/postgres", "-D", folder_.File("data"), "-k",
                  folder_.path().string(), "-c", "listen_addresses=", "-c",
                  "shared_buffers=16MB", "-c", "max_connections=60"});
  server_ = StartQuietly(words, folder_.File("log"));
  const auto last = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (std::chrono::steady_clock::now() < last) {
    if (Run(UrlOf("postgres"), "SELECT 1") == "1\n") return;
    // It ends at once while children of a killed one have its memory.
    if (waitpid(server_, nullptr, WNOHANG) == server_)
      server_ = StartQuietly(words, folder_.File("log"));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  AbortWithLog();
}

void PostgresServer::AbortWithLog() const {
  std::cerr << std::ifstream(folder_.File("log")).rdbuf();
  std::abort();
}

void PostgresServer::KillAndStart() {
  kill(server_, SIGKILL);
  WaitForEnd(server_);
  Start();
}

std::string PostgresServer::UrlOf(const std::string& database) const {
  return "postgresql://frostline@/" + database +
         "?host=" + folder_.path().string();
}

// A database has hundreds of files, so one is used again.
std::string PostgresServer::EmptyDatabase() {
  for (int i = 1; i <= databases_; ++i) {
    const std::string url = UrlOf("d" + std::to_string(i));
    const std::string users =
        Run(url,
            "SELECT count(*) FROM pg_stat_activity WHERE datname = "
            "current_database() AND application_name = "
            "'frostline-coordinator'");
    if (!users.starts_with("0")) continue;
    Run(url, "DROP SCHEMA IF EXISTS frostline CASCADE");
    return url;
  }
  const std::string name = "d" + std::to_string(++databases_);
  Run(UrlOf("postgres"), "CREATE DATABASE " + name);
  return UrlOf(name);
}

std::string PostgresServer::Run(const std::string& url,
                                const std::string& sql) const {
  const std::string out = folder_.File("answer");
  fs::remove(out);
  const pid_t asked = StartQuietly(
      {Programs() + "/psql", "-X", "-q", "-At", url, "-c", sql}, out);
  if (asked < 0) std::abort();
  WaitForEnd(asked);
  std::ifstream answer(out);
  return {std::istreambuf_iterator<char>(answer), {}};
}

}  // namespace frostline
