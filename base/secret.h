// SPDX-License-Identifier: Apache-2.0
//
// File: secret.h
//
// Only Reveal() gives the text, so that nothing prints it by accident.
#ifndef FROSTLINE_BASE_SECRET_H_
#define FROSTLINE_BASE_SECRET_H_

#include <string>
#include <utility>

namespace frostline {

class SecretString {
 public:
  SecretString() = default;
  explicit SecretString(std::string value) : value_(std::move(value)) {}

  const std::string& Reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

  // Takes the same time wherever the two differ.
  friend bool operator==(const SecretString& a, const SecretString& b) {
    if (a.value_.size() != b.value_.size()) return false;
    unsigned char difference = 0;
    for (std::size_t i = 0; i < a.value_.size(); ++i) {
      difference = static_cast<unsigned char>(
          difference | (static_cast<unsigned char>(a.value_[i]) ^
                        static_cast<unsigned char>(b.value_[i])));
    }
    return difference == 0;
  }

 private:
  std::string value_;
};

// Keys and tokens are in memory, and a core dump would put them on a disk, or
// send them to wherever a node's dumps are collected.
//
// Keeps this process from dumping core, whatever `ulimit -c` and core_pattern
// say; debuggers of its own user are kept out too, and root's are not. A
// program that it starts dumps as it always did: a trainer has no keys. Call it
// first, while there are none.
//
// Who hunts a crash sets FROSTLINE_CORE_DUMPS=1, and gets both back.
void ForbidCoreDumps();

}  // namespace frostline

#endif  // FROSTLINE_BASE_SECRET_H_
