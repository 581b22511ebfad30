// SPDX-License-Identifier: Apache-2.0
#include "server/importance/plan_ground.h"

#include "base/error.h"

namespace frostline::server {

importance::PlanOptions PlanGround::OptionsFor(
    double tolerance, const std::stop_token& stop) const {
  importance::PlanOptions options{.evaluate = question.options,
                                  .tolerance = tolerance,
                                  .evaluation_rows = evaluation_rows};
  options.evaluate.stop = stop;
  return options;
}

absl::StatusOr<PlanGroundPtr> LastPlanGround::Of(
    const std::string& key,
    absl::FunctionRef<absl::StatusOr<PlanGroundPtr>()> make) {
  std::shared_ptr<Entry> entry;
  {
    const MutexLock lock(&mutex_);
    if (last_ == nullptr || last_->key != key) {
      last_ = std::make_shared<Entry>();
      last_->key = key;
    }
    entry = last_;
  }
  const MutexLock lock(&entry->mutex);
  if (entry->ground == nullptr) {
    ASSIGN_OR_RETURN(entry->ground, make());
  }
  return entry->ground;
}

}  // namespace frostline::server
