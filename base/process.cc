// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace frostline {

std::array<int, 2> Pipe::Ends() {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  return ends;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t StartProcess(const ProcessStart& start) {
  std::vector<std::string> words = start.words;
  std::vector<std::string> variables =
      start.variables.value_or(std::vector<std::string>());
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::array<int, 3> standard = {start.in, start.out, start.err};
  for (int fd = 0; fd < 3; ++fd) {
    const int given = standard[static_cast<std::size_t>(fd)];
    if (given >= 0) posix_spawn_file_actions_adddup2(&files, given, fd);
  }
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&how, &signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  posix_spawnattr_setsigdefault(&how, &signals);
  posix_spawnattr_setpgroup(&how, 0);
  const int group = start.leads_group ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(
      &how, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                               group));
  pid_t pid = -1;
  const int error = posix_spawnp(
      &pid, words[0].c_str(), &files, &how, PointersTo(words).data(),
      start.variables ? PointersTo(variables).data() : environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  errno = error;
  return error == 0 ? pid : -1;
}

int WaitForEnd(pid_t child) {
  int wait_status = 0;
  while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
  }
  return wait_status;
}

int ShellCodeOf(int wait_status) {
  constexpr int kSignalled = 128;
  return WIFSIGNALED(wait_status) ? kSignalled + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

}  // namespace frostline
