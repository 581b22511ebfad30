// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/evaluate_options.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/mutex.h"

namespace frostline::importance {
namespace {

constexpr double kMostWork = 1e11;  // steps of a nanosecond or so
constexpr char kField[] = "options.subsets";

absl::Status Refuse(const std::string& cause, const std::string& fix,
                    const std::string& field) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, field);
}

absl::Status CheckSubset(const std::vector<int>& subset, std::size_t parameters,
                         const std::string& field) {
  if (subset.empty()) {
    return Refuse("a set of no parameters", "name at least one", field);
  }
  if (subset.size() > kMaxSubset) {
    return Refuse(absl::StrCat("a set of ", subset.size(), " parameters"),
                  absl::StrCat("name at most ", kMaxSubset), field);
  }
  std::vector<bool> is_named(parameters, false);
  for (const int parameter : subset) {
    if (parameter < 0 || static_cast<std::size_t>(parameter) >= parameters) {
      return Refuse(absl::StrCat("there is no parameter ", parameter),
                    absl::StrCat("there are ", parameters, ", from 0"), field);
    }
    if (is_named[static_cast<std::size_t>(parameter)]) {
      return Refuse(absl::StrCat("parameter ", parameter, " is named twice"),
                    "name each parameter once", field);
    }
    is_named[static_cast<std::size_t>(parameter)] = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSubsets(const NamedSubsets& subsets, std::size_t parameters) {
  if (subsets.size() > kMaxSubsets) {
    return Refuse(absl::StrCat(subsets.size(), " sets of parameters"),
                  absl::StrCat("ask for at most ", kMaxSubsets, " at once"),
                  kField);
  }
  for (std::size_t s = 0; s < subsets.size(); ++s) {
    RETURN_IF_ERROR(
        CheckSubset(subsets[s], parameters, absl::StrCat(kField, "[", s, "]")));
  }
  return absl::OkStatus();
}

absl::Status CheckSubsetWork(const NamedSubsets& subsets, double work) {
  double named = 0.0;
  for (const std::vector<int>& subset : subsets) {
    if (subset.size() > 1) named += static_cast<double>(subset.size());
  }
  if (named * work <= kMostWork) return absl::OkStatus();
  return Refuse(
      "so many sets of parameters over so many trials are too much work",
      "ask for fewer or smaller sets, for fewer trees, or for no intervals",
      kField);
}

namespace {

class Work {
 public:
  Work(std::size_t count, const std::function<void(std::size_t)>& body,
       const std::stop_token& stop)
      : count_(count), body_(body), stop_(stop), failed_at_(count) {}

  void TakeUntilDone() {
    for (;;) {
      const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count_ || stop_.stop_requested()) return;
      try {
        body_(i);
      } catch (...) {
        Fail(i);
      }
    }
  }

  // Once all threads have ended.
  void RethrowFirst() const {
    const MutexLock lock(&mutex_);
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void Fail(std::size_t i) {
    const MutexLock lock(&mutex_);
    // Every lower index was taken before, and so is still tried.
    next_.store(count_, std::memory_order_relaxed);
    if (i >= failed_at_) return;
    failed_at_ = i;
    failure_ = std::current_exception();
  }

  const std::size_t count_;
  const std::function<void(std::size_t)>& body_;
  const std::stop_token& stop_;
  std::atomic<std::size_t> next_{0};
  mutable Mutex mutex_;
  std::size_t failed_at_ ABSL_GUARDED_BY(mutex_);
  std::exception_ptr failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

int ThreadsFor(int threads) {
  if (threads > 0) return std::min(threads, kMaxThreads);
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1,
                    kMaxThreads);
}

void ParallelFor(int threads, std::size_t count,
                 const std::function<void(std::size_t)>& body,
                 const std::stop_token& stop) {
  Work work(count, body, stop);
  const std::size_t wanted =
      std::min(static_cast<std::size_t>(ThreadsFor(threads)), count);
  {
    std::vector<std::jthread> others;
    try {
      others.reserve(wanted);
      while (others.size() + 1 < wanted) {
        others.emplace_back([&work] { work.TakeUntilDone(); });
      }
      // NOLINTNEXTLINE(bugprone-empty-catch): what it answers is below.
    } catch (const std::system_error&) {
      // The system has no thread to give: those that run do the work.
    }
    work.TakeUntilDone();
  }
  work.RethrowFirst();
}

namespace {

// Rows times parameters times trees; a core does some two million a second.
constexpr double kMostOfForest = 1.5e9;
constexpr double kMostOfIntervals = 2.5e8;

double SizeOf(std::size_t rows, std::size_t parameters) {
  return static_cast<double>(rows) * static_cast<double>(parameters);
}

}  // namespace

absl::Status CheckTreeWork(std::size_t rows, std::size_t parameters,
                           int trees) {
  const double most = std::floor(kMostOfForest / SizeOf(rows, parameters));
  if (trees <= most) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(trees, " trees on ", rows, " trials of ", parameters,
                   " parameters would take many minutes"),
      most < 1.0 ? "name a top_quantile, or take the evaluator fanova"
                 : absl::StrCat("ask for ", most,
                                " trees or fewer, name a top_quantile, or "
                                "take the evaluator fanova"),
      "options.trees");
}

bool CanGrowForIntervals(std::size_t rows, std::size_t parameters, int trees) {
  return SizeOf(rows, parameters) * trees <= kMostOfIntervals;
}

}  // namespace frostline::importance
