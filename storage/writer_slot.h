// SPDX-License-Identifier: Apache-2.0
//
// File: writer_slot.h
//
// It is no mutex, since a transaction may give its slot back on another thread.
#ifndef FROSTLINE_STORAGE_WRITER_SLOT_H_
#define FROSTLINE_STORAGE_WRITER_SLOT_H_

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace frostline::storage {

class WriterSlot {
 public:
  // Blocks while another holds it.
  void Take() {
    const MutexLock lock(&mutex_);
    while (taken_) given_back_.Wait(&mutex_);
    taken_ = true;
  }

  void Give() {
    {
      const MutexLock lock(&mutex_);
      taken_ = false;
    }
    given_back_.Signal();
  }

 private:
  Mutex mutex_;
  CondVar given_back_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_WRITER_SLOT_H_
