// SPDX-License-Identifier: Apache-2.0
#include "server/loop/strand.h"

#include <utility>

namespace frostline::server {

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
