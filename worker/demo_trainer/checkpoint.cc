// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace frostline::demo_trainer {

bool WriteCheckpoint(const std::string& folder, const std::string& id,
                     const std::string& bytes) {
  const std::string path = folder + "/" + id;
  const std::string beside = path + ".part";
  const int fd =
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const bool written = write(fd, bytes.data(), bytes.size()) ==
                           static_cast<ssize_t>(bytes.size()) &&
                       fsync(fd) == 0;
  close(fd);
  if (!written || std::rename(beside.c_str(), path.c_str()) != 0) return false;
  const int folder_fd =
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_fd < 0) return false;
  const bool synced = fsync(folder_fd) == 0;
  close(folder_fd);
  return synced;
}

std::optional<std::string> ReadCheckpoint(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

}  // namespace frostline::demo_trainer
