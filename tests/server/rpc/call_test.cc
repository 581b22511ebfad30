// SPDX-License-Identifier: Apache-2.0
//
// What happens to a call before and after the coordinator: real gRPC on both
// ends, a function in the coordinator's place.
#include "server/rpc/call.h"

#include <grpcpp/grpcpp.h>

#include <thread>

#include "gtest/gtest.h"
#include "tests/server/rpc/raw_client.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kGetStudy[] = "/frostline.v1.StudyService/GetStudy";
constexpr char kGood[] = "\x0a\x09studies/a";  // name: "studies/a"

// GetStudy is answered by `answer`.
class CallTest : public ::testing::Test {
 protected:
  using Answer =
      std::function<void(v1::GetStudyRequest, CancelFlag, Reply<v1::Study>)>;

  void Serve(Answer answer, Duration longest = kLongestDeadline) {
    VerbTable table;
    table.unary["frostline.v1.StudyService.GetStudy"] =
        MakeUnaryVerb<v1::GetStudyRequest, v1::Study>(
            CallerRole::kViewer,
            [answer = std::move(answer)](const CallContext& caller,
                                         v1::GetStudyRequest request,
                                         Reply<v1::Study> reply) {
              answer(std::move(request), caller.cancelled, std::move(reply));
            });
    service_ = std::make_unique<RawService>(
        *v1::GetStudyRequest::descriptor()->file()->FindServiceByName(
            "StudyService"),
        table, gate_, nullptr, longest);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.SetMaxReceiveMessageSize(kMaxTransportBytes);
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    client_.emplace("127.0.0.1:" + std::to_string(port));
  }

  // Answers every study by its name.
  void ServeNames() {
    Serve([](v1::GetStudyRequest request, const CancelFlag&,
             Reply<v1::Study> reply) {
      v1::Study study;
      study.set_name(request.name());
      reply(study);
    });
  }

  const SystemClock clock_;
  Credentials none_;
  const Gate gate_{none_, clock_, /*require_tokens=*/false};
  std::unique_ptr<RawService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<RawClient> client_;
};

TEST_F(CallTest, AnswersWhatTheCoordinatorAnswers) {
  ServeNames();
  ASSERT_OK_AND_ASSIGN(const std::string bytes,
                       client_->Call(kGetStudy, kGood));
  v1::Study study;
  ASSERT_TRUE(study.ParseFromString(bytes));
  EXPECT_EQ(study.name(), "studies/a");
}

TEST_F(CallTest, PassesAnErrorOn) {
  Serve([](const v1::GetStudyRequest&, const CancelFlag&,
           Reply<v1::Study> reply) {
    reply(MakeError(ErrorId::kStudyNotFound, "there is no a", "list them"));
  });
  const auto result = client_->Call(kGetStudy, kGood);
  EXPECT_THAT(result, FailsWith(ErrorId::kStudyNotFound));
  EXPECT_EQ(result.status().message(), "there is no a");
}

TEST_F(CallTest, TakesAReplyFromAnotherThread) {
  std::thread thread;
  Serve([&](const v1::GetStudyRequest&, const CancelFlag&,
            Reply<v1::Study> reply) {
    thread = std::thread(
        [reply = std::move(reply)]() mutable { reply(v1::Study()); });
  });
  EXPECT_OK(client_->Call(kGetStudy, kGood));
  thread.join();
}

TEST_F(CallTest, ServesACallWithoutDeadline) {
  ServeNames();
  EXPECT_OK(client_->Call(kGetStudy, kGood, std::nullopt));
}

TEST_F(CallTest, ServesADeadlineHoweverFarAway) {
  ServeNames();
  EXPECT_OK(client_->Call(kGetStudy, kGood, seconds(60)));
  EXPECT_OK(client_->Call(kGetStudy, kGood, seconds(90)));
  EXPECT_OK(client_->Call(kGetStudy, kGood, std::chrono::hours(24 * 365)));
}

// The coordinator keeps its reply to itself.
class UnansweredCallTest : public CallTest {
 protected:
  void ServeNobody(Duration longest) {
    Serve(
        [this](const v1::GetStudyRequest&, CancelFlag cancelled,
               Reply<v1::Study> reply) {
          kept_.set_value({std::move(cancelled), std::move(reply)});
        },
        longest);
  }

  std::promise<std::pair<CancelFlag, Reply<v1::Study>>> kept_;
};

