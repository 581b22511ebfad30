// SPDX-License-Identifier: Apache-2.0
//
// File: mutex.h
//
// A mutex that clang checks (-Wthread-safety, in `./dev check`). A field says
// ABSL_GUARDED_BY(mutex_), a function that needs the lock
// ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_).
//
//   const MutexLock lock(&mutex_);
//   int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
//
// It is not absl::Mutex, because ThreadSanitizer does not see the locks of the
// distribution's Abseil and would report races that do not exist.
#ifndef FROSTLINE_BASE_MUTEX_H_
#define FROSTLINE_BASE_MUTEX_H_

#include <pthread.h>

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace frostline {

// A mutex. Take it with MutexLock.
class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  // Tells only the compiler that the lock is held, in a function object called
  // under it.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// A scope in which this thread holds a mutex.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// A condition variable. Wait in a loop that checks the condition:
//   while (taken_) given_back_.Wait(&mutex_);
class CondVar {
 public:
  // Not by its own wait(), which g++ 12 binds to a libstdc++ that RHEL 9 lacks
  // (python/build_server_wheel.py).
  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    pthread_cond_wait(changed_.native_handle(), mutex->mutex_.native_handle());
  }
  // Returns false once `deadline` has passed.
  template <typename TimePoint>
  bool WaitUntil(Mutex* mutex, const TimePoint& deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    const std::cv_status status = changed_.wait_until(lock, deadline);
    lock.release();
    return status == std::cv_status::no_timeout;
  }
  void Signal() { changed_.notify_one(); }
  void SignalAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace frostline

#endif  // FROSTLINE_BASE_MUTEX_H_
