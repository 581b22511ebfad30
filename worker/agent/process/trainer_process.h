// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_process.h
//
// A trainer is a process that reads and writes lines, in its own process group
// and below a guardian (guardian.h). It has ended when no process that came
// from it lives. It lives from trial to trial.
#ifndef FROSTLINE_WORKER_AGENT_PROCESS_TRAINER_PROCESS_H_
#define FROSTLINE_WORKER_AGENT_PROCESS_TRAINER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "worker/agent/process/guardian.h"
#include "worker/agent/process/log_tail.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// A trainer that was started, with our ends of its pipes. They are non-blocking
// and closed on exec.
struct Spawned {
  pid_t guardian = -1;  // our child
  pid_t trainer = -1;   // its child
  int in = -1;
  int out = -1;
  int err = -1;
  int orders = -1;  // to the guardian; closing it kills the trainer
  int words = -1;   // of the guardian
};

// Runs /bin/sh -c `script` below a guardian, in its own process group. It has
// default signals, except that SIGUSR1 and SIGUSR2 are ignored, since
// schedulers send them to whole jobs, and no other file descriptors. All
// processes that come from it end when this process does. From then on this
// process ignores SIGPIPE, as the child may go at any time. The error is
// TRAINER_START when the system has no more processes or files.
absl::StatusOr<Spawned> SpawnShell(const std::string& script,
                                   const std::vector<std::string>& environment);

// Our ends of a trainer's standard input, output and error. Lines go in without
// blocking, whole lines come out, and its standard error goes to the log. All
// calls come from one thread.
class TrainerPipes {
 public:
  // What a trainer has written.
  struct Output {
    std::vector<std::string> lines;  // whole ones, without newline
    bool ended = false;     // it has ended, and these are its last lines
    bool overlong = false;  // a line above kMaxLineBytes; nothing more is read
  };

  // It owns the descriptors, which are non-blocking. `log` outlives it.
  TrainerPipes(int in, int out, int err, LogTail& log)
      : in_(in), out_(out), err_(err), log_(log) {}
  ~TrainerPipes();
  TrainerPipes(const TrainerPipes&) = delete;
  TrainerPipes& operator=(const TrainerPipes&) = delete;

  // Return the descriptors to poll; a negative one is not to be polled.
  int in_to_write() const { return unsent_.empty() ? -1 : in_; }
  int out() const { return out_; }
  int err() const { return err_; }

  // Writes a line. What the pipe does not take waits for the next Flush().
  void Send(const std::string& line);
  // Closes the input once all that was sent is written.
  void CloseInput();
  void Flush();

  void ReadError();
  // Adds whole lines to `output`. `gone` says that no process is left to write.
  void ReadOutput(bool gone, Output* output);

 private:
  void CutLines(Output* output);

  int in_;
  int out_;
  int err_;
  LogTail& log_;
  std::string unsent_;
  bool input_ends_ = false;
  std::string unread_;
};

// Closes a descriptor that is not negative, and sets it to -1.
void CloseFd(int* fd);

// A trainer's command line and environment.
struct TrainerCommand {
  // `/bin/sh -c "exec COMMAND"` runs it: the shell becomes the trainer, so that
  // signals reach it.
  std::string command;
  std::vector<std::string> environment;  // "KEY=VALUE", besides the agent's
};

// A running trainer. It is killed with this object. All calls come from one
// thread.
class TrainerProcess {
 public:
  using Output = TrainerPipes::Output;

  // Starts a trainer. The error is TRAINER_START when no process can be made. A
  // command that does not exist ends with exit code 126 or 127.
  static absl::StatusOr<std::unique_ptr<TrainerProcess>> Start(
      const TrainerCommand& command, LogTail& log);
  ~TrainerProcess();  // kills
  TrainerProcess(const TrainerProcess&) = delete;
  TrainerProcess& operator=(const TrainerProcess&) = delete;

  // Never blocks: Wait() writes what the pipe does not take.
  void Send(const std::string& line) { pipes_.Send(line); }
  // Closes the input once all that was sent is written.
  void CloseInput() { pipes_.CloseInput(); }
  // Waits until the trainer writes something or ends, `wakeup` rings, or `time`
  // is over. It waits at most 100 ms, since a child of the trainer may keep the
  // pipes open after its end.
  Output Wait(Wakeup& wakeup, Duration time);

  // Sends SIGTERM to the process group, and after `grace` SIGKILL to all
  // processes that came from the trainer. Returns when they are gone or cannot
  // be killed.
  void Terminate(Duration grace);
  void Kill() { Terminate(Duration::zero()); }

  bool ended() const { return ended_; }
  // These are valid after its end. The first is a status of wait(2).
  int wait_status() const { return wait_status_; }
  bool killed_by_us() const { return killed_by_us_; }
  // Says whether a process that came from the trainer still lives 6 s after
  // SIGKILL or the trainer's own end: a disk or GPU that does not answer holds
  // it in the kernel. This stays true, and nothing waits for that process any
  // more.
  bool unkillable() const { return unkillable_; }
  // Looks whether the unkillable process is gone after all.
  bool EndedAtLast();
  // Returns the trainer's process id; if it is unkillable, that of the process
  // that still lives.
  pid_t pid() const { return pid_; }

 private:
  TrainerProcess(const Spawned& child, LogTail& log);
  void KillIfMute();
  bool Reap();
  bool CollectGuardian();
  // Kills orphans. Returns false if there are none any more.
  bool LeavesOrphans();
  void HearGuardian();
  void Order(GuardianOrder order);
  // Begins to count the time until the trainer counts as unkillable.
  void ExpectEnd();
  // Kills the trainer past its guardian, and continues the guardian, which
  // obeys no order while it is stopped.
  void KillPastGuardian();

  const pid_t guardian_;
  const pid_t trainer_;
  pid_t pid_;
  TrainerPipes pipes_;
  int orders_;
  int words_;
  SteadyTime mute_since_{};  // since when its output is closed
  SteadyTime end_due_{};
  // The trainer's own status; processes that it left may still live.
  std::optional<int> own_status_;
  std::optional<int> guardian_status_;
  bool ended_ = false;
  bool killed_past_guardian_ = false;
  bool unkillable_ = false;
  bool killed_by_us_ = false;
  int wait_status_ = 0;
};

// Returns "exited with code 3" or "was killed by signal 9 (Killed)".
std::string DescribeWaitStatus(int wait_status);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_TRAINER_PROCESS_H_
