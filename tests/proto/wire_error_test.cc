// SPDX-License-Identifier: Apache-2.0
#include "proto/wire_error.h"

#include "base/error.h"
#include "frostline/v1/errors.pb.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::proto {
namespace {

using ::testing::HasSubstr;

grpc::Status WithInfo(grpc::StatusCode code, const v1::ErrorInfo& info) {
  v1::StatusDetails details;
  auto* any = details.add_details();
  any->set_type_url(kErrorInfoUrl);
  any->set_value(info.SerializeAsString());
  return grpc::Status(code, "cause", details.SerializeAsString());
}

v1::ErrorInfo LeaseLostInfo() {
  v1::ErrorInfo info;
  info.set_reason("LEASE_LOST");
  info.set_domain(kErrorDomain);
  (*info.mutable_metadata())["id"] = "FL-2031";
  (*info.mutable_metadata())["fix"] = "stop";
  return info;
}

TEST(WireErrorTest, ReadsTheIdOfAnErrorOfOurs) {
  const auto status = FromGrpcStatus(
      WithInfo(grpc::StatusCode::FAILED_PRECONDITION, LeaseLostInfo()));
  EXPECT_THAT(status, FailsWith(ErrorId::kLeaseLost));
  EXPECT_EQ(status.message(), "cause");
  EXPECT_EQ(DetailOf(status)->fix, "stop");
}

TEST(WireErrorTest, LeavesAnotherDomainAlone) {
  v1::ErrorInfo info = LeaseLostInfo();
  info.set_domain("example.com");
  const auto status =
      FromGrpcStatus(WithInfo(grpc::StatusCode::FAILED_PRECONDITION, info));
  EXPECT_FALSE(DetailOf(status).has_value());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
}

TEST(WireErrorTest, KeepsWhatItCanOfANewerError) {
  v1::ErrorInfo info = LeaseLostInfo();
  (*info.mutable_metadata())["id"] = "FL-8888";
  const auto status = FromGrpcStatus(WithInfo(grpc::StatusCode::ABORTED, info));
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("FL-8888; fix: stop"));
}

TEST(WireErrorTest, CallsABareUnavailableAnAbsentCoordinator) {
  EXPECT_THAT(
      FromGrpcStatus({grpc::StatusCode::UNAVAILABLE, "connection refused"}),
      FailsWith(ErrorId::kCoordinatorAway));
}

TEST(WireErrorTest, CallsABareUnimplementedAMethodNotBuilt) {
  EXPECT_THAT(FromGrpcStatus({grpc::StatusCode::UNIMPLEMENTED, ""}),
              FailsWith(ErrorId::kMethodNotBuilt));
}

TEST(WireErrorTest, KeepsTheCodeOfAPassedDeadline) {
  const auto status = FromGrpcStatus(
      {grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"});
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(WireErrorTest, OutlivesGarbageInTheDetails) {
  const grpc::Status garbage(grpc::StatusCode::NOT_FOUND, "x", "\xff\x01\x02");
  EXPECT_EQ(FromGrpcStatus(garbage).code(), absl::StatusCode::kNotFound);
}

TEST(CleanTextTest, KeepsPlainText) {
  EXPECT_EQ(CleanText("layer.3 … 2e-5", 100), "layer.3 … 2e-5");
}

TEST(CleanTextTest, BreaksNoLineAndMovesNoCursor) {
  EXPECT_EQ(CleanText("a\nb\x1b[2Jc\x7f\xc2\x9bz", 100), "a b [2Jc  z");
}

TEST(CleanTextTest, TurnsNoText) {
  EXPECT_EQ(CleanText("a\u202Eb\u2066c\u200Fd\u061Ce\u2028f", 100),
            "a b c d e f");
  EXPECT_EQ(CleanText("שלום عليكم", 100), "שלום عليكم");
}

TEST(CleanTextTest, ReplacesWhatIsNoUtf8) {
  // A lone continuation, an overlong slash, a surrogate, a cut sequence.
  EXPECT_EQ(CleanText("\x80", 9), "?");
  EXPECT_EQ(CleanText("\xc0\xaf", 9), "??");
  EXPECT_EQ(CleanText("\xed\xa0\x80", 9), "???");
  EXPECT_EQ(CleanText("a\xe2\x82", 9), "a??");
}

TEST(CleanTextTest, CutsBetweenCharacters) {
  EXPECT_EQ(CleanText("ääää", 8), "ääää");
  EXPECT_EQ(CleanText("äääää", 8), "ää...");
  EXPECT_EQ(CleanText(std::string(5000, 'x'), 1000).size(), 1000u);
}

}  // namespace
}  // namespace frostline::proto
