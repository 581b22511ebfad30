// SPDX-License-Identifier: Apache-2.0
//
// File: failpoint.h
//
// Points in the code where a crash would be worst, by name, for tests. Packages
// are built without them (-DFROSTLINE_FAILPOINTS=OFF, the default).
//
//   FROSTLINE_FAILPOINT(kCommitBefore);       // in the code
//   FROSTLINE_FAILPOINT=commit.before:kill    // in the environment
//
// The environment is read once, at the first failpoint that is reached:
//   NAME:kill        the process ends as by kill -9
//   NAME:kill@3      … at the third visit
//   NAME:sleep=250   each visit takes so many milliseconds
// Commas separate several. An unknown name or action ends the process: a test
// that arms nothing must not pass. Any thread may reach one.
#ifndef FROSTLINE_BASE_FAILPOINT_H_
#define FROSTLINE_BASE_FAILPOINT_H_

#include <array>
#include <string_view>

// All failpoints. tests/fault arms each, and checks that each can be reached.
#define FROSTLINE_FAILPOINT_LIST(X)                                           \
  /* coordinator: one group on its way to the disk */                         \
  X(kCommitBegin, "commit.begin", "a group is gathered, nothing is written")  \
  X(kCommitBefore, "commit.before", "a group is written, not yet committed")  \
  X(kCommitAfter, "commit.after", "a group is on disk, memory not yet told")  \
  X(kReplyBefore, "reply.before", "a group is on disk, nobody is told yet")   \
  X(kReplyHalf, "reply.half", "the first of a group's callers has been told") \
  /* coordinator: what a group may hold */                                    \
  X(kStudyCreated, "study.created", "a study is written")                     \
  X(kTrialsEnqueued, "trials.enqueued", "trials of a person are written")     \
  X(kTrialsImported, "trials.imported", "some imported trials are written")   \
  X(kProposalMade, "proposal.made", "a sampler has proposed")                 \
  X(kProposalTaken, "proposal.taken", "proposed trials are written")          \
  X(kGrantWritten, "grant.written", "a lease is written, nobody holds it")    \
  X(kReportWritten, "report.written", "measurements are written")             \
  X(kFinishWritten, "finish.written", "an outcome is written")                \
  X(kReleaseWritten, "release.written", "a trial is handed back")             \
  X(kLossWritten, "loss.written", "a lease has ended without a word")         \
  X(kRegisterWritten, "register.written", "a worker's new life is written")   \
  X(kStudyStopped, "study.stopped", "a study is stopped, its trials are not") \
  X(kStudyDeleted, "study.deleted", "a study is hidden")                      \
  /* coordinator: begin and end */                                            \
  X(kLoadBefore, "load.before", "the store is open, nothing is read")         \
  X(kLoadAfter, "load.after", "all studies are in memory, nothing is served") \
  X(kDrainBefore, "drain.before", "a signal came, parked calls wait")         \
  X(kDrainAfter, "drain.after", "parked calls are answered")                  \
  /* storage: a transaction, and the log behind it */                         \
  X(kTransactionWritten, "transaction.written", "rows in memory, no commit")  \
  X(kTransactionCommitted, "transaction.committed", "in the log, not told")   \
  X(kCheckpointBefore, "checkpoint.before", "the log is long, nothing moved") \
  X(kCheckpointAfter, "checkpoint.after", "the log is in the database, too")  \
  X(kBallastReleased, "ballast.released", "the disk is full, room is made")   \
  /* storage: a newer version, a copy, the way back */                        \
  X(kMigrateBefore, "migrate.before", "an old database is copied, no more")   \
  X(kMigrateStep, "migrate.step", "a step is written, not yet committed")     \
  X(kMigrateAfter, "migrate.after", "a step is committed, others may follow") \
  X(kBackupCopied, "backup.copied", "a copy is written, not yet synced")      \
  X(kBackupChecked, "backup.checked", "a copy is whole, not yet in place")    \
  X(kBackupDone, "backup.done", "a copy is in place, nobody is told")         \
  X(kRestoreCopied, "restore.copied", "a backup is copied, not yet checked")  \
  X(kRestoreBefore, "restore.before", "a backup is checked, not in place")    \
  X(kRestoreAfter, "restore.after", "a backup is in place, nobody is told")   \
  /* agent: an attempt, from its grant to its end */                          \
  X(kAgentReplayed, "agent.replayed", "earlier lives are told")               \
  X(kAgentRegistered, "agent.registered", "its life is known, no more")       \
  X(kAgentAcquired, "agent.acquired", "a lease in memory alone")              \
  X(kAgentSpooling, "agent.spooling", "a lease on disk, no trainer")          \
  X(kAgentStarted, "agent.started", "a trainer has its trial")                \
  X(kAgentReportSpooled, "agent.report_spooled", "on disk, not sent")         \
  X(kAgentReportSent, "agent.report_sent", "answered, still on disk")         \
  X(kAgentCheckpointed, "agent.checkpointed", "one is there, untold")         \
  X(kAgentFinishTaken, "agent.finish_taken", "known, not yet on disk")        \
  X(kAgentFinishSpooled, "agent.finish_spooled", "on disk, not sent")         \
  X(kAgentFinishSent, "agent.finish_sent", "answered, still on disk")         \
  X(kAgentReleaseSpooled, "agent.release_spooled", "on disk, not sent")       \
  X(kAgentReleaseSent, "agent.release_sent", "answered, still on disk")       \
  X(kAgentEndMarked, "agent.end_marked", "the trial's folder is there")

namespace frostline {

// The id of a failpoint.
enum class Failpoint {
#define FROSTLINE_FAILPOINT_ENUM(id, name, meaning) id,
  FROSTLINE_FAILPOINT_LIST(FROSTLINE_FAILPOINT_ENUM)
#undef FROSTLINE_FAILPOINT_ENUM
};

// A failpoint's name, and what it means.
struct FailpointInfo {
  Failpoint id;
  std::string_view name;
  std::string_view meaning;  // what has happened, and what has not
};

inline constexpr std::array kFailpoints = {
#define FROSTLINE_FAILPOINT_INFO(id, name, meaning) \
  FailpointInfo{Failpoint::id, name, meaning},
    FROSTLINE_FAILPOINT_LIST(FROSTLINE_FAILPOINT_INFO)
#undef FROSTLINE_FAILPOINT_INFO
};

// Does what the environment says for this failpoint.
void ReachFailpoint(Failpoint id);

}  // namespace frostline

#ifdef FROSTLINE_FAILPOINTS
#define FROSTLINE_FAILPOINT(id) \
  ::frostline::ReachFailpoint(::frostline::Failpoint::id)
#else
#define FROSTLINE_FAILPOINT(id) static_cast<void>(0)
#endif

#endif  // FROSTLINE_BASE_FAILPOINT_H_
