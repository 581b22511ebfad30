// SPDX-License-Identifier: Apache-2.0
//
// File: plan_ground.h
//
// What plans of one state of a study stand on. Who asks for a plan asks for its
// frontier and rivals next: the last one is kept, so that one belief answers
// all.
#ifndef FROSTLINE_SERVER_IMPORTANCE_PLAN_GROUND_H_
#define FROSTLINE_SERVER_IMPORTANCE_PLAN_GROUND_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "importance/plan/plan_basis.h"
#include "server/importance/question.h"
#include "server/wire/study_handle.h"
#include "study/history.h"

namespace frostline::server {

// Not moved once `basis` is made, as it points in here. Then immutable.
struct PlanGround {
  StudyHandle study;
  ImportanceQuestion question;
  History history;
  std::int64_t revision = 0;
  std::int64_t evaluation_rows = 0;
  std::unique_ptr<const importance::PlanBasis> basis;

  const Space& space() const { return study.checked->space; }
  importance::PlanOptions OptionsFor(double tolerance) const;
};

using PlanGroundPtr = std::shared_ptr<const PlanGround>;

// Thread-safe.
class LastPlanGround {
 public:
  // The one kept under `key`, else `make`'s, which is kept unless it is an
  // error. Who asks for what another is making waits for it.
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
