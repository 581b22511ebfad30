// SPDX-License-Identifier: Apache-2.0
//
// The stream made of events, with a function in the coordinator's place.
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <future>
#include <thread>

#include "frostline/v1/study_service.grpc.pb.h"
#include "gtest/gtest.h"
#include "proto/wire_error.h"
#include "server/rpc/call.h"
#include "server/verbs/reading_verbs.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Events = std::vector<v1::StudyEvent>;

v1::StudyEvent Trial(std::int64_t revision) {
  v1::StudyEvent event;
  event.set_revision(revision);
  event.mutable_trial()->set_number(revision);
  return event;
}

class WatchTest : public ::testing::Test {
 protected:
  void Serve(EventSource source) {
    VerbTable table;
    table.streams["frostline.v1.StudyService.WatchStudy"] =
        MakeWatchVerb(std::move(source));
    service_ = std::make_unique<RawService>(
        *v1::WatchStudyRequest::descriptor()->file()->FindServiceByName(
            "StudyService"),
        table, gate_);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    stub_ = v1::StudyService::NewStub(
        grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                            grpc::InsecureChannelCredentials()));
  }

  std::unique_ptr<grpc::ClientReader<v1::StudyEvent>> Watch(
      const std::string& name, std::int64_t after = 0) {
    v1::WatchStudyRequest request;
    request.set_name(name);
    request.set_after_revision(after);
    return stub_->WatchStudy(&context_, request);
  }

  const SystemClock clock_;
  Credentials none_;
  const Gate gate_{none_, clock_, /*require_tokens=*/false};
  std::unique_ptr<RawService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::StudyService::Stub> stub_;
  grpc::ClientContext context_;  // without deadline: streams need none
};

// Answers two events after the revision asked for, up to `last`; then an error.
EventSource CountTo(std::int64_t last) {
  return [last](const CallContext&, const v1::WatchStudyRequest& request,
                Reply<Events> reply) {
    const std::int64_t from = request.after_revision() + 1;
    if (from > last) {
      return reply(MakeError(ErrorId::kCoordinatorDraining, "over", "wait"));
    }
    reply(Events{Trial(from), Trial(from + 1)});
  };
}

TEST_F(WatchTest, StreamsEveryEventOnceAndInOrder) {
  Serve(CountTo(20));
  const auto reader = Watch("studies/a", 4);
  v1::StudyEvent event;
  for (std::int64_t expected = 5; expected <= 20; ++expected) {
    ASSERT_TRUE(reader->Read(&event));
    ASSERT_EQ(event.revision(), expected);
  }
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_THAT(proto::FromGrpcStatus(reader->Finish()),
              FailsWith(ErrorId::kCoordinatorDraining));
}

TEST_F(WatchTest, SaysThatItIsAliveWhenNothingChanges) {
  Serve([](const CallContext&, const v1::WatchStudyRequest&,
           Reply<Events> reply) { reply(Events{}); });
  const auto reader = Watch("studies/a", 7);
  v1::StudyEvent event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_TRUE(event.has_alive());
  EXPECT_GT(event.alive().seconds(), 1'700'000'000);
  EXPECT_EQ(event.revision(), 7);  // so that a reconnect misses nothing
  context_.TryCancel();
}

TEST_F(WatchTest, RefusesABadRequest) {
  Serve(CountTo(1));
  EXPECT_THAT(proto::FromGrpcStatus(Watch("imdb")->Finish()),
              FailsAt(ErrorId::kNameInvalid, "name"));
}

TEST_F(WatchTest, AsksForNoMoreThanTheReaderTakes) {
  std::atomic<int> asked{0};
  Serve([&](const CallContext&, const v1::WatchStudyRequest& request,
            Reply<Events> reply) {
    ++asked;
    v1::StudyEvent large = Trial(request.after_revision() + 1);
    large.mutable_trial()->set_note(std::string(1 << 20, 'x'));
    reply(Events{large});
  });
  const auto reader = Watch("studies/a");
  std::this_thread::sleep_for(milliseconds(300));  // nobody reads
  EXPECT_LT(asked.load(), 20);  // what fits into the buffers of a socket
  context_.TryCancel();
}

TEST_F(WatchTest, EndsWhenTheReaderHangsUp) {
  std::promise<CancelFlag> flag;
  std::promise<Reply<Events>> parked;
  Serve([&](const CallContext& caller, const v1::WatchStudyRequest&,
            Reply<Events> reply) {
    parked.set_value(std::move(reply));
    flag.set_value(caller.cancelled);
  });
  const auto reader = Watch("studies/a");
  const CancelFlag cancelled = flag.get_future().get();
  context_.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  for (int i = 0; i < 1000 && !cancelled->load(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  ASSERT_TRUE(cancelled->load());
  parked.get_future().get()(Events{Trial(1)});  // late, and harmless
  server_->Shutdown(std::chrono::system_clock::now() + seconds(5));
}

}  // namespace
}  // namespace frostline::server
