// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trainer_process.h"

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
#include "base/status_macros.h"
#include "worker/agent/protocol.h"
#include "worker/agent/spawn.h"

namespace frostline::agent {
namespace {

// A trainer may end without its pipes being closed: a child of its own has
// them. So its end is looked for at least this often.
constexpr Duration kLookInterval = std::chrono::milliseconds(100);
// Between closing its output and its end a trainer may still tidy up.
constexpr Duration kMuteGrace = std::chrono::seconds(5);
constexpr Duration kReapInterval = std::chrono::milliseconds(2);
constexpr Duration kEndPatience = std::chrono::seconds(5);
constexpr Duration kLastPatience = std::chrono::seconds(1);
constexpr std::size_t kChunk = std::size_t{64} << 10;
// In one turn, so that a trainer that never stops writing is not all we hear.
constexpr std::size_t kMostUnread = 4 * kMaxLineBytes;

void CloseFd(int* fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

// Appends what is there. False when nothing will come any more.
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
      in_(child.in),
      out_(child.out),
      err_(child.err),
      orders_(child.orders),
      words_(child.words),
      log_(log) {}

TrainerProcess::~TrainerProcess() {
  Kill();
  for (int* const fd : {&in_, &out_, &err_, &orders_, &words_}) CloseFd(fd);
}

void TrainerProcess::Send(const std::string& line) {
  unsent_ += line;
  Flush();
}

void TrainerProcess::CloseInput() {
  input_ends_ = true;
  Flush();
}

void TrainerProcess::Flush() {
  while (in_ >= 0 && !unsent_.empty()) {
    const ssize_t n = write(in_, unsent_.data(), unsent_.size());
    if (n > 0) {
      unsent_.erase(0, static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      // A trainer that reads no more will be judged by what it writes.
      if (errno != EAGAIN) CloseFd(&in_);
      return;
    }
  }
  if (input_ends_) CloseFd(&in_);
}

TrainerProcess::Output TrainerProcess::Wait(Wakeup& wakeup, Duration time) {
  Output output;
  // A negative fd is passed over by poll(2).
  const bool wants_in = in_ >= 0 && !unsent_.empty();
  std::array<pollfd, 5> entries = {{{out_, POLLIN, 0},
                                    {err_, POLLIN, 0},
                                    {words_, POLLIN, 0},
                                    {wants_in ? in_ : -1, POLLOUT, 0},
                                    {wakeup.fd(), POLLIN, 0}}};
  poll(entries.data(), entries.size(),
       PollMillis(std::min(time, kLookInterval)));
  if (entries[4].revents != 0) wakeup.Hush();
  // Looked at before reading: what it wrote before its end is then in the pipe.
  KillIfMute();
  const bool gone = Reap();
  Flush();
  ReadError();
  ReadOutput(gone, &output);
  return output;
}

void TrainerProcess::ReadOutput(bool gone, Output* output) {
  if (out_ >= 0 && !ReadInto(out_, &unread_)) CloseFd(&out_);
  output->ended = gone && unread_.size() < kMostUnread;
  CutLines(output);
  // A last line may lack its newline.
  const bool rest = output->ended && !output->overlong && !unread_.empty();
  if (rest) output->lines.push_back(std::exchange(unread_, ""));
}

// Its output is closed, so its trial can never be finished by it.
void TrainerProcess::KillIfMute() {
  if (out_ >= 0) return;
  const SteadyTime now = SystemClock().Steady();
  if (mute_since_ == SteadyTime{}) mute_since_ = now;
  if (now - mute_since_ > kMuteGrace) Order(GuardianOrder::kKill);
}

void TrainerProcess::CutLines(Output* output) {
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

void TrainerProcess::ReadError() {
  if (err_ < 0) return;
  std::string text;
  if (!ReadInto(err_, &text)) CloseFd(&err_);
  if (!text.empty()) log_.Append(text);
}

void TrainerProcess::ExpectEnd() {
  if (end_due_ == SteadyTime{}) {
    end_due_ = SystemClock().Steady() + kEndPatience;
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

// Both numbers are theirs: nobody has collected the guardian's status, nor the
// guardian, as far as it told, the trainer's.
void TrainerProcess::KillPastGuardian() {
  killed_past_guardian_ = true;
  end_due_ = SystemClock().Steady() + kLastPatience;
  if (!own_status_.has_value()) kill(-trainer_, SIGKILL);
  kill(guardian_, SIGCONT);
}

bool TrainerProcess::Reap() {
  if (ended_ || unkillable_) return ended_;
  HearGuardian();
  // Without an end to speak through it is on its way out.
  int status = 0;
  const pid_t waited = waitpid(guardian_, &status, words_ < 0 ? 0 : WNOHANG);
  // Where ends of children are ignored there is nobody to wait for.
  const bool gone = waited > 0 || (waited < 0 && errno == ECHILD);
  if (!gone) {
    const bool late =
        end_due_ != SteadyTime{} && SystemClock().Steady() >= end_due_;
    if (late && !killed_past_guardian_) {
      KillPastGuardian();
    } else {
      unkillable_ = late;
    }
    return false;
  }
  HearGuardian();
  // Somebody killed the guardian: the trainer alone is gone then.
  if (!own_status_.has_value()) kill(-trainer_, SIGKILL);
  wait_status_ = own_status_.value_or(status);
  ended_ = true;
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
    ReadError();
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
