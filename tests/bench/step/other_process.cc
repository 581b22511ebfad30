// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step/other_process.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace frostline::bench {
namespace {

// An answer fits one message of the socket.
constexpr std::size_t kMostNumbers = 4096;

}  // namespace

OtherProcess::OtherProcess(const std::function<Answer()>& begin) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) {
    std::perror("socketpair");
    std::exit(1);
  }
  child_ = fork();
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    Serve(ends[1], begin());
  }
  close(ends[1]);
  socket_ = ends[0];
}

OtherProcess::~OtherProcess() {
  close(socket_);
  waitpid(child_, nullptr, 0);
}

void OtherProcess::Serve(int socket, const Answer& answer) {
  Question question;
  while (recv(socket, &question, sizeof(question), 0) == sizeof(question)) {
    const std::vector<double> numbers = answer(question);
    if (send(socket, numbers.data(), numbers.size() * sizeof(double), 0) < 0) {
      break;
    }
  }
  _exit(0);
}

std::vector<double> OtherProcess::Ask(const Question& question) {
  std::vector<double> numbers(kMostNumbers);
  send(socket_, &question, sizeof(question), MSG_NOSIGNAL);
  const ssize_t bytes =
      recv(socket_, numbers.data(), numbers.size() * sizeof(double), 0);
  if (bytes <= 0) {
    std::fputs("bench: the other process has died\n", stderr);
    std::exit(1);
  }
  numbers.resize(static_cast<std::size_t>(bytes) / sizeof(double));
  return numbers;
}

}  // namespace frostline::bench
