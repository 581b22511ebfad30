// SPDX-License-Identifier: Apache-2.0
#include "server/loop/task_pool.h"

#include <utility>

namespace frostline::server {

void TaskPool::Start(int threads) {
  const MutexLock lock(&mutex_);
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

void TaskPool::AddThreadIfStuck(std::size_t most) {
  const MutexLock lock(&mutex_);
  const bool stuck = !tasks_.empty() && begun_ == begun_before_;
  begun_before_ = begun_;
  // Before Start() there are none, and after Stop() there come no more.
  if (!stuck || stopping_ || threads_.empty() || threads_.size() >= most) {
    return;
  }
  threads_.emplace_back([this] { Run(); });
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
  wake_.Signal();
  return true;
}

std::size_t TaskPool::Backlog() const {
  const MutexLock lock(&mutex_);
  return tasks_.size();
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

}  // namespace frostline::server
