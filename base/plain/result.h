// SPDX-License-Identifier: Apache-2.0
//
// File: result.h
//
// A value, or the fault that says why there is none. It replaces
// absl::StatusOr, since a GPU node has no Abseil (docs/adr/0014-formats.md). A
// fault's kind is for programs, its cause and fix are for people.
//
//   ASSIGN_OR_FAULT(const std::string bytes, ReadWholeFile(path, kLimit));
//   RETURN_IF_FAULT(stop.Check());
#ifndef FROSTLINE_BASE_PLAIN_RESULT_H_
#define FROSTLINE_BASE_PLAIN_RESULT_H_

#include <functional>
#include <string>
#include <utility>
#include <variant>

namespace frostline {

// The kinds of faults, for programs.
enum class FaultKind {
  kUnreadable,    // a file is absent or cannot be read
  kSyntax,        // not JSON, not UTF-8, not base64
  kTooLarge,      // over a limit of its reader
  kUnsupported,   // what we do not imitate exactly
  kInconsistent,  // gaps, duplicates, names that do not exist
  kMisuse,        // the caller asks for something impossible
  kOutOfMemory,   // on the processor or the GPU
  kInternal,      // a mistake of ours, or of a library or a device
  kStopped,       // it was asked to end
};

// What went wrong, and what to do about it.
struct Fault {
  FaultKind kind;
  std::string cause;
  std::string fix;
  int system_error = 0;  // errno, if the system refused
};

// A value or a fault. Asking for the wrong one of the two is a bug of the
// caller.
template <typename T>
class [[nodiscard]] Expected {
 public:
  // It is implicit, so that a function can return either.
  // NOLINTNEXTLINE(google-explicit-constructor): see above
  Expected(T value) : held_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): see above
  Expected(Fault fault) : held_(std::move(fault)) {}

  bool ok() const { return std::holds_alternative<T>(held_); }
  const Fault& fault() const { return *std::get_if<Fault>(&held_); }
  T& value() & { return *std::get_if<T>(&held_); }
  const T& value() const& { return *std::get_if<T>(&held_); }
  T&& value() && { return std::move(*std::get_if<T>(&held_)); }

 private:
  std::variant<T, Fault> held_;
};

// Returns the fault of an Expected, if it has one.
#define RETURN_IF_FAULT(...)                                             \
  if (auto frostline_expected = (__VA_ARGS__); !frostline_expected.ok()) \
  return frostline_expected.fault()

// Puts the value of an Expected into `target`, which may be declared here, or
// returns its fault.
#define ASSIGN_OR_FAULT(target, ...)                                         \
  FROSTLINE_ASSIGN_OR_FAULT_(FROSTLINE_JOIN_(frostline_expected_, __LINE__), \
                             target, __VA_ARGS__)
#define FROSTLINE_ASSIGN_OR_FAULT_(holder, target, ...) \
  auto holder = (__VA_ARGS__);                          \
  if (!holder.ok()) return holder.fault();              \
  target = std::move(holder).value()
#define FROSTLINE_JOIN_(a, b) FROSTLINE_JOIN_INNER_(a, b)
#define FROSTLINE_JOIN_INNER_(a, b) a##b

// The result of work that returns nothing.
struct Done {};

// Tells long work whether it is still wanted. The work asks between slices: a
// row, a tensor, a mebibyte of a sum. Another thread may stop it meanwhile.
//
//   for (const Row& row : rows) {
//     if (Expected<Done> wanted = stop.Check(); !wanted.ok()) return ...
class StopSign {
 public:
  // Makes one that never stops the work.
  StopSign() = default;
  // `raised` is called in the working thread for each slice, so it has to be
  // cheap.
  explicit StopSign(std::function<bool()> raised)
      : raised_(std::move(raised)) {}

  // Returns kStopped once it is raised. Work that is half done is then thrown
  // away.
  Expected<Done> Check() const {
    if (!raised_ || !raised_()) return Done{};
    return Fault{FaultKind::kStopped, "a stop came before the work was done",
                 "start it again"};
  }

 private:
  std::function<bool()> raised_;
};

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_RESULT_H_
