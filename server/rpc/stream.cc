// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/stream.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "server/rpc/admission.h"
#include "server/rpc/call.h"
#include "server/rpc/status.h"

namespace frostline::server {
namespace {

// Each step is started by the end of the one before, so only the cancel flag is
// shared between threads. The call owns itself until gRPC is done with it.
class StreamCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  StreamCall(Guarded guarded, CallerRole role, Shown shown)
      : guarded_(std::move(guarded)), role_(role), shown_(std::move(shown)) {
    if (guarded_.counts != nullptr) guarded_.counts->begun.Add();
  }

  void Start(const grpc::CallbackServerContext& context, const StreamVerb& verb,
             const grpc::ByteBuffer& in) {
    absl::StatusOr<CallerIdentity> who = Identify(guarded_, role_, shown_);
    if (!who.ok()) return Finish(ToGrpcStatus(who.status()));
    absl::StatusOr<MessagePtr> request = Admit(verb, in, Duration::max());
    if (!request.ok()) return Finish(ToGrpcStatus(request.status()));
    CallContext caller = ContextOf(context, *std::move(who), guarded_.method,
                                   **request, cancelled_);
    caller.trace = TraceOf(context);
    const LogTraceScope traced(caller.trace);
    source_ = verb.begin(caller, *std::move(request));
    Ask();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);  // the reader is gone
    if (next_ < messages_.size()) return Write();
    Ask();
  }

  void OnCancel() override { cancelled_->store(true); }
  void OnDone() override {
    if (guarded_.counts != nullptr) guarded_.counts->ended.Add();
    delete this;
  }

 private:
  using Messages = std::vector<MessagePtr>;
  struct ReplyLost {
    void operator()(StreamCall* call) const { call->Take(ReplyDropped()); }
  };
  using OneReply = std::unique_ptr<StreamCall, ReplyLost>;

  void Ask() {
    source_([reply = OneReply(this)](absl::StatusOr<Messages> got) mutable {
      if (reply != nullptr) reply.release()->Take(std::move(got));
    });
  }

  void Take(absl::StatusOr<Messages> got) {
    if (cancelled_->load()) return Finish(grpc::Status::CANCELLED);
    if (!got.ok()) return Finish(ToGrpcStatus(got.status()));
    const auto who = Identify(guarded_, role_, shown_);
    if (!who.ok()) return Finish(ToGrpcStatus(who.status()));
    messages_ = *std::move(got);
    if (messages_.empty()) return Finish(grpc::Status::OK);
    next_ = 0;
    Write();
  }

  void Write() {
    const absl::Status written = Serialize(*messages_[next_++], &out_);
    if (!written.ok()) return Finish(ToGrpcStatus(written));
    StartWrite(&out_);
  }

  const Guarded guarded_;
  const CallerRole role_;
  const Shown shown_;
  NextMessages source_;
  const CancelFlag cancelled_ = std::make_shared<std::atomic<bool>>(false);
  Messages messages_;
  std::size_t next_ = 0;  // of messages_
  grpc::ByteBuffer out_;  // must stay while a write is under way
};

}  // namespace

StreamMethod ServeStream(StreamVerb verb, Guarded guarded) {
  return [verb = std::move(verb), guarded = std::move(guarded)](
             grpc::CallbackServerContext* context, const grpc::ByteBuffer* in) {
    auto* call = new StreamCall(guarded, verb.role, ShownBy(*context));
    call->Start(*context, verb, *in);
    return call;
  };
}

}  // namespace frostline::server
