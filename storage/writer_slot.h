// SPDX-License-Identifier: Apache-2.0
//
// File: writer_slot.h
//
// The one place of the one writer. A transaction takes it when it begins and
// gives it back when it is over, perhaps on another thread: therefore not a
// mutex.
#ifndef FROSTLINE_STORAGE_WRITER_SLOT_H_
#define FROSTLINE_STORAGE_WRITER_SLOT_H_

#include <condition_variable>
#include <mutex>

namespace frostline {

class WriterSlot {
 public:
  // Blocks while another holds it.
  void Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    given_back_.wait(lock, [this] { return !taken_; });
    taken_ = true;
  }

  void Give() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      taken_ = false;
    }
    given_back_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  bool taken_ = false;  // guarded by mutex_
};

}  // namespace frostline

#endif  // FROSTLINE_STORAGE_WRITER_SLOT_H_
