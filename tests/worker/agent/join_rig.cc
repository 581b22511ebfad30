// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/agent/join_rig.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "tls/certificate.h"
#include "tls/private_file.h"

namespace frostline::agent {
namespace {

constexpr int kLookMs = 20;

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

int ConnectTo(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

void SendAll(int fd, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n =
        send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

// Empty at the end of the connection.
std::string Receive(int fd) {
  std::array<char, 16'384> buffer{};
  const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
  return n <= 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(n));
}

}  // namespace

Relay::Relay(Kind kind, int port) : kind_(kind), to_(port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 16) != 0) {
    std::abort();
  }
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  threads_.emplace_back([this] { Listen(); });
}

Relay::~Relay() {
  over_ = true;
  threads_.front().join();  // no more are added
  for (std::size_t i = 1; i < threads_.size(); ++i) threads_[i].join();
  close(listener_);
}

std::string Relay::sent() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return sent_;
}

std::vector<std::string> Relay::asked() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return asked_;
}

void Relay::Listen() {
  while (!over_) {
    pollfd entry = {listener_, POLLIN, 0};
    if (poll(&entry, 1, kLookMs) <= 0) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) threads_.emplace_back([this, client] { Serve(client); });
  }
}

bool Relay::AnswerConnect(int client) {
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    const std::string more = Receive(client);
    if (more.empty()) return false;
    head += more;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    asked_.push_back(head.substr(0, head.find("\r\n")));
  }
  SendAll(client, "HTTP/1.1 200 Connection established\r\n\r\n");
  return true;
}

void Relay::Serve(int client) {
  const bool asked = kind_ == Kind::kPlain || AnswerConnect(client);
  const int server = asked ? ConnectTo(to_) : -1;
  while (server >= 0 && !over_) {
    std::array<pollfd, 2> entries = {
        {{client, POLLIN, 0}, {server, POLLIN, 0}}};
    if (poll(entries.data(), entries.size(), kLookMs) <= 0) continue;
    const bool from_client = entries[0].revents != 0;
    const std::string bytes = Receive(from_client ? client : server);
    if (bytes.empty()) break;
    if (from_client) {
      const std::lock_guard<std::mutex> lock(mutex_);
      sent_ += bytes;
    }
    SendAll(from_client ? server : client, bytes);
  }
  if (server >= 0) close(server);
  close(client);
}

JoinRig::JoinRig(bool chain) {
  authority_ = tls::MakeAuthority("rig", clock_.Wall()).value();
  ca_sha256_ = tls::ReadCertificate(authority_.certificate_pem)->sha256;
  tls::LeafSpec spec{
      .name = "rig", .hosts = {"127.0.0.1", "head.test"}, .uri = ""};
  const tls::KeyPair leaf = tls::Issue(authority_, spec, clock_.Wall()).value();
  const tls::TlsFiles files{File("c.crt"), File("c.key"),
                            chain ? File("ca.crt") : ""};
  std::ofstream(files.certificate)
      << leaf.certificate_pem << (chain ? authority_.certificate_pem : "");
  std::ofstream(File("ca.crt")) << authority_.certificate_pem;
  tls::WritePrivateFile(files.key, leaf.key_pem, "").IgnoreError();
  coordinator_ = std::make_unique<ScriptedCoordinator>(
      tls::ServerCredentialsOf(files, clock_).value());
  coordinator_->IssueBy(
      [this](const std::string& request_id, const std::string& request_pem) {
        return Answer(request_id, request_pem);
      });
}

int JoinRig::port() const {
  const std::string address = coordinator_->address();
  return std::stoi(address.substr(address.rfind(':') + 1));
}

std::string JoinRig::Line(const std::string& host, int port) const {
  return kJoinToken + "@" + host + ":" +
         std::to_string(port == 0 ? this->port() : port) + "#" + ca_sha256_;
}

void JoinRig::SetLifetime(Duration lifetime) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lifetime_ = lifetime;
}

void JoinRig::BeforeAnswer(std::function<void()> before) {
  const std::lock_guard<std::mutex> lock(mutex_);
  before_ = std::move(before);
}

v1::JoinReply JoinRig::ReplyFor(const std::string& worker_id,
                                const std::string& request_pem) const {
  tls::LeafSpec spec{.name = worker_id,
                     .hosts = {},
                     .uri = tls::FormatOwnerName({"worker", worker_id})};
  spec.lifetime = lifetime_;
  v1::JoinReply reply;
  reply.set_worker("workers/" + worker_id);
  reply.set_certificate(
      tls::IssueFor(request_pem, authority_, spec, clock_.Wall()).value());
  reply.set_ca(authority_.certificate_pem);
  return reply;
}

absl::StatusOr<v1::JoinReply> JoinRig::Answer(const std::string& request_id,
                                              const std::string& request_pem) {
  std::function<void()> before;
  v1::JoinReply reply;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = answered_.find(request_id);
    reply =
        known == answered_.end() ? ReplyFor("w", request_pem) : known->second;
    answered_[request_id] = reply;
    before = before_;
  }
  if (before) before();
  return reply;
}

}  // namespace frostline::agent
