// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/child_processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace frostline::agent {
namespace {

pid_t NumberAt(const char* text) {
  pid_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    number = number * 10 + (*text - '0');
  return number;
}

// The parent of the process with this number in /proc; 0 if it is gone.
pid_t ParentOf(const char* number) {
  std::array<char, 64> path{};
  const std::size_t length = std::strlen(number);
  if (length > 20) return 0;
  std::memcpy(path.data(), "/proc/", 6);
  std::memcpy(path.data() + 6, number, length);
  std::memcpy(path.data() + 6 + length, "/stat", 5);
  const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  std::array<char, 256> stat{};
  const ssize_t size = read(fd, stat.data(), stat.size() - 1);
  close(fd);
  if (size <= 0) return 0;
  // "17 (any name) S 4 …": a name may hold blanks and brackets.
  const char* at = std::strrchr(stat.data(), ')');
  return at == nullptr || std::strlen(at) < 5 ? 0 : NumberAt(at + 4);
}

}  // namespace

void ForEachChild(void (*see)(pid_t child, void* context), void* context) {
  const pid_t self = getpid();
  const int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) std::array<char, 4096> entries;
  long size = 0;
  while ((size = syscall(SYS_getdents64, folder, entries.data(),
                         entries.size())) > 0) {
    for (long at = 0; at < size;) {
      const auto* entry =
          reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
      if (ParentOf(entry->d_name) == self)
        see(NumberAt(entry->d_name), context);
    }
  }
  close(folder);
}

}  // namespace frostline::agent
