// SPDX-License-Identifier: Apache-2.0
#include "server/loop/task_pool.h"

#include <system_error>
#include <utility>

namespace frostline::server {

void TaskPool::Start(int least, int most) {
  const MutexLock lock(&mutex_);
  most_ = static_cast<std::size_t>(most);
  for (int i = 0; i < least; ++i) AddThread();
}

void TaskPool::AddThreadIfStuck(std::size_t most) {
  const MutexLock lock(&mutex_);
  const bool stuck = !tasks_.empty() && begun_ == begun_before_;
  begun_before_ = begun_;
  // Before Start() there are none, and after Stop() there come no more.
  if (!stuck || stopping_ || threads_.empty() || threads_.size() >= most) {
    return;
  }
  AddThread();
}

void TaskPool::AddThread() {
  try {
    threads_.emplace_back([this] { Run(); });
    ++idle_;
  } catch (const std::system_error&) {
    // The system gives no more threads: those that are there go on.
    if (threads_.empty()) throw;
    most_ = threads_.size();
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
  const MutexLock lock(&mutex_);
  Enter(std::move(task));
}

bool TaskPool::TryPost(absl::AnyInvocable<void()>&& task) {
  const MutexLock lock(&mutex_);
  if (stopping_) return false;
  Enter(std::move(task));
  return true;
}

void TaskPool::Enter(absl::AnyInvocable<void()> task) {
  tasks_.push_back(std::move(task));
  // Before Start() there are none, and after Stop() there come no more.
  if (tasks_.size() > idle_ && threads_.size() < most_ && !threads_.empty() &&
      !stopping_) {
    AddThread();
  }
  wake_.Signal();
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
      --idle_;
    }
    task();
    task = nullptr;  // what it holds ends before the thread is idle
    const MutexLock lock(&mutex_);
    ++idle_;
  }
}

}  // namespace frostline::server
