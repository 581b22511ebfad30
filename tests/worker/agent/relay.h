// SPDX-License-Identifier: Apache-2.0
//
// File: relay.h
//
// What stands between a worker and its coordinator in a network: a relay on
// loopback, or a proxy that is asked by HTTP CONNECT. It keeps all bytes that
// clients sent through it.
#ifndef FROSTLINE_TESTS_WORKER_AGENT_RELAY_H_
#define FROSTLINE_TESTS_WORKER_AGENT_RELAY_H_

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace frostline::agent {

class Relay {
 public:
  enum class Kind { kPlain, kConnectProxy };

  // To 127.0.0.1:`port`, whatever host a proxy is asked for.
  Relay(Kind kind, int port);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int port() const { return port_; }
  // What clients sent, without the words to the proxy.
  std::string sent() const;
  // The first lines that a proxy was told.
  std::vector<std::string> asked() const;

 private:
  void Listen();
  void Serve(int client);
  bool AnswerConnect(int client);

  const Kind kind_;
  const int to_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_;
  std::string sent_;
  std::vector<std::string> asked_;
  std::vector<std::thread> threads_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_TESTS_WORKER_AGENT_RELAY_H_
