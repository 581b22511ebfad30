// SPDX-License-Identifier: Apache-2.0
//
// File: certificate_keeper.h
//
// Renews the certificate of a worker that has joined, on a thread of its own,
// once a third of its life is left. It asks with a new key over the connection
// of the old certificate; then calls go over a new connection, and the
// trainings notice nothing. What fails is logged and tried again until the
// certificate has expired: its worker then has to be invited again. A denied
// one ends the agent, as any denied call does.
#ifndef FROSTLINE_WORKER_AGENT_CERTIFICATE_KEEPER_H_
#define FROSTLINE_WORKER_AGENT_CERTIFICATE_KEEPER_H_

#include <atomic>
#include <thread>

#include "absl/status/status.h"
#include "base/clock.h"
#include "worker/agent/identity.h"
#include "worker/agent/rpc_client.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// When two thirds of its life have passed.
WallMicros RenewalDue(const IdentityFacts& facts);
// Until the next look: a minute, or less where a life is short. Where a renewal
// is due it is the pause before the next try.
Duration UntilNextLook(const IdentityFacts& facts, WallMicros now);

class CertificateKeeper {
 public:
  // `client` and `clock` outlive it, and the agent's lock is held while it
  // lives.
  CertificateKeeper(Identity identity, RpcClient& client, const Clock& clock);
  ~CertificateKeeper() { Stop(); }
  CertificateKeeper(const CertificateKeeper&) = delete;
  CertificateKeeper& operator=(const CertificateKeeper&) = delete;

  void Start();
  void Stop();  // waits for a call under way

 private:
  void Live();
  Duration LookOnce();
  absl::Status Renew();

  Identity identity_;  // touched by the thread alone
  RpcClient& client_;
  const Clock& clock_;
  Wakeup wakeup_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_CERTIFICATE_KEEPER_H_
