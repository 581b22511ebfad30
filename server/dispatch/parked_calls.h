// SPDX-License-Identifier: Apache-2.0
//
// File: parked_calls.h
//
// The calls that may wait for an answer: each knows who waits for what, until
// when, and by which key the waiting room finds it again.
#ifndef FROSTLINE_SERVER_DISPATCH_PARKED_CALLS_H_
#define FROSTLINE_SERVER_DISPATCH_PARKED_CALLS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "server/coordinator.h"
#include "server/ledger/lease_book.h"

namespace frostline {

struct ParkedAcquire {
  v1::AcquireRequest request;
  std::string worker;  // id
  SteadyTime deadline{};
  CancelFlag cancelled;
  Reply<v1::AcquireReply> reply;

  const std::string& Key() const { return worker; }
};

struct ParkedLog {
  TrialKey trial;
  std::int64_t attempt = 0;
  SteadyTime deadline{};
  Reply<v1::GetTrialLogReply> reply;

  TrialKey Key() const { return trial; }
};

struct ParkedWatch {
  StudyKey study = 0;
  std::int64_t after_revision = 0;
  v1::TrialView view = v1::TRIAL_VIEW_BASIC;
  SteadyTime deadline{};
  CancelFlag cancelled;
  Reply<std::vector<v1::StudyEvent>> reply;

  StudyKey Key() const { return study; }
};

}  // namespace frostline

#endif  // FROSTLINE_SERVER_DISPATCH_PARKED_CALLS_H_
