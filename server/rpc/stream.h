// SPDX-License-Identifier: Apache-2.0
//
// File: stream.h
//
// A method that answers with a stream: ask for some messages, write them one at
// a time, ask again. A slow reader holds up its own stream and nobody else; the
// next messages are asked for when the last one has been taken.
#ifndef FROSTLINE_SERVER_RPC_STREAM_H_
#define FROSTLINE_SERVER_RPC_STREAM_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "proto/served.h"
#include "server/coordinator.h"
#include "server/rpc/admission.h"
#include "server/rpc/raw_service.h"
#include "server/rpc/status.h"
#include "server/wire/validate.h"

namespace frostline {

// Answers the next messages of one call; none: the stream has ended. Called
// again only after its answer.
template <typename Message>
using NextMessages =
    std::function<void(CancelFlag, Reply<std::vector<Message>>)>;

// Each step is started by the end of the one before, so only the cancel flag is
// shared between threads. The call owns itself until gRPC is done with it.
template <typename Request, typename Message>
class StreamCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  using Begin = std::function<NextMessages<Message>(Request)>;

  void Start(const grpc::ByteBuffer& in, const Begin& begin) {
    Request request;
    absl::Status status = CheckSize(in);
    if (status.ok()) status = Parse(in, &request);
    if (status.ok()) status = CheckServed(request);
    if (status.ok()) status = Validate(request);
    if (!status.ok()) return Finish(ToGrpcStatus(status));
    source_ = begin(std::move(request));
    Ask();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);  // the reader is gone
    if (next_ < messages_.size()) return Write();
    Ask();
  }

  void OnCancel() override { cancelled_->store(true); }
  void OnDone() override { delete this; }

 private:
  struct ReplyLost {
    void operator()(StreamCall* call) const { call->Take(ReplyDropped()); }
  };
  using OneReply = std::unique_ptr<StreamCall, ReplyLost>;

  void Ask() {
    source_(cancelled_, [reply = OneReply(this)](
                            absl::StatusOr<std::vector<Message>> got) mutable {
      if (reply != nullptr) reply.release()->Take(std::move(got));
    });
  }

  void Take(absl::StatusOr<std::vector<Message>> got) {
    if (cancelled_->load()) return Finish(grpc::Status::CANCELLED);
    if (!got.ok()) return Finish(ToGrpcStatus(got.status()));
    messages_ = *std::move(got);
    if (messages_.empty()) return Finish(grpc::Status::OK);
    next_ = 0;
    Write();
  }

  void Write() {
    const absl::Status written = Serialize(messages_[next_++], &out_);
    if (!written.ok()) return Finish(ToGrpcStatus(written));
    StartWrite(&out_);
  }

  NextMessages<Message> source_;
  const CancelFlag cancelled_ = std::make_shared<std::atomic<bool>>(false);
  std::vector<Message> messages_;
  std::size_t next_ = 0;  // of messages_
  grpc::ByteBuffer out_;  // must stay while a write is under way
};

// `begin` is called once for each call that may be served.
template <typename Request, typename Message>
StreamMethod Stream(std::function<NextMessages<Message>(Request)> begin) {
  return [begin = std::move(begin)](grpc::CallbackServerContext*,
                                    const grpc::ByteBuffer* in) {
    auto* call = new StreamCall<Request, Message>();
    call->Start(*in, begin);
    return call;
  };
}

}  // namespace frostline

#endif  // FROSTLINE_SERVER_RPC_STREAM_H_
