// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/certificate_keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "tls/credentials.h"

namespace frostline::agent {
namespace {

constexpr Duration kLongestRenewalPause = std::chrono::minutes(1);
constexpr Duration kShortestRenewalPause = std::chrono::milliseconds(100);
constexpr int kTriesPerRest = 10;  // of the life that is left

}  // namespace

WallMicros RenewalDue(const IdentityFacts& facts) {
  return facts.expires - (facts.expires - facts.begins) / 3;
}

Duration UntilNextLook(const IdentityFacts& facts, WallMicros now) {
  const WallMicros due = RenewalDue(facts);
  const WallMicros pause =
      now < due ? due - now : (facts.expires - now) / kTriesPerRest;
  // A life of centuries has too many nanoseconds for a Duration.
  if (pause > std::chrono::microseconds(std::chrono::minutes(1)).count()) {
    return kLongestRenewalPause;
  }
  return std::max(kShortestRenewalPause,
                  Duration(std::chrono::microseconds(pause)));
}

CertificateKeeper::CertificateKeeper(Identity identity, RpcClient& client,
                                     const Clock& clock)
    : identity_(std::move(identity)), client_(client), clock_(clock) {}

void CertificateKeeper::Start() {
  thread_ = std::thread([this] { Live(); });
}

void CertificateKeeper::Stop() {
  stopped_ = true;
  wakeup_.Ring();
  if (thread_.joinable()) thread_.join();
}

void CertificateKeeper::Live() {
  while (!stopped_) wakeup_.WaitFor(LookOnce());
}

Duration CertificateKeeper::LookOnce() {
  const auto facts = identity_.Read();
  if (!facts.ok()) {
    Log(LogLevel::kError, "identity_unreadable",
        {{"cause", std::string(facts.status().message())}});
    return kLongestRenewalPause;
  }
  const WallMicros now = clock_.Wall();
  if (now < RenewalDue(*facts)) return UntilNextLook(*facts, now);
  if (now >= facts->expires) {
    Log(LogLevel::kError, "certificate_expired",
        {{"expired", FormatWall(facts->expires)},
         {"fix",
          "have a line made by `frostline worker invite`, and start the worker "
          "with it"}});
    return kLongestRenewalPause;
  }
  const absl::Status renewed = Renew();
  if (renewed.ok()) return kShortestRenewalPause;  // look at the new one
  Log(LogLevel::kWarning, "certificate_not_renewed",
      {{"expires", FormatWall(facts->expires)},
       {"cause", std::string(renewed.message())},
       {"fix", DetailOf(renewed).value_or(ErrorDetail()).fix}});
  return UntilNextLook(*facts, now);
}

absl::Status CertificateKeeper::Renew() {
  ASSIGN_OR_RETURN(const Identity::Question question,
                   identity_.Ask("RenewCertificate"));
  v1::RenewCertificateRequest request;
  request.set_request_id(question.request_id);
  request.set_certificate_request(question.request_pem);
  ASSIGN_OR_RETURN(const v1::JoinReply reply,
                   client_.RenewCertificate(request));
  RETURN_IF_ERROR(identity_.Store(reply, /*ca_sha256=*/""));
  ASSIGN_OR_RETURN(const IdentityFacts facts, identity_.Read());
  ASSIGN_OR_RETURN(
      tls::Access access,
      tls::Access::Open({identity_.files(), ""}, facts.address, clock_));
  client_.Reconnect(std::move(access));
  Log(LogLevel::kInfo, "certificate_renewed",
      {{"expires", FormatWall(facts.expires)}});
  return absl::OkStatus();
}

}  // namespace frostline::agent
