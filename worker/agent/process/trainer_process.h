// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_process.h
//
// A trainer is a process in its own process group that reads and writes lines,
// below a guardian (guardian.h): it has ended when nothing that came from it
// lives. It outlives trials, but not this object. All calls come from one
// thread.
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

// A process that was started, with our ends of its pipes, which are
// non-blocking and closed on exec.
struct Spawned {
  pid_t guardian = -1;  // our child
  pid_t trainer = -1;   // its child
  int in = -1;
  int out = -1;
  int err = -1;
  int orders = -1;  // to the guardian; closing it kills the trainer
  int words = -1;   // of the guardian
};

// Runs /bin/sh -c `script` below a guardian (guardian.h) in its own process
// group, with default signals (SIGUSR1 and SIGUSR2 are ignored: schedulers send
// them to whole jobs) and no other file descriptors. It and all that comes from
// it end when this process does. From then on this process ignores
// SIGPIPE, as the child may go at any time. Returns TRAINER_START when the
// system has no more processes or files.
absl::StatusOr<Spawned> SpawnShell(const std::string& script,
                                   const std::vector<std::string>& environment);

// Our ends of a trainer's input, output and error: lines go in without
// blocking, whole lines come out, and what it says of errors goes to its log.
// All calls come from one thread.

class TrainerPipes {
 public:
  struct Output {
    std::vector<std::string> lines;  // whole ones, without newline
    bool ended = false;              // and all it wrote is handed out
    bool overlong = false;  // a line above kMaxLineBytes; nothing more is read
  };

  // It owns the descriptors, which are non-blocking, and borrows `log`.
  TrainerPipes(int in, int out, int err, LogTail& log)
      : in_(in), out_(out), err_(err), log_(log) {}
  ~TrainerPipes();
  TrainerPipes(const TrainerPipes&) = delete;
  TrainerPipes& operator=(const TrainerPipes&) = delete;

  // They are to be polled; negative ones are not.
  int in_to_write() const { return unsent_.empty() ? -1 : in_; }
  int out() const { return out_; }
  int err() const { return err_; }

  // What the pipe does not take waits for the next Flush().
  void Send(const std::string& line);
  // Ends the input once all that was sent is written.
  void CloseInput();
  void Flush();

  void ReadError();
  // `gone` says that nobody is left to write.
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

// Closes it, unless it is, and makes it -1.
void CloseFd(int* fd);

struct TrainerCommand {
  // `/bin/sh -c "exec COMMAND"` runs it: the shell becomes the trainer, so that
  // signals reach it.
  std::string command;
  std::vector<std::string> environment;  // "KEY=VALUE", besides the agent's
};

// A running trainer.
class TrainerProcess {
 public:
  using Output = TrainerPipes::Output;

  // Returns TRAINER_START when there can be no process. A command that does not
  // exist shows as exit code 126 or 127.
  static absl::StatusOr<std::unique_ptr<TrainerProcess>> Start(
      const TrainerCommand& command, LogTail& log);
  ~TrainerProcess();  // kills
  TrainerProcess(const TrainerProcess&) = delete;
  TrainerProcess& operator=(const TrainerProcess&) = delete;

  // Never blocks, as Wait() writes what the pipe does not take.
  void Send(const std::string& line) { pipes_.Send(line); }
  // Ends the input once all that was sent is written.
  void CloseInput() { pipes_.CloseInput(); }
  // Waits until it says something, ends, `wakeup` rings or `time` is over, but
  // 100 ms at most: its own child may hold its pipes open.
  Output Wait(Wakeup& wakeup, Duration time);

  // Sends SIGTERM to the group, then SIGKILL after `grace` to all that came
  // from it, and returns when it is gone, or cannot be killed.
  void Terminate(Duration grace);
  void Kill() { Terminate(Duration::zero()); }

  bool ended() const { return ended_; }
  // These count after its end; the first is as of wait(2).
  int wait_status() const { return wait_status_; }
  bool killed_by_us() const { return killed_by_us_; }
  // Something of it lives on, 6 s after its SIGKILL or the trainer's own end: a
  // disk or a GPU that does not answer holds it in the kernel. It stays so, and
  // nobody waits for it any more.
  bool unkillable() const { return unkillable_; }
  // Looks whether an unkillable one is gone after all.
  bool EndedAtLast();
  // The trainer's; of an unkillable one that of the process that lives on.
  pid_t pid() const { return pid_; }

 private:
  TrainerProcess(const Spawned& child, LogTail& log);
  void KillIfMute();
  bool Reap();
  bool CollectGuardian();
  // Kills them; false where there are none, or no more.
  bool LeavesOrphans();
  void HearGuardian();
  void Order(GuardianOrder order);
  // From now on its end is due.
  void ExpectEnd();
  // A stopped guardian obeys no order: kills the trainer without it, and lets
  // it go on.
  void KillPastGuardian();

  const pid_t guardian_;
  const pid_t trainer_;
  pid_t pid_;
  TrainerPipes pipes_;
  int orders_;
  int words_;
  SteadyTime mute_since_{};  // its output is closed
  SteadyTime end_due_{};
  std::optional<int> own_status_;  // the trainer's; what it left may live on
  std::optional<int> guardian_status_;
  bool ended_ = false;
  bool killed_past_guardian_ = false;
  bool unkillable_ = false;
  bool killed_by_us_ = false;
  int wait_status_ = 0;
};

// "exited with code 3", "was killed by signal 9 (Killed)".
std::string DescribeWaitStatus(int wait_status);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_TRAINER_PROCESS_H_
