// SPDX-License-Identifier: Apache-2.0
#include "server/loop/task_pool.h"

#include <utility>

namespace frostline::server {

void TaskPool::Start(int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

void TaskPool::Stop() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
  }
  wake_.SignalAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
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
    }
    task();
  }
}

}  // namespace frostline::server
