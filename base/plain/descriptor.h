// SPDX-License-Identifier: Apache-2.0
//
// File: descriptor.h
//
// A file descriptor, and system calls for those who write files. After a
// failure they return false, and errno says why; the caller says what it was
// doing.
#ifndef FROSTLINE_BASE_PLAIN_DESCRIPTOR_H_
#define FROSTLINE_BASE_PLAIN_DESCRIPTOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace frostline {

// A file descriptor that is closed with the object. A negative number is none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool ok() const { return number_ >= 0; }
  // Leaves errno as it was.
  void Close();
  // The caller closes it from then on.
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Writes all of `bytes`, however often the system takes only a part.
bool WriteAll(int descriptor, std::string_view bytes);

// How a lock between processes is held: by any number at once, or by one.
enum class LockKind : std::uint8_t { kShared, kAlone };

// Takes the lock of an open file or folder, by flock(2); it ends with the last
// descriptor of that opening, however its process ends. With kTry a lock that
// others hold is no wait but a failure, and errno is EWOULDBLOCK.
enum class LockWait : std::uint8_t { kTry, kAwait };
bool TakeLock(int descriptor, LockKind kind, LockWait wait);

// Syncs the names in `folder`, so that files that were made or removed there
// stay so after a power cut.
bool SyncNames(const std::string& folder);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_DESCRIPTOR_H_
