// SPDX-License-Identifier: Apache-2.0
//
// File: shared_library.h
//
// A C library that may or may not be on this machine, loaded while running.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_SHARED_LIBRARY_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_SHARED_LIBRARY_H_

#include <dlfcn.h>

namespace frostline::trainer {

// Stays loaded until the process ends: what CUDA starts has no way back.
class SharedLibrary {
 public:
  explicit SharedLibrary(const char* name)
      : handle_(dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {}

  bool loaded() const { return handle_ != nullptr; }

  // False when there is no `name`.
  template <typename Function>
  bool Find(const char* name, Function*& function) const {
    if (handle_ == nullptr) return false;
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_SHARED_LIBRARY_H_
