// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_process.h
//
// A trainer: a child process with a process group of its own that reads lines
// on standard input and writes lines on standard output. It outlives trials,
// but not the agent: the kernel kills it when the thread that started it ends,
// whatever the reason (PR_SET_PDEATHSIG), so start it from a thread that lives
// as long as it should.
//
// All calls from that one thread, except those of log().
#ifndef FROSTLINE_WORKER_AGENT_TRAINER_PROCESS_H_
#define FROSTLINE_WORKER_AGENT_TRAINER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "worker/agent/log_tail.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

struct TrainerCommand {
  // Run by `/bin/sh -c "exec COMMAND"`: the shell splits words and expands, and
  // then is the trainer itself, so that signals reach it.
  std::string command;
  std::vector<std::string> environment;  // "KEY=VALUE", besides the agent's
};

class TrainerProcess {
 public:
  struct Output {
    std::vector<std::string> lines;  // whole ones, without newline
    bool ended = false;     // and all it ever wrote has been handed out
    bool overlong = false;  // a line above kMaxLineBytes; nothing more is read
  };

  // TRAINER_START when there can be no process at all. A command that does not
  // exist shows as an exit code of 126 or 127.
  static absl::StatusOr<std::unique_ptr<TrainerProcess>> Start(
      const TrainerCommand& command, LogTail& log);
  ~TrainerProcess();  // kills
  TrainerProcess(const TrainerProcess&) = delete;
  TrainerProcess& operator=(const TrainerProcess&) = delete;

  // Never blocks: what the pipe does not take is written while waiting.
  void Send(const std::string& line);
  // End of input, once all that was sent is written.
  void CloseInput();
  // Until it says something, ends, `wakeup` rings or `time` is over.
  Output Wait(Wakeup& wakeup, Duration time);

  // SIGTERM, after `grace` SIGKILL to the whole group. Returns when it is gone.
  void Terminate(Duration grace);
  // SIGKILL to the whole group, now.
  void Kill() { Terminate(Duration::zero()); }

  bool ended() const { return ended_; }
  // Both after its end: as wait(2) says; and that we ourselves killed it.
  int wait_status() const { return wait_status_; }
  bool killed_by_us() const { return killed_by_us_; }
  pid_t pid() const { return pid_; }

 private:
  TrainerProcess(pid_t pid, int in, int out, int err, LogTail& log);
  void Flush();
  void ReadOutput(bool gone, Output* output);
  void ReadError();
  void CutLines(Output* output);
  void KillIfMute();
  bool Reap();

  const pid_t pid_;
  int in_;
  int out_;
  int err_;
  LogTail& log_;
  std::string unsent_;
  bool input_ends_ = false;
  SteadyTime mute_since_{};  // its output is closed
  std::string unread_;
  bool ended_ = false;
  bool killed_by_us_ = false;
  int wait_status_ = 0;
};

// "exited with code 3", "was killed by signal 9 (Killed)".
std::string DescribeWaitStatus(int wait_status);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRAINER_PROCESS_H_
