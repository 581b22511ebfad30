// SPDX-License-Identifier: Apache-2.0
//
// File: raw_socket.h
//
// A peer that says over TCP what no gRPC client would, frame by frame.
#ifndef FROSTLINE_TESTS_SERVER_RPC_RAW_SOCKET_H_
#define FROSTLINE_TESTS_SERVER_RPC_RAW_SOCKET_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace frostline::server {

class RawSocket {
 public:
  // `address` is "127.0.0.1:PORT".
  explicit RawSocket(const std::string& address)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const std::size_t colon = address.rfind(':');
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // Who is turned away before connect() returns finds a reset there.
    connected_ =
        connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 ||
        errno == ECONNRESET;
  }
  ~RawSocket() { Close(); }
  RawSocket(RawSocket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  RawSocket& operator=(RawSocket&& other) = delete;

  // Somebody took the connection, if only to end it at once.
  bool connected() const { return connected_; }

  // False: the connection is over.
  bool Send(const std::string& bytes) const {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n =
          send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<std::size_t>(n);
    }
    return true;
  }

  // Whether the server says anything within `longest`.
  bool IsSpokenTo(std::chrono::milliseconds longest) const {
    std::array<char, 1> byte{};
    return Await(longest) && recv(fd_, byte.data(), 1, MSG_PEEK) == 1;
  }

  // Reads and throws away; whether the server ends it within `longest`.
  bool IsEndedWithin(std::chrono::milliseconds longest) const {
    const auto until = std::chrono::steady_clock::now() + longest;
    std::array<char, 65536> bytes{};
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          until - std::chrono::steady_clock::now());
      if (left.count() <= 0 || !Await(left)) return false;
      if (recv(fd_, bytes.data(), bytes.size(), 0) <= 0) return true;
    }
  }

  // All that comes until the server ends it, or `longest` is over.
  std::string ReadAll(std::chrono::milliseconds longest) const {
    const auto until = std::chrono::steady_clock::now() + longest;
    std::string all;
    std::array<char, 65536> bytes{};
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          until - std::chrono::steady_clock::now());
      if (left.count() <= 0 || !Await(left)) return all;
      const ssize_t n = recv(fd_, bytes.data(), bytes.size(), 0);
      if (n <= 0) return all;
      all.append(bytes.data(), static_cast<std::size_t>(n));
    }
  }

  // Reads what is there, so that the server is never held up.
  void Drain() const {
    std::array<char, 65536> bytes{};
    while (recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }

  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  bool Await(std::chrono::milliseconds longest) const {
    pollfd here{.fd = fd_, .events = POLLIN, .revents = 0};
    return poll(&here, 1, static_cast<int>(longest.count())) == 1;
  }

  int fd_;
  bool connected_ = false;
};

// A frame of HTTP/2 (RFC 9113, 4.1).
inline std::string FrameOf(int type, int flags, std::uint32_t stream,
                           const std::string& payload) {
  std::string frame;
  for (int shift : {16, 8, 0}) {
    frame += static_cast<char>((payload.size() >> shift) & 0xff);
  }
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  for (int shift : {24, 16, 8, 0}) {
    frame += static_cast<char>((stream >> shift) & 0xff);
  }
  return frame + payload;
}

// What a client says first: the preface and empty SETTINGS.
inline std::string HttpPreface() {
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + FrameOf(4, 0, 0, "");
}

// A name and a value, neither indexed (RFC 7541, 6.2.2); each below 127 bytes.
inline std::string HeaderOf(const std::string& name, const std::string& value) {
  std::string header(1, '\0');
  header += static_cast<char>(name.size());
  header += name;
  header += static_cast<char>(value.size());
  return header + value;
}

// The begin of a call to WhoAmI, which sends no request yet.
inline std::string BeginCall(std::uint32_t stream) {
  return FrameOf(1, 0x4, stream,
                 "\x83\x86" +  // POST, http
                     HeaderOf(":path", "/frostline.v1.AdminService/WhoAmI") +
                     HeaderOf(":authority", "here") +
                     HeaderOf("te", "trailers") +
                     HeaderOf("content-type", "application/grpc"));
}

// A header of 4,000 bytes for the table of names, in a block that does not end,
// and a frame that asks for it twice, for no more than two bytes.
inline std::string BeginHeaderBomb() {
  return FrameOf(
      1, 0, 1,
      std::string("\x83\x86\x40\1x\x7f\xa1\x1e", 8) + std::string(4'000, 'a'));
}
inline std::string GoOnWithHeaderBomb() { return FrameOf(9, 0, 1, "\xbe\xbe"); }

inline std::string AcknowledgeSettings() { return FrameOf(4, 1, 0, ""); }

inline std::string CancelCall(std::uint32_t stream) {
  return FrameOf(3, 0, stream, std::string("\0\0\0\x08", 4));
}

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_RPC_RAW_SOCKET_H_
