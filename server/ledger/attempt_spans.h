// SPDX-License-Identifier: Apache-2.0
//
// File: attempt_spans.h
//
// The spans of attempts. Their trace is a function of the lease's secret, which
// is computed again from what is stored. So nothing is kept for it except, for
// a trial that runs again, when its previous attempt ended. A coordinator that
// was started since then does not know that time, and tells only what it saw
// itself.
#ifndef FROSTLINE_SERVER_LEDGER_ATTEMPT_SPANS_H_
#define FROSTLINE_SERVER_LEDGER_ATTEMPT_SPANS_H_

#include <map>
#include <vector>

#include "server/ledger/ledger.h"
#include "spans/span.h"

namespace frostline::server {

// A source of spans (spans/span.h): it tells what the coordinator knows of an
// attempt's life, once the attempt's end is on disk. Only the loop's thread
// uses it.
class AttemptSpans {
 public:
  // `sink` may be null: then nothing is done. Both arguments outlive this
  // object.
  AttemptSpans(Ledger& ledger, spans::SpanSink* sink)
      : ledger_(ledger), sink_(sink) {}

  // Notes an attempt that has ended. `trial` is as the attempt left it.
  void NoteEnded(const storage::TrialRow& trial,
                 const storage::AttemptRow& attempt) FROSTLINE_ON_LOOP;
  void Committed() FROSTLINE_ON_LOOP;
  void Undo() FROSTLINE_ON_LOOP { ended_.clear(); }

 private:
  struct Ended {
    storage::TrialRow trial;
    storage::AttemptRow attempt;
  };
  struct Before {
    std::int64_t attempt = 0;
    WallMicros ended = 0;
    TraceContext root;
  };
  void Tell(const Ended& ended) FROSTLINE_ON_LOOP;

  Ledger& ledger_;
  spans::SpanSink* const sink_;
  std::vector<Ended> ended_ ABSL_GUARDED_BY(kLoopThread);  // in this group
  // The previous attempt's end, of trials that run again.
  std::map<TrialKey, Before> before_ ABSL_GUARDED_BY(kLoopThread);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_ATTEMPT_SPANS_H_
