// SPDX-License-Identifier: Apache-2.0
//
// File: operator_log.h
//
// What LibTorch did while this object lived, on this thread: so that tests
// count what a device would have to start, to wait for and to hold.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_OPERATOR_LOG_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_OPERATOR_LOG_H_

#include <ATen/record_function.h>
#include <c10/core/Allocator.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace frostline::trainer {

class OperatorLog {
 public:
  OperatorLog()
      : memory_(std::make_shared<Memory>()),
        guard_(c10::DebugInfoKind::PROFILER_STATE, memory_) {
    current_ = &names_;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& call)
                                       -> std::unique_ptr<at::ObserverContext> {
          if (current_ != nullptr) current_->emplace_back(call.name());
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION}));
  }
  ~OperatorLog() {
    at::removeCallback(handle_);
    current_ = nullptr;
  }
  OperatorLog(const OperatorLog&) = delete;
  OperatorLog& operator=(const OperatorLog&) = delete;

  // All that begins with `name`: "aten::addmm".
  std::int64_t Count(std::string_view name) const {
    return std::ranges::count_if(names_, [&](const std::string& each) {
      return each.starts_with(name);
    });
  }
  // Counts `what` among the calls before the first of `name`.
  std::int64_t CountBefore(std::string_view name, std::string_view what) const {
    const auto end = std::ranges::find(names_, name);
    return std::count(names_.begin(), end, what);
  }
  std::int64_t largest_bytes() const { return memory_->largest; }

 private:
  struct Memory : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void* /*memory*/, std::int64_t size,
                           std::size_t /*allocated*/, std::size_t /*reserved*/,
                           c10::Device /*device*/) override {
      largest = std::max(largest, size);
    }
    bool memoryProfilingEnabled() const override { return true; }

    std::int64_t largest = 0;
  };

  static inline thread_local std::vector<std::string>* current_ = nullptr;

  std::vector<std::string> names_;
  std::shared_ptr<Memory> memory_;
  c10::DebugInfoGuard guard_;
  at::CallbackHandle handle_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_OPERATOR_LOG_H_
