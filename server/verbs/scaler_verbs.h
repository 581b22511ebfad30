// SPDX-License-Identifier: Apache-2.0
//
// File: scaler_verbs.h
//
// What KEDA asks: how many trials wait for workers that are not there
// (supply.h), and whether there are any. A stream keeps no thread: it stands
// in a list here, which is looked through after a change, at most five times a
// second, and every few seconds for what changes by itself (a budget of time, a
// disk, a caller who has gone).
#ifndef FROSTLINE_SERVER_VERBS_SCALER_VERBS_H_
#define FROSTLINE_SERVER_VERBS_SCALER_VERBS_H_

#include <list>
#include <optional>
#include <vector>

#include "grpc/externalscaler/externalscaler.pb.h"
#include "server/dispatch/dispatcher.h"
#include "server/verbs/calls.h"
#include "server/wire/scaler_query.h"

namespace frostline::server {

class ScalerVerbs {
 public:
  ScalerVerbs(Calls& calls, Ledger& ledger, Dispatcher& dispatcher,
              const storage::DiskRoom& disk, const Clock& clock)
      : calls_(calls),
        ledger_(ledger),
        dispatcher_(dispatcher),
        disk_(disk),
        clock_(clock) {}

  void AddTo(VerbTable& table);

  // A group is on disk: answers the streams to which it brings news.
  void Committed() FROSTLINE_ON_LOOP;
  // Ends every stream without an error, so that KEDA comes back soon.
  void Drain(Batch& batch) FROSTLINE_ON_LOOP;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP;

 private:
  using Object = externalscaler::ScaledObjectRef;
  using Activity = externalscaler::IsActiveResponse;
  using Activities = std::vector<Activity>;
  struct Parked {
    CallContext caller;
    ScalerQuery query;
    std::optional<bool> told;
    Reply<Activities> reply;
  };

  // Answers STUDY_NOT_FOUND or STUDY_DENIED of the study that is named, and
  // REQUEST_INVALID when it asks for labels that the workers would not carry.
  absl::StatusOr<std::vector<const StudyBook*>> Find(
      const CallerIdentity& caller,
      const ScalerQuery& query) const FROSTLINE_ON_LOOP;
  absl::StatusOr<std::int64_t> Count(const CallerIdentity& caller,
                                     const ScalerQuery& query) const
      FROSTLINE_ON_LOOP;
  absl::StatusOr<Activity> IsActive(const CallerIdentity& caller,
                                    const Object& asked) const
      FROSTLINE_ON_LOOP;
  absl::StatusOr<externalscaler::GetMetricsResponse> GetMetrics(
      const CallerIdentity& caller,
      const externalscaler::GetMetricsRequest& asked) const FROSTLINE_ON_LOOP;

  // Answers when it is another than `told`.
  void NextActivity(CallContext caller, const Object& asked,
                    std::optional<bool> told, Reply<Activities> reply);
  // Answers it, or leaves the reply to be answered later.
  void Look(Parked& parked) const FROSTLINE_ON_LOOP;
  void LookAtAll(std::list<Parked>& streams) const FROSTLINE_ON_LOOP;

  Calls& calls_;
  Ledger& ledger_;
  Dispatcher& dispatcher_;
  const storage::DiskRoom& disk_ ABSL_GUARDED_BY(kLoopThread);
  const Clock& clock_;
  std::list<Parked> arrived_ ABSL_GUARDED_BY(kLoopThread);  // in this group
  std::list<Parked> parked_ ABSL_GUARDED_BY(kLoopThread);
  SteadyTime looked_ ABSL_GUARDED_BY(kLoopThread){};
  SteadyTime next_look_ ABSL_GUARDED_BY(kLoopThread){};
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_SCALER_VERBS_H_
