// SPDX-License-Identifier: Apache-2.0
//
// File: outbox.h
//
// What one attempt still has to tell the coordinator, in order. A slot adds and
// never waits for the network; the courier takes from the front. Everything is
// in the attempt's spool file before it can be taken. Should the disk refuse,
// it is kept in memory alone, which is said in the log: a result that may be
// lost with the agent is better than one lost for certain. Thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_OUTBOX_H_
#define FROSTLINE_WORKER_AGENT_OUTBOX_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "worker/agent/spool.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

class Outbox {
 public:
  // `file` may be null: no disk from the start. `wakeup`, where given, rings
  // when the outbox is done, and outlives it.
  Outbox(v1::LeaseRef lease, std::unique_ptr<SpoolFile> file, Wakeup* wakeup);
  // Left by an earlier life: what it held.
  Outbox(SpoolContent content, std::unique_ptr<SpoolFile> file);

  void Add(const SpoolRecord& record);
  // The agent has nothing to add. Without it a finish or release ends it.
  void Close();

  std::optional<SpoolRecord> Front() const;
  void PopFront();
  // The front was refused: another request goes in its place, unspooled.
  void ReplaceFront(const SpoolRecord& record);
  // The coordinator takes no more reports of this attempt; an ending it judges.
  void DropReports();

  // Nothing is left and nothing will come: the file goes.
  bool done() const;
  // Ends without sending what is left. `keep_in`: the folder that the file
  // moves to; empty: it is removed.
  void Abandon(const std::string& keep_in);

  const v1::LeaseRef& lease() const { return lease_; }
  // What the coordinator said to the finish; unset where it said nothing.
  void NoteVerdict(v1::FinishReply::Verdict verdict);
  v1::FinishReply::Verdict verdict() const;

 private:
  void EndIfDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const v1::LeaseRef lease_;
  Wakeup* const wakeup_;
  mutable Mutex mutex_;
  std::unique_ptr<SpoolFile> file_ ABSL_GUARDED_BY(mutex_);
  std::deque<SpoolRecord> records_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  v1::FinishReply::Verdict verdict_ ABSL_GUARDED_BY(mutex_) =
      v1::FinishReply::VERDICT_UNSPECIFIED;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_OUTBOX_H_
