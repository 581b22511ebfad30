// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/watch.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "proto/wire_time.h"
#include "server/rpc/stream.h"

namespace frostline {
namespace {

using Events = std::vector<v1::StudyEvent>;

v1::StudyEvent Alive(std::int64_t revision) {
  v1::StudyEvent event;
  event.set_revision(revision);
  *event.mutable_alive() = TimestampToProto(SystemClock().Wall());
  return event;
}

// Goes on after the last event it handed out.
NextMessages<v1::StudyEvent> EventsOf(const EventSource& source,
                                      v1::WatchStudyRequest first) {
  auto request = std::make_shared<v1::WatchStudyRequest>(std::move(first));
  return [&source, request](CancelFlag cancelled, Reply<Events> reply) {
    source(*request, std::move(cancelled),
           [request,
            reply = std::move(reply)](absl::StatusOr<Events> events) mutable {
             if (events.ok()) {
               if (events->empty()) {
                 events->push_back(Alive(request->after_revision()));
               }
               request->set_after_revision(events->back().revision());
             }
             reply(std::move(events));
           });
  };
}

}  // namespace

StreamMethod WatchMethod(EventSource source) {
  // The method outlives its calls, and so does the source.
  auto shared = std::make_shared<EventSource>(std::move(source));
  return Stream<v1::WatchStudyRequest, v1::StudyEvent>(
      [shared](v1::WatchStudyRequest request) {
        return EventsOf(*shared, std::move(request));
      });
}

}  // namespace frostline
