// SPDX-License-Identifier: Apache-2.0
//
// File: secret.h
//
// A string that only Reveal() shows, so that nothing prints it by accident.
#ifndef FROSTLINE_BASE_SECRET_H_
#define FROSTLINE_BASE_SECRET_H_

#include <string>
#include <utility>

namespace frostline {

// A key, token or password.
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

// Keeps this process from dumping core, whatever `ulimit -c` and core_pattern
// say. Keys and tokens are in memory, and a dump would put them on a disk or
// send them to wherever a node's dumps are collected. It also keeps out
// debuggers of the same user, but not root's. Programs that this process starts
// can dump as before: a trainer has no keys. Call it first, before there are
// keys.
//
// To hunt a crash, set FROSTLINE_CORE_DUMPS=1, which allows both again.
void ForbidCoreDumps();

}  // namespace frostline

#endif  // FROSTLINE_BASE_SECRET_H_
