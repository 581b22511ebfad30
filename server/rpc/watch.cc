// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/watch.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/rpc/admission.h"
#include "server/rpc/status.h"
#include "server/rpc/validate.h"

namespace frostline {
namespace {

using Events = std::vector<v1::StudyEvent>;

// Ask, write, written, ask again: one step at a time, each started by the end
// of the one before, so only the cancel flag is shared between threads.
class WatchCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit WatchCall(const EventSource& source) : source_(source) {}

  void Begin(const grpc::ByteBuffer& in) {
    absl::Status status = CheckSize(in);
    if (status.ok()) status = Parse(in, &request_);
    if (status.ok()) status = Validate(request_);
    if (!status.ok()) return Finish(ToGrpcStatus(status));
    Ask();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);  // the reader is gone
    if (next_ < events_.size()) return Write();
    Ask();
  }

  void OnCancel() override { cancelled_->store(true); }
  void OnDone() override { delete this; }

 private:
  struct ReplyLost {
    void operator()(WatchCall* call) const { call->Take(ReplyDropped()); }
  };
  using OneReply = std::unique_ptr<WatchCall, ReplyLost>;

  void Ask() {
    source_(request_, cancelled_,
            [reply = OneReply(this)](absl::StatusOr<Events> events) mutable {
              if (reply != nullptr) reply.release()->Take(std::move(events));
            });
  }

  void Take(absl::StatusOr<Events> events) {
    if (cancelled_->load()) return Finish(grpc::Status::CANCELLED);
    if (!events.ok()) return Finish(ToGrpcStatus(events.status()));
    events_ = *std::move(events);
    if (events_.empty()) events_.push_back(Alive());
    request_.set_after_revision(events_.back().revision());
    next_ = 0;
    Write();
  }

  void Write() {
    const absl::Status written = Serialize(events_[next_++], &out_);
    if (!written.ok()) return Finish(ToGrpcStatus(written));
    StartWrite(&out_);
  }

  v1::StudyEvent Alive() const {
    const WallMicros now = SystemClock().Wall();
    v1::StudyEvent event;
    event.set_revision(request_.after_revision());
    event.mutable_alive()->set_seconds(now / 1'000'000);
    event.mutable_alive()->set_nanos(
        static_cast<std::int32_t>(now % 1'000'000) * 1000);
    return event;
  }

  const EventSource& source_;  // the method's; it outlives its calls
  const CancelFlag cancelled_ = std::make_shared<std::atomic<bool>>(false);
  v1::WatchStudyRequest request_;  // after_revision: the last one written
  Events events_;
  std::size_t next_ = 0;  // of events_
  grpc::ByteBuffer out_;  // must stay while a write is under way
};

}  // namespace

StreamMethod WatchMethod(EventSource source) {
  return [source = std::move(source)](grpc::CallbackServerContext*,
                                      const grpc::ByteBuffer* in) {
    auto* call = new WatchCall(source);
    call->Begin(*in);
    return call;
  };
}

}  // namespace frostline
