// SPDX-License-Identifier: Apache-2.0
//
// File: tcp_proxy.h
//
// A bad network between two programs of one machine: a proxy on loopback that
// passes bytes on, late, in drips, one way only, or not at all.
//
//   TcpProxy proxy(coordinator.address());
//   options.connect = proxy.address();
//   proxy.Set({.latency = milliseconds(50)});
//   proxy.ResetAll();
//
// Threads: any; one of its own moves the bytes. One connection never waits for
// another.
#ifndef FROSTLINE_TESTS_FAULT_TCP_PROXY_H_
#define FROSTLINE_TESTS_FAULT_TCP_PROXY_H_

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"

namespace frostline::test {

struct Weather {
  Duration latency{0};            // each way
  std::size_t drip = 0;           // at most so many bytes a millisecond; 0: all
  bool stalled = false;           // nothing moves, nothing closes
  bool swallows_replies = false;  // half-open: requests pass, replies vanish
  // Every reply but the first of a connection is swallowed, and both ends get
  // a reset: what a client sees that asks again is the reply that was lost.
  bool cuts_replies = false;
};

class TcpProxy {
 public:
  // `target` is "127.0.0.1:7070".
  explicit TcpProxy(const std::string& target);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  const std::string& address() const { return address_; }
  void Set(const Weather& weather);
  // Resets every connection; new ones are taken.
  void ResetAll() { reset_ = true; }

  int connections() const { return connections_; }  // ever
  int cuts() const { return cuts_; }

 private:
  class Link;

  void Run();
  void Accept(const Weather& weather);

  const std::string target_;
  std::string address_;
  int listener_ = -1;
  std::mutex mutex_;
  Weather weather_;  // guarded by mutex_
  std::atomic<bool> reset_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<int> connections_{0};
  std::atomic<int> cuts_{0};
  std::list<std::unique_ptr<Link>> links_;  // of the thread
  std::thread thread_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FAULT_TCP_PROXY_H_
