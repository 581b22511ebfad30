// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/trainer_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/process.h"
#include "worker/agent/process/guardian.h"
#include "worker/agent/process/protocol.h"

namespace frostline::agent {
namespace {

absl::Status StartError(const char* call, int error) {
  return MakeError(ErrorId::kTrainerStart,
                   absl::StrCat(call, ": ", std::strerror(error)),
                   "raise the limits on processes and open files (ulimit -u, "
                   "ulimit -n)");
}

// Reads the guardian's first word. Returns false if it died before.
bool ReadWord(int fd, GuardianWord* word) {
  ssize_t size = 0;
  do {
    size = read(fd, word, sizeof(*word));
  } while (size < 0 && errno == EINTR);
  return size == sizeof(*word);
}

void MakeNonBlocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

// As fork(), but the child has every signal blocked from its first moment.
pid_t ForkBlocked() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  const int error = errno;
  if (pid != 0) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

// Returns our variables, then those of the agent's that ours do not replace.
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

}  // namespace

absl::StatusOr<Spawned> SpawnShell(
    const std::string& script, const std::vector<std::string>& environment) {
  // A write to a child that is gone then fails with EPIPE; it would kill us.
  signal(SIGPIPE, SIG_IGN);
  Pipe in, out, err, orders, words;
  for (const Pipe* const pipe : {&in, &out, &err, &orders, &words}) {
    if (!pipe->ok()) return StartError("pipe", errno);
  }
  std::vector<std::string> argument_texts = {"sh", "-c", script};
  std::vector<std::string> variable_texts = MergedEnvironment(environment);
  const std::vector<char*> arguments = PointersTo(argument_texts);
  const std::vector<char*> variables = PointersTo(variable_texts);
  const GuardedTrainer trainer{in.read.number(), out.write.number(),
                               err.write.number(), arguments.data(),
                               variables.data()};
  MakeNonBlocking(orders.read.number());
  const pid_t guardian = Orphans::Ours().Fork([&] {
    const pid_t forked = ForkBlocked();
    if (forked == 0) Guard(trainer, orders.read.number(), words.write.number());
    return forked;
  });
  if (guardian < 0) return StartError("fork", errno);
  words.write.Close();
  GuardianWord word{};
  const bool spoke = ReadWord(words.read.number(), &word);
  if (!spoke || word.kind != GuardianWord::Kind::kStarted) {
    Orphans::Ours().Collect(guardian, nullptr, 0);
    return StartError("fork", spoke ? word.value : ECHILD);
  }
  Spawned child{guardian,
                word.value,
                in.write.Release(),
                out.read.Release(),
                err.read.Release(),
                orders.write.Release(),
                words.read.Release()};
  for (const int fd :
       {child.in, child.out, child.err, child.orders, child.words}) {
    MakeNonBlocking(fd);
  }
  return child;
}

namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10;
// How much is read in one turn, since a trainer may never stop writing.
constexpr std::size_t kMostUnread = 4 * kMaxLineBytes;

// Appends what is there. Returns false if nothing will come any more.
bool ReadInto(int fd, std::string* text) {
  std::array<char, kChunk> chunk{};
  while (text->size() < kMostUnread) {
    const ssize_t n = read(fd, chunk.data(), chunk.size());
    if (n > 0) {
      text->append(chunk.data(), static_cast<std::size_t>(n));
    } else if (n == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

}  // namespace

void CloseFd(int* fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

TrainerPipes::~TrainerPipes() {
  for (int* const fd : {&in_, &out_, &err_}) CloseFd(fd);
}

void TrainerPipes::Send(const std::string& line) {
  unsent_ += line;
  Flush();
}

void TrainerPipes::CloseInput() {
  input_ends_ = true;
  Flush();
}

void TrainerPipes::Flush() {
  while (in_ >= 0 && !unsent_.empty()) {
    const ssize_t n = write(in_, unsent_.data(), unsent_.size());
    if (n > 0) {
      unsent_.erase(0, static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      // A trainer that does not read any more is judged by what it writes.
      if (errno != EAGAIN) CloseFd(&in_);
      return;
    }
  }
  if (input_ends_) CloseFd(&in_);
}

void TrainerPipes::ReadOutput(bool gone, Output* output) {
  if (out_ >= 0 && !ReadInto(out_, &unread_)) CloseFd(&out_);
  output->ended = gone && unread_.size() < kMostUnread;
  CutLines(output);
  // A last line may lack its newline.
  const bool rest = output->ended && !output->overlong && !unread_.empty();
  if (rest) output->lines.push_back(std::exchange(unread_, ""));
}

void TrainerPipes::CutLines(Output* output) {
  std::size_t begin = 0;
  for (std::size_t end = unread_.find('\n'); end != std::string::npos;
       end = unread_.find('\n', begin)) {
    output->overlong = output->overlong || end - begin > kMaxLineBytes;
    if (output->overlong) return;
    output->lines.push_back(unread_.substr(begin, end - begin));
    begin = end + 1;
  }
  unread_.erase(0, begin);
  output->overlong = unread_.size() > kMaxLineBytes;
}

void TrainerPipes::ReadError() {
  if (err_ < 0) return;
  std::string text;
  if (!ReadInto(err_, &text)) CloseFd(&err_);
  if (!text.empty()) log_.Append(text);
}

namespace {

// A trainer may end while a child of its own keeps its pipes open. So we look
// for its end at least this often.
constexpr Duration kLookInterval = std::chrono::milliseconds(100);
// Between closing its output and its end a trainer may still tidy up.
constexpr Duration kMuteGrace = std::chrono::seconds(5);
constexpr Duration kReapInterval = std::chrono::milliseconds(2);
constexpr Duration kTrainerEndPatience = std::chrono::seconds(5);
constexpr Duration kLastPatience = std::chrono::seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<TrainerProcess>> TrainerProcess::Start(
    const TrainerCommand& command, LogTail& log) {
  ASSIGN_OR_RETURN(const Spawned child,
                   SpawnShell("exec " + command.command, command.environment));
  return std::unique_ptr<TrainerProcess>(new TrainerProcess(child, log));
}

TrainerProcess::TrainerProcess(const Spawned& child, LogTail& log)
    : guardian_(child.guardian),
      trainer_(child.trainer),
      pid_(child.trainer),
      pipes_(child.in, child.out, child.err, log),
      orders_(child.orders),
      words_(child.words) {}

TrainerProcess::~TrainerProcess() {
  Kill();
  for (int* const fd : {&orders_, &words_}) CloseFd(fd);
}

TrainerProcess::Output TrainerProcess::Wait(Wakeup& wakeup, Duration time) {
  Output output;
  // A negative fd is passed over by poll(2).
  std::array<pollfd, 5> entries = {{{pipes_.out(), POLLIN, 0},
                                    {pipes_.err(), POLLIN, 0},
                                    {words_, POLLIN, 0},
                                    {pipes_.in_to_write(), POLLOUT, 0},
                                    {wakeup.fd(), POLLIN, 0}}};
  poll(entries.data(), entries.size(),
       PollMillis(std::min(time, kLookInterval)));
  if (entries[4].revents != 0) wakeup.Hush();
  // It looks for the end before it reads: all that the trainer wrote before its
  // end is then in the pipe.
  KillIfMute();
  const bool gone = Reap();
  pipes_.Flush();
  pipes_.ReadError();
  pipes_.ReadOutput(gone, &output);
  return output;
}

// Kills a trainer that has closed its output, since it can never finish its
// trial.
void TrainerProcess::KillIfMute() {
  if (pipes_.out() >= 0) return;
  const SteadyTime now = SystemClock().Steady();
  if (mute_since_ == SteadyTime{}) mute_since_ = now;
  if (now - mute_since_ > kMuteGrace) Order(GuardianOrder::kKill);
}

void TrainerProcess::ExpectEnd() {
  if (end_due_ == SteadyTime{}) {
    end_due_ = SystemClock().Steady() + kTrainerEndPatience;
  }
}

void TrainerProcess::Order(GuardianOrder order) {
  if (order == GuardianOrder::kKill) ExpectEnd();
  // A guardian that is gone has left nothing to kill.
  [[maybe_unused]] const ssize_t sent = write(orders_, &order, sizeof(order));
}

void TrainerProcess::HearGuardian() {
  GuardianWord word{};
  ssize_t size = 0;
  while (words_ >= 0 && (size = read(words_, &word, sizeof(word))) != 0) {
    if (size != sizeof(word)) return;
    if (word.kind == GuardianWord::Kind::kEnded) {
      own_status_ = word.value;
      ExpectEnd();
    } else if (word.kind == GuardianWord::Kind::kLives) {
      pid_ = word.value;
    }
  }
  CloseFd(&words_);
}

// Both process ids are still right: nobody has collected the guardian, and the
// guardian has not said that it collected the trainer.
void TrainerProcess::KillPastGuardian() {
  killed_past_guardian_ = true;
  end_due_ = SystemClock().Steady() + kLastPatience;
  if (!own_status_.has_value()) kill(-trainer_, SIGKILL);
  kill(guardian_, SIGCONT);
}

bool TrainerProcess::Reap() {
  if (ended_ || unkillable_) return ended_;
  HearGuardian();
  const bool gone = CollectGuardian() && !LeavesOrphans();
  if (!gone) {
    const bool late =
        end_due_ != SteadyTime{} && SystemClock().Steady() >= end_due_;
    if (late && !killed_past_guardian_ && !guardian_status_.has_value()) {
      KillPastGuardian();
    } else {
      unkillable_ = late;
    }
    return false;
  }
  HearGuardian();
  wait_status_ = own_status_.value_or(*guardian_status_);
  ended_ = true;
  return true;
}

bool TrainerProcess::CollectGuardian() {
  if (guardian_status_.has_value()) return true;
  // If its pipe of words is closed, it is about to end, so we can wait.
  int status = 0;
  const pid_t waited =
      Orphans::Ours().Collect(guardian_, &status, words_ < 0 ? 0 : WNOHANG);
  // If this process ignores SIGCHLD there is no child to wait for.
  const bool gone = waited > 0 || (waited < 0 && errno == ECHILD);
  if (!gone) return false;
  guardian_status_ = status;
  return true;
}

// If somebody killed the guardian, only the trainer itself has died with it.
bool TrainerProcess::LeavesOrphans() {
  if (WIFEXITED(*guardian_status_)) return false;
  const pid_t orphan = Orphans::Ours().Kill();
  if (orphan == 0) return false;
  ExpectEnd();
  if (SystemClock().Steady() >= end_due_) pid_ = orphan;
  return true;
}

bool TrainerProcess::EndedAtLast() {
  unkillable_ = false;
  if (Reap()) return true;
  unkillable_ = true;
  return false;
}

void TrainerProcess::Terminate(Duration grace) {
  if (Reap() || unkillable_) return;
  killed_by_us_ = true;
  const SystemClock clock;
  const SteadyTime deadline = clock.Steady() + grace;
  if (grace > Duration::zero()) Order(GuardianOrder::kTerminate);
  bool killed = false;
  while (!Reap() && !unkillable_) {
    if (!killed && clock.Steady() >= deadline) {
      Order(GuardianOrder::kKill);
      killed = true;
    }
    pipes_.ReadError();
    std::this_thread::sleep_for(kReapInterval);
  }
}

std::string DescribeWaitStatus(int wait_status) {
  if (WIFEXITED(wait_status)) {
    return absl::StrCat("exited with code ", WEXITSTATUS(wait_status));
  }
  const int number = WTERMSIG(wait_status);
  return absl::StrCat("was killed by signal ", number, " (", strsignal(number),
                      ")");
}

}  // namespace frostline::agent
