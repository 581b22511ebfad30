// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/checkpoint_hook.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/process.h"
#include "worker/agent/process/guardian.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

constexpr int kNotRun = 127;  // what a shell ends with
constexpr char kIsNotThere[] = "ended with code 127: is it there?";
constexpr Duration kBetweenLooks = std::chrono::milliseconds(100);

absl::Status Failed(const CheckpointHook& hook, const std::string& verb,
                    const std::string& cause) {
  return MakeError(
      ErrorId::kTrainerStart,
      absl::StrCat("--checkpoint-hook ", hook.program, " ", verb, " ", cause),
      "see what it wrote to the worker's log; without it a trial "
      "goes on where its checkpoint lies");
}

// Waits for the end of a child. Returns false if it did not end in time. A
// descriptor of the process is readable after its end.
bool EndsWithin(pid_t child, Duration limit,
                absl::FunctionRef<bool()> hurries) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (fd < 0) return false;
  pollfd entry = {fd, POLLIN, 0};
  int ready = 0;
  while (ready <= 0 && limit > Duration::zero() && !hurries()) {
    const Duration slice = std::min(limit, kBetweenLooks);
    ready = poll(&entry, 1, PollMillis(slice));
    if (ready == 0) limit -= slice;
  }
  close(fd);
  return ready > 0;
}

absl::Status RunHook(const CheckpointHook& hook, const std::string& verb,
                     const std::string& key, const std::string& path,
                     absl::FunctionRef<bool()> hurries) {
  // Through Orphans, or it would be killed as an orphan.
  const pid_t child = Orphans::Ours().Fork([&] {
    return StartProcess(
        {.words = {hook.program, verb, key, path}, .leads_group = true});
  });
  if (child < 0) {
    const bool is_full = errno == EAGAIN || errno == ENOMEM;
    return Failed(hook, verb, is_full ? std::strerror(errno) : kIsNotThere);
  }
  const bool in_time = EndsWithin(child, hook.limit, hurries);
  if (!in_time) kill(-child, SIGKILL);
  int status = 0;
  Orphans::Ours().Collect(child, &status, 0);
  if (!in_time) {
    return Failed(hook, verb,
                  hurries() ? "was ended by a second signal"
                            : "took longer than its limit");
  }
  if (WIFSIGNALED(status)) {
    return Failed(hook, verb,
                  absl::StrCat("was ended by signal ", WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (WEXITSTATUS(status) == kNotRun) return Failed(hook, verb, kIsNotThere);
  return Failed(hook, verb,
                absl::StrCat("ended with code ", WEXITSTATUS(status)));
}

}  // namespace

absl::Status CheckpointHook::Save(const std::string& key,
                                  const std::string& path,
                                  absl::FunctionRef<bool()> hurries) const {
  return RunHook(*this, "save", key, path, hurries);
}

absl::Status CheckpointHook::Fetch(const std::string& key,
                                   const std::string& path,
                                   absl::FunctionRef<bool()> hurries) const {
  const std::string part = path + ".part";
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  fs::remove_all(part, error);
  absl::Status fetched = RunHook(*this, "fetch", key, part, hurries);
  if (fetched.ok()) {
    fs::rename(part, path, error);
    if (!error) return fetched;
    fetched = Failed(*this, "fetch", "left nothing: " + error.message());
  }
  fs::remove_all(part, error);
  return fetched;
}

}  // namespace frostline::agent
