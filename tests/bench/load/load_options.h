// SPDX-License-Identifier: Apache-2.0
//
// File: load_options.h
//
// What a simulated fleet does, and how badly it behaves.
#ifndef FROSTLINE_TESTS_BENCH_LOAD_LOAD_OPTIONS_H_
#define FROSTLINE_TESTS_BENCH_LOAD_LOAD_OPTIONS_H_

#include <grpcpp/security/credentials.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"

namespace frostline::bench {

// Chances from 0 to 1, drawn anew at each occasion.
struct Chaos {
  double vanish = 0.0;   // at a step: dies without a word, comes back reborn
  double repeat = 0.0;   // an answered request is sent again, word for word
  double silence = 0.0;  // at a step: not a sound for `silent_for`, then on
  double late = 0.0;     // the same just before Finish
  double fail = 0.0;     // the trial ends as FAILED
  double release = 0.0;  // at a step: hands the trial back
  // Longer than a TTL, or it is no silence.
  Duration silent_for = std::chrono::seconds(5);
};

struct LoadOptions {
  std::string connect = "127.0.0.1:7070";
  int workers = 100;
  int per_channel = 1;  // workers that share one connection
  // Full name. Empty: whatever there is; such workers never find an end.
  std::string study = "studies/load";
  // The run ends when the study does, and no later than either of these; 0: no
  // such limit. A cycle is one Acquire with a trial and its accepted Finish.
  Duration time = Duration::zero();
  std::int64_t cycles = 0;
  // What is measured begins so long after the start.
  Duration warm_up = Duration::zero();
  int reports = 0;                    // before each Finish
  int measurements = 1;               // in each report
  Duration think = Duration::zero();  // before each report and the Finish
  Duration wait = std::chrono::seconds(30);  // of the long poll
  // A call that is not answered in this time is sent again; for a long poll
  // its wait comes on top.
  Duration patience = std::chrono::seconds(10);
  std::string worker_prefix = "load";
  std::uint64_t seed = 1;
  Chaos chaos;
  bool keep_history = false;
  // Plaintext when null.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // Called on the load's thread as a worker gets a trial.
  std::function<void(const std::string& trial, SteadyTime)> on_grant;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_LOAD_OPTIONS_H_
