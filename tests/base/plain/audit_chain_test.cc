// SPDX-License-Identifier: Apache-2.0
#include "base/plain/audit_chain.h"

#include "gmock/gmock.h"

namespace frostline {
namespace {

constexpr char kFirst[] = R"({"sequence":1,"outcome":"OK")";
constexpr char kSecond[] = R"({"sequence":2,"outcome":"OK")";

// The sums are those of another program: Python's hashlib.
TEST(AuditChain, IsThatOfItsRule) {
  const std::string first = NextChain(FirstChain(), kFirst);
  EXPECT_EQ(first,
            "a9200032ceea5fbddbbbfe98e61611a7ea59c42bbd8b1c1478ef223ca130ae35");
  EXPECT_EQ(NextChain(first, kSecond),
            "8a3671e8fca1c3eff7cb5e0966c6d74f2d9fb28809cded7988152381d3a93ca5");
  EXPECT_EQ(ChainedLine(kFirst, first),
            std::string(kFirst) + ",\"chain_sha256\":\"" + first + "\"}");
}

TEST(AuditChain, AnotherTextOrAnotherPastIsAnotherSum) {
  const std::string first = NextChain(FirstChain(), kFirst);
  EXPECT_NE(NextChain(FirstChain(), kSecond), first);
  EXPECT_NE(NextChain(first, kFirst), first);
  std::string changed = first;
  changed.back() = changed.back() == '0' ? '1' : '0';
  EXPECT_NE(NextChain(changed, kSecond), NextChain(first, kSecond));
}

TEST(AuditChain, TakesALineApart) {
  const std::string chain = NextChain(FirstChain(), kFirst);
  const std::string line = ChainedLine(kFirst, chain);
  const auto parts = ReadChainedLine(line);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->text, kFirst);
  EXPECT_EQ(parts->chain, chain);
}

TEST(AuditChain, RefusesWhatIsNoLineOfIt) {
  const std::string line = ChainedLine(kFirst, NextChain(FirstChain(), kFirst));
  for (const std::string& bad :
       {std::string(), std::string("{}"), line + " ", line.substr(1, 40),
        line.substr(0, line.size() - 1), std::string(kFirst) + "}",
        line.substr(line.size() - 83),
        ChainedLine(kFirst, std::string(64, 'X'))}) {
    EXPECT_FALSE(ReadChainedLine(bad).has_value()) << bad;
  }
}

TEST(AuditChain, FilesSortAsTheirEntries) {
  EXPECT_EQ(AuditFileName(1), "audit-000000000001.jsonl");
  EXPECT_EQ(AuditFileName(101), "audit-000000000101.jsonl");
  EXPECT_EQ(AuditFileName(123'456'789'012), "audit-123456789012.jsonl");
}

}  // namespace
}  // namespace frostline