TEST_F(UnansweredCallTest, EndsByTheServersDeadlineWhereItHasNone) {
  ServeNobody(milliseconds(100));
  const auto result = client_->Call(kGetStudy, kGood, std::nullopt);
  EXPECT_THAT(result, FailsWith(ErrorId::kDeadlinePassed));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  auto [cancelled, reply] = kept_.get_future().get();
  EXPECT_TRUE(*cancelled);
  reply(v1::Study());  // late, and harmless
}

TEST_F(UnansweredCallTest, EndsByTheServersDeadlineWhereItsOwnIsFarther) {
  ServeNobody(milliseconds(100));
  EXPECT_THAT(client_->Call(kGetStudy, kGood, seconds(300)),
              FailsWith(ErrorId::kDeadlinePassed));
  kept_.get_future().wait();
}

TEST_F(UnansweredCallTest, EndsByItsOwnDeadlineWhereThatIsNearer) {
  ServeNobody(seconds(60));
  const auto result = client_->Call(kGetStudy, kGood, seconds(1));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(HasErrorId(result.status(), ErrorId::kDeadlinePassed));
  kept_.get_future().wait();
}

TEST_F(CallTest, ForgetsTheDeadlineOfACallThatWasAnswered) {
  Serve([](const v1::GetStudyRequest&, const CancelFlag&,
           Reply<v1::Study> reply) { reply(v1::Study()); },
        milliseconds(20));
  for (int i = 0; i < 50; ++i) {
    EXPECT_OK(client_->Call(kGetStudy, kGood, std::nullopt));
  }
  std::this_thread::sleep_for(milliseconds(40));  // all alarms would have rung
}

TEST_F(CallTest, RefusesBytesThatAreNoMessage) {
  ServeNames();
  EXPECT_THAT(client_->Call(kGetStudy, "\xff\xff\xff"),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(client_->Call(kGetStudy, "\x0a\x02\xc3\x28"),  // no UTF-8
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(client_->Call(kGetStudy, ""),
              FailsAt(ErrorId::kNameInvalid, "name"));
}

TEST_F(CallTest, SaysWhatIsWrongWithARequestOverOneMebibyte) {
  ServeNames();
  EXPECT_THAT(client_->Call(kGetStudy, std::string(kMaxRequestBytes + 1, 'x')),
              FailsWith(ErrorId::kFieldTooLarge));
}

TEST_F(CallTest, TakesNoMoreThanTwoMebibytesFromTheWire) {
  ServeNames();
  const auto result = client_->Call(
      kGetStudy, std::string(std::size_t{kMaxTransportBytes} + 1, 'x'));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(CallTest, TellsTheCoordinatorThatTheCallerHungUp) {
  std::promise<CancelFlag> flag;
  std::promise<Reply<v1::Study>> parked;
  Serve([&](const v1::GetStudyRequest&, CancelFlag cancelled,
            Reply<v1::Study> reply) {
    parked.set_value(std::move(reply));
    flag.set_value(std::move(cancelled));
  });
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + seconds(30));
  auto call = std::async(std::launch::async, [&] {
    return client_->Call(kGetStudy, kGood, &context);
  });
  const CancelFlag cancelled = flag.get_future().get();
  EXPECT_FALSE(cancelled->load());
  context.TryCancel();
  EXPECT_EQ(call.get().status().code(), absl::StatusCode::kCancelled);
  for (int i = 0; i < 1000 && !cancelled->load(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_TRUE(cancelled->load());
  parked.get_future().get()(v1::Study());  // late, and harmless
}

TEST_F(CallTest, AnswersEvenWhenTheReplyIsForgotten) {
  Serve([](const v1::GetStudyRequest&, const CancelFlag&,
           const Reply<v1::Study>&) {});
  EXPECT_THAT(client_->Call(kGetStudy, kGood), FailsWith(ErrorId::kInternal));
}

TEST_F(CallTest, AnswersOnceWhenRepliedTwice) {
  Serve([](const v1::GetStudyRequest&, const CancelFlag&,
           Reply<v1::Study> reply) {
    reply(v1::Study());
    reply(absl::InternalError("again"));
  });
  EXPECT_OK(client_->Call(kGetStudy, kGood));
  EXPECT_OK(client_->Call(kGetStudy, kGood));
}

TEST_F(CallTest, DoesNotServeWhatTheTableLacks) {
  ServeNames();
  const auto result =
      client_->Call("/frostline.v1.StudyService/ListStudies", "");
  EXPECT_THAT(result, FailsWith(ErrorId::kMethodNotBuilt));
  EXPECT_THAT(std::string(result.status().message()),
              ::testing::HasSubstr("StudyService.ListStudies"));
}

}  // namespace
}  // namespace frostline::server
