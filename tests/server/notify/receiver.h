// SPDX-License-Identifier: Apache-2.0
//
// File: receiver.h
//
// A web server on loopback that keeps what is posted to it. It answers with the
// given statuses, one after the other, and the last again and again; 0 is
// silence until its end.
#ifndef FROSTLINE_TESTS_SERVER_NOTIFY_RECEIVER_H_
#define FROSTLINE_TESTS_SERVER_NOTIFY_RECEIVER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace frostline::server {

class Receiver {
 public:
  explicit Receiver(std::vector<int> statuses)
      : statuses_(std::move(statuses)),
        socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, any, size) != 0 || listen(socket_, 16) != 0 ||
        getsockname(socket_, any, &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~Receiver() {
    ending_ = true;
    thread_.join();
    close(socket_);
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  std::string Url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  // Heads and bodies, in order.
  std::vector<std::string> requests() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }
  static std::string BodyOf(const std::string& request) {
    return request.substr(request.find("\r\n\r\n") + 4);
  }

 private:
  bool IsReady(int fd) const {
    while (!ending_) {
      pollfd waiting{fd, POLLIN, 0};
      if (poll(&waiting, 1, 20) > 0) return true;
    }
    return false;
  }

  static bool IsWhole(const std::string& request) {
    const std::size_t head = request.find("\r\n\r\n");
    const std::size_t length = request.find("Content-Length: ");
    if (head == std::string::npos || length == std::string::npos) return false;
    return request.size() >=
           head + 4 + std::strtoul(request.c_str() + length + 16, nullptr, 10);
  }

  void Run() {
    std::size_t answered = 0;
    while (IsReady(socket_)) {
      const int peer = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      Answer(peer, statuses_[std::min(answered++, statuses_.size() - 1)]);
      close(peer);
    }
  }

  void Answer(int peer, int status) {
    std::string request;
    std::array<char, 4096> buffer;
    while (!IsWhole(request)) {
      if (!IsReady(peer)) return;
      const ssize_t size = read(peer, buffer.data(), buffer.size());
      if (size <= 0) return;
      request.append(buffer.data(), static_cast<std::size_t>(size));
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      requests_.push_back(request);
    }
    if (status == 0) {
      IsReady(peer);  // it hangs up, or we end
      return;
    }
    const std::string answer =
        "HTTP/1.1 " + std::to_string(status) +
        " X\r\nLocation: /elsewhere\r\nContent-Length: 5\r\n"
        "Connection: close\r\n\r\nhello";
    (void)!write(peer, answer.data(), answer.size());
  }

  const std::vector<int> statuses_;
  const int socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_NOTIFY_RECEIVER_H_
