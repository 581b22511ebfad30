// SPDX-License-Identifier: Apache-2.0
//
// File: plan_ground.h
//
// Who asks for a plan asks for its frontier and rivals next, so the last one is
// kept.
#ifndef FROSTLINE_SERVER_IMPORTANCE_PLAN_GROUND_H_
#define FROSTLINE_SERVER_IMPORTANCE_PLAN_GROUND_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "importance/plan/study_plan.h"
#include "server/importance/question.h"
#include "server/wire/study_handle.h"
#include "study/history.h"

namespace frostline::server {

// It is not moved once `basis` is made, which points in here; then it is
// immutable.
struct PlanGround {
  StudyHandle study;
  ImportanceQuestion question;
  History history;
  std::int64_t revision = 0;
  std::int64_t evaluation_rows = 0;
  std::unique_ptr<const importance::PlanBasis> basis;

  const Space& space() const { return study.checked->space; }
  importance::PlanOptions OptionsFor(double tolerance,
                                     const std::stop_token& stop) const;
};

using PlanGroundPtr = std::shared_ptr<const PlanGround>;

// It is thread-safe.
class LastPlanGround {
 public:
  // Returns the one kept under `key`, else `make`'s, which is kept unless it is
  // an error. Who asks for what another is making waits for it.
  absl::StatusOr<PlanGroundPtr> Of(
      const std::string& key,
      absl::FunctionRef<absl::StatusOr<PlanGroundPtr>()> make);

 private:
  struct Entry {
    std::string key;
    Mutex mutex;  // while it is made
    PlanGroundPtr ground ABSL_GUARDED_BY(mutex);
  };

  Mutex mutex_;
  std::shared_ptr<Entry> last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_PLAN_GROUND_H_
