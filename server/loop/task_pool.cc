// SPDX-License-Identifier: Apache-2.0
#include "server/loop/task_pool.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace frostline::server {
namespace {

// Sets the niceness of this thread alone, as Linux allows. If that fails, the
// thread goes on with its old one.
void BeNice(int niceness) {
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  (void)setpriority(PRIO_PROCESS, thread,
                    getpriority(PRIO_PROCESS, thread) + niceness);
}

}  // namespace

void TaskPool::Start(int threads, int niceness) {
  const MutexLock lock(&mutex_);
  niceness_ = niceness;
  for (int i = 0; i < threads; ++i) AddThread();
}

void TaskPool::AddThreadIfStuck(std::size_t most) {
  const MutexLock lock(&mutex_);
  const bool stuck = !tasks_.empty() && begun_ == begun_before_;
  begun_before_ = begun_;
  // There are no threads before Start(), and no new ones after Stop().
  if (!stuck || stopping_ || threads_.empty() || threads_.size() >= most) {
    return;
  }
  AddThread();
}

void TaskPool::AddThread() {
  try {
    threads_.emplace_back([this, niceness = niceness_] {
      if (niceness != 0) BeNice(niceness);
      Run();
    });
  } catch (const std::system_error&) {
    // The system gives no more threads: those that exist go on.
    if (threads_.empty()) throw;
  }
}

void TaskPool::Stop() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  wake_.SignalAll();
  for (std::thread& thread : threads) thread.join();
}

void TaskPool::Post(absl::AnyInvocable<void()> task) {
  {
    const MutexLock lock(&mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.Signal();
}

bool TaskPool::TryPost(absl::AnyInvocable<void()>&& task) {
  {
    const MutexLock lock(&mutex_);
    if (stopping_) return false;
    tasks_.push_back(std::move(task));
  }
  // Signals after unlocking, so that the thread that wakes does not find the
  // lock taken.
  wake_.Signal();
  return true;
}

std::size_t TaskPool::Backlog() const {
  const MutexLock lock(&mutex_);
  return tasks_.size();
}

std::size_t TaskPool::threads() const {
  const MutexLock lock(&mutex_);
  return threads_.size();
}

void TaskPool::Run() {
  while (true) {
    absl::AnyInvocable<void()> task;
    {
      const MutexLock lock(&mutex_);
      while (tasks_.empty() && !stopping_) wake_.Wait(&mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      ++begun_;
    }
    task();
  }
}

void Strand::Post(absl::AnyInvocable<void()> task) {
  {
    const MutexLock lock(&mutex_);
    tasks_.push_back(std::move(task));
    if (std::exchange(scheduled_, true)) return;
  }
  pool_.Post([self = shared_from_this()] { self->RunOne(); });
}

void Strand::RunOne() {
  absl::AnyInvocable<void()> task;
  {
    const MutexLock lock(&mutex_);
    task = std::move(tasks_.front());
    tasks_.pop_front();
  }
  task();
  {
    const MutexLock lock(&mutex_);
    scheduled_ = !tasks_.empty();
    if (!scheduled_) return;
  }
  pool_.Post([self = shared_from_this()] { self->RunOne(); });
}

}  // namespace frostline::server
