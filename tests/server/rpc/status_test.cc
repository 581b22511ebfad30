// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "frostline/v1/errors.pb.h"
#include "gtest/gtest.h"
#include "proto/wire_error.h"
#include "server/rpc/call.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

v1::StatusDetails DetailsOf(const absl::Status& status) {
  v1::StatusDetails details;
  EXPECT_TRUE(details.ParseFromString(ToGrpcStatus(status).error_details()));
  return details;
}

bool Has(const v1::StatusDetails& details, const std::string& url) {
  for (const auto& detail : details.details()) {
    if (detail.type_url() == url) return true;
  }
  return false;
}

absl::Status ThereAndBack(const absl::Status& status) {
  return proto::FromGrpcStatus(ToGrpcStatus(status));
}

TEST(RpcStatusTest, LeavesOkAlone) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_OK(ThereAndBack(absl::OkStatus()));
}

TEST(RpcStatusTest, CarriesEveryErrorOfTheCatalogueThereAndBack) {
  for (const ErrorKind& kind : AllErrorKinds()) {
    const auto back = ThereAndBack(
        MakeError(kind.id, "cause of " + kind.reason, "fix it", "a.b[3]"));
    ASSERT_THAT(back, FailsAt(kind.id, "a.b[3]"));
    EXPECT_EQ(back.code(), kind.code);
    EXPECT_EQ(back.message(), "cause of " + kind.reason);
    EXPECT_EQ(DetailOf(back)->fix, "fix it");
  }
}

TEST(RpcStatusTest, FillsErrorInfoAsAnyClientExpectsIt) {
  const auto details = DetailsOf(
      MakeError(ErrorId::kLeaseLost, "attempt 3 holds it", "stop", ""));
  v1::ErrorInfo info;
  ASSERT_EQ(details.details(0).type_url(), proto::kErrorInfoUrl);
  ASSERT_TRUE(info.ParseFromString(details.details(0).value()));
  EXPECT_EQ(info.reason(), "LEASE_LOST");
  EXPECT_EQ(info.domain(), "frostline");
  EXPECT_EQ(info.metadata().at("id"), "FL-2031");
  EXPECT_EQ(info.metadata().at("cause"), "attempt 3 holds it");
}

TEST(RpcStatusTest, NamesTheFieldOfABadRequest) {
  const auto bad = MakeError(ErrorId::kRequestInvalid, "c", "f", "wait");
  EXPECT_TRUE(Has(DetailsOf(bad), proto::kBadRequestUrl));
  const auto lost = MakeError(ErrorId::kLeaseLost, "c", "f", "lease");
  EXPECT_FALSE(Has(DetailsOf(lost), proto::kBadRequestUrl));
}

TEST(RpcStatusTest, SaysWhenToTryAgainOnlyWhereThatHelps) {
  EXPECT_TRUE(Has(DetailsOf(MakeError(ErrorId::kStoreBusy, "c", "f")),
                  proto::kRetryInfoUrl));
  EXPECT_TRUE(Has(DetailsOf(MakeError(ErrorId::kOverloaded, "c", "f")),
                  proto::kRetryInfoUrl));
  EXPECT_FALSE(Has(DetailsOf(MakeError(ErrorId::kStudyNotFound, "c", "f")),
                   proto::kRetryInfoUrl));
}

TEST(RpcStatusTest, CallsAForeignErrorABug) {
  const auto back = ThereAndBack(absl::NotFoundError("from a library"));
  EXPECT_THAT(back, FailsWith(ErrorId::kInternal));
  EXPECT_EQ(back.message(), "from a library");
}

TEST(RpcStatusTest, KeepsAHostileErrorWithinTheTrailersLimit) {
  std::string worst;  // three bytes on the wire for each of these
  while (worst.size() < 100'000) worst += "ä\x1b\xff\n";
  const auto sent =
      ToGrpcStatus(MakeError(ErrorId::kRequestInvalid, worst, worst, worst));
  const std::size_t on_the_wire = 3 * sent.error_message().size() +
                                  (sent.error_details().size() + 2) / 3 * 4;
  EXPECT_LT(on_the_wire, 8u * 1024 - 512);
  const auto back = proto::FromGrpcStatus(sent);
  EXPECT_THAT(back, FailsWith(ErrorId::kRequestInvalid));
  EXPECT_EQ(std::string(back.message()).find('\x1b'), std::string::npos);
  EXPECT_EQ(std::string(back.message()).find('\n'), std::string::npos);
}

TEST(RpcStatusTest, KeepsTheSeparatorOfErrorDetailOutOfFields) {
  const auto back =
      ThereAndBack(MakeError(ErrorId::kNameInvalid, "c", "fix\x1fone", "name"));
  EXPECT_THAT(back, FailsAt(ErrorId::kNameInvalid, "name"));
  EXPECT_EQ(DetailOf(back)->fix, "fix one");
}

}  // namespace
}  // namespace frostline::server
