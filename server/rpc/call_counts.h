// SPDX-License-Identifier: Apache-2.0
//
// File: call_counts.h
//
// Calls by verb and code. A verb's counts are made when it is bound to gRPC;
// a call finds them by a pointer, so that it costs two additions.
#ifndef FROSTLINE_SERVER_RPC_CALL_COUNTS_H_
#define FROSTLINE_SERVER_RPC_CALL_COUNTS_H_

#include <grpcpp/support/status_code_enum.h>

#include <array>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "server/metrics/page.h"

namespace frostline::server {

// Any thread may count and read.
struct VerbCounts {
  static constexpr std::size_t kCodes = 17;
  static constexpr std::size_t kUnknown = 2;

  void NoteAnswered(grpc::StatusCode code, Duration took) {
    const auto at = static_cast<std::size_t>(code);
    seconds[at < kCodes ? at : kUnknown].Observe(took);
    ended.Add();
  }

  bool streams = false;
  Counter begun;
  Counter ended;
  std::array<Histogram, kCodes> seconds;  // of unary calls, by code
};

// "NOT_FOUND"
const char* CodeName(grpc::StatusCode code);

class CallCounts {
 public:
  // The same for the same method, "frostline.v1.StudyService.GetStudy". Before
  // anybody writes.
  VerbCounts* Of(const std::string& method, bool streams);
  void Write(MetricsPage& page) const;

 private:
  std::map<std::string, VerbCounts> verbs_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_CALL_COUNTS_H_
