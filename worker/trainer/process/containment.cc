// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/process/containment.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>

namespace frostline::trainer {
namespace {

namespace fs = std::filesystem;

// Landlock as of version 6 of its interface (linux/landlock.h); the headers of
// a system may be older than its kernel.

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t net = 0;
  std::uint64_t scopes = 0;
};

struct __attribute__((packed)) Beneath {
  std::uint64_t allowed = 0;
  std::int32_t folder = -1;
};

constexpr int kVersionWanted = 1;  // a flag: says the version, makes nothing
constexpr int kRuleOfPath = 1;
constexpr std::uint64_t kExecute = 1U << 0U;
constexpr std::uint64_t kWrite = 1U << 1U;
constexpr std::uint64_t kRemoveAndMake =
    0x1ff0;                                      // folders and files, all kinds
constexpr std::uint64_t kRefer = 1U << 13U;      // version 2: to another folder
constexpr std::uint64_t kTruncate = 1U << 14U;   // 3
constexpr std::uint64_t kBindAndConnect = 3;     // 4: TCP
constexpr std::uint64_t kSocketsAndSignals = 3;  // 6: those of other processes

std::string Words(int error) { return std::generic_category().message(error); }

Ruleset RulesetOf(long version) {
  Ruleset wanted;
  wanted.files = kExecute | kWrite | kRemoveAndMake;
  if (version >= 2) wanted.files |= kRefer;
  if (version >= 3) wanted.files |= kTruncate;
  if (version >= 4) wanted.net = kBindAndConnect;
  if (version >= 6) wanted.scopes = kSocketsAndSignals;
  return wanted;
}

// A kernel takes no more of the structure than it knows.
std::size_t SizeFor(long version) {
  if (version >= 6) return sizeof(Ruleset);
  return (version >= 4 ? 2 : 1) * sizeof(std::uint64_t);
}

// A folder that is not there needs no rule.
void Allow(int ruleset, const std::string& folder, std::uint64_t allowed) {
  const int at = open(folder.c_str(), O_PATH | O_CLOEXEC);
  if (at < 0) return;
  const Beneath rule = {allowed, at};
  syscall(SYS_landlock_add_rule, ruleset, kRuleOfPath, &rule, 0);
  close(at);
}

// Returns the kernel's error; 0: it is contained.
int ContainFiles(const std::vector<std::string>& writable) {
  const long version =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionWanted);
  if (version < 0) return errno;
  const Ruleset wanted = RulesetOf(version);
  const auto ruleset = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &wanted, SizeFor(version), 0));
  if (ruleset < 0) return errno;
  const std::uint64_t all = wanted.files & ~kExecute;
  for (const std::string& folder : writable) Allow(ruleset, folder, all);
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  if (!error) Allow(ruleset, temporary.string(), all);
  Allow(ruleset, "/dev/shm", all);
  const std::uint64_t write = wanted.files & (kWrite | kTruncate);
  Allow(ruleset, "/dev", write);
  Allow(ruleset, "/proc/self", write);  // names of threads
  const long done = syscall(SYS_landlock_restrict_self, ruleset, 0);
  const int failed = done == 0 ? 0 : errno;
  close(ruleset);
  return failed;
}

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter is made
#endif

// Calls that no training needs, and that code of a stranger would.
constexpr std::array kRefused = {SYS_execve,
                                 SYS_execveat,
                                 SYS_ptrace,
                                 SYS_process_vm_readv,
                                 SYS_process_vm_writev,
                                 SYS_mount,
                                 SYS_umount2,
                                 SYS_pivot_root,
                                 SYS_chroot,
                                 SYS_unshare,
                                 SYS_setns,
                                 SYS_bpf,
                                 SYS_perf_event_open,
                                 SYS_userfaultfd,
                                 SYS_keyctl,
                                 SYS_add_key,
                                 SYS_request_key,
                                 SYS_kexec_load,
                                 SYS_init_module,
                                 SYS_finit_module,
                                 SYS_delete_module};

sock_filter Load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter Answer(std::uint32_t answer) {
  return BPF_STMT(BPF_RET | BPF_K, answer);
}

// The next instruction if it is `value`, else the one behind that.
sock_filter NextIf(std::uint32_t value) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

std::vector<sock_filter> FilterOfCalls() {
  constexpr std::uint32_t kNo = SECCOMP_RET_ERRNO | EPERM;
  constexpr std::uint32_t kNoSuchFamily = SECCOMP_RET_ERRNO | EAFNOSUPPORT;
  std::vector<sock_filter> filter = {
      Load(offsetof(seccomp_data, arch)),
      // Calls of another architecture have other numbers.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0), Answer(kNo),
      Load(offsetof(seccomp_data, nr))};
#if defined(__x86_64__)
  constexpr std::uint32_t kOtherNumbers = 0x40000000;  // x32
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kOtherNumbers, 0, 1));
  filter.push_back(Answer(kNo));
#endif
  for (const long call : kRefused) {
    filter.push_back(NextIf(static_cast<std::uint32_t>(call)));
    filter.push_back(Answer(kNo));
  }
  // Its family is the low half of the first argument, on a little-endian
  // machine the first word.
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 5));
  filter.push_back(Load(offsetof(seccomp_data, args)));
  filter.push_back(NextIf(AF_INET));
  filter.push_back(Answer(kNoSuchFamily));
  filter.push_back(NextIf(AF_INET6));
  filter.push_back(Answer(kNoSuchFamily));
  filter.push_back(Answer(SECCOMP_RET_ALLOW));
  return filter;
}

// The same of all threads there are.
int ContainCalls() {
  if (kArchitecture == 0) return ENOSYS;
  std::vector<sock_filter> filter = FilterOfCalls();
  const sock_fprog program = {static_cast<unsigned short>(filter.size()),
                              filter.data()};
  const long done = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                            SECCOMP_FILTER_FLAG_TSYNC, &program);
  return done == 0 ? 0 : (done < 0 ? errno : EBUSY);
}

}  // namespace

std::string Contain(const std::vector<std::string>& writable) {
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return "not contained: " + Words(errno);
  }
  std::string folders;
  for (const std::string& folder : writable) {
    std::error_code ignored;  // who writes there will say what is wrong
    fs::create_directories(folder, ignored);
    folders += (folders.empty() ? "" : ", ") + folder;
  }
  const int files = ContainFiles(writable);
  const int calls = ContainCalls();
  return (files == 0
              ? "contained: writes beneath " + folders
              : "may write everywhere (Landlock: " + Words(files) + ")") +
         (calls == 0 ? "; starts no programs, reaches no network"
                     : "; may start programs (seccomp: " + Words(calls) + ")");
}

}  // namespace frostline::trainer
