// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/agent/join_rig.h"

#include <fstream>

#include "base/error.h"
#include "tls/certificate.h"
#include "tls/private_file.h"

namespace frostline::agent {

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
