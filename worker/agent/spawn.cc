// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::agent {
namespace {

constexpr int kCannotExec = 126;

struct Pipe {
  int read = -1;
  int write = -1;
};

absl::Status StartError(const char* call) {
  return MakeError(ErrorId::kTrainerStart,
                   absl::StrCat(call, ": ", std::strerror(errno)),
                   "raise the limits on processes and open files (ulimit -u, "
                   "ulimit -n)");
}

void CloseAll(const std::vector<Pipe>& pipes) {
  for (const Pipe& pipe : pipes) {
    if (pipe.read >= 0) close(pipe.read);
    if (pipe.write >= 0) close(pipe.write);
  }
}

// In the child, where other threads may have held any lock: only calls that are
// safe after fork in a program with threads.
[[noreturn]] void BecomeShell(const std::vector<Pipe>& pipes, pid_t parent,
                              char* const* arguments, char* const* variables) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The agent may have died before the line above.
  if (getppid() != parent) _exit(kCannotExec);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(pipes[0].read, STDIN_FILENO);
  dup2(pipes[1].write, STDOUT_FILENO);
  dup2(pipes[2].write, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  execve("/bin/sh", arguments, variables);
  _exit(kCannotExec);
}

// Ours, then the agent's own where ours does not set the same key.
std::vector<std::string> MergedEnvironment(
    const std::vector<std::string>& ours) {
  std::vector<std::string> merged = ours;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const std::string key = variable.substr(0, variable.find('=') + 1);
    const bool replaced =
        std::any_of(ours.begin(), ours.end(), [&key](const std::string& own) {
          return own.compare(0, key.size(), key) == 0;
        });
    if (!replaced) merged.push_back(variable);
  }
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

absl::StatusOr<Spawned> SpawnShell(
    const std::string& script, const std::vector<std::string>& environment) {
  // Whoever writes to a child that is gone gets EPIPE, not the end of us all.
  signal(SIGPIPE, SIG_IGN);
  std::vector<Pipe> pipes(3);
  for (Pipe& pipe : pipes) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      const absl::Status status = StartError("pipe");
      CloseAll(pipes);
      return status;
    }
    pipe = {ends[0], ends[1]};
  }
  std::vector<std::string> argument_texts = {"sh", "-c", script};
  std::vector<std::string> variable_texts = MergedEnvironment(environment);
  const std::vector<char*> arguments = Pointers(argument_texts);
  const std::vector<char*> variables = Pointers(variable_texts);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    BecomeShell(pipes, parent, arguments.data(), variables.data());
  }
  if (pid < 0) {
    const absl::Status status = StartError("fork");
    CloseAll(pipes);
    return status;
  }
  // Here too, so that a kill(-pid) finds the group however fast it comes.
  setpgid(pid, pid);
  close(pipes[0].read);
  close(pipes[1].write);
  close(pipes[2].write);
  const Spawned child{pid, pipes[0].write, pipes[1].read, pipes[2].read};
  for (const int fd : {child.in, child.out, child.err}) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  }
  return child;
}

}  // namespace frostline::agent
