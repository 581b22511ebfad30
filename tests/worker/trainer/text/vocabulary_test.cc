// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "worker/trainer/text/subword_model.h"

namespace frostline::trainer {
namespace {

DoubleArray Build(const std::map<std::string, std::int32_t>& keys) {
  std::vector<DoubleArray::Entry> entries(keys.begin(), keys.end());
  return DoubleArray::Build(entries);
}

TEST(DoubleArray, FindsItsKeysAndNothingElse) {
  const DoubleArray trie = Build({{"a", 7}, {"ab", 0}, {"abc", 3}, {"b", 1}});
  EXPECT_EQ(trie.Find("a"), 7);
  EXPECT_EQ(trie.Find("ab"), 0);
  EXPECT_EQ(trie.Find("abc"), 3);
  EXPECT_EQ(trie.Find("b"), 1);
  for (const char* other : {"", "c", "ac", "abcd", "bb"}) {
    EXPECT_EQ(trie.Find(other), -1) << other;
  }
}

TEST(DoubleArray, TakesAnyByte) {
  const std::string nul(1, '\0');
  const DoubleArray trie = Build({{nul, 1}, {nul + "\xFF", 2}, {"\xFF", 3}});
  EXPECT_EQ(trie.Find(nul), 1);
  EXPECT_EQ(trie.Find(nul + "\xFF"), 2);
  EXPECT_EQ(trie.Find("\xFF"), 3);
  EXPECT_EQ(trie.Find(nul + nul), -1);
}

TEST(DoubleArray, AnEmptyOneFindsNothing) {
  EXPECT_EQ(DoubleArray().Find("a"), -1);
  EXPECT_EQ(Build({}).Find("a"), -1);
}

TEST(DoubleArray, ManyKeysOfFewLetters) {
  std::map<std::string, std::int32_t> keys;
  for (std::int32_t i = 0; i < 20000; ++i) {
    std::string key;
    for (std::int32_t rest = i + 1; rest > 0; rest /= 5) {
      key.push_back("ab\xE4\xB8z"[rest % 5]);
    }
    keys[key] = i;
  }
  const DoubleArray trie = Build(keys);
  for (const auto& [key, value] : keys) ASSERT_EQ(trie.Find(key), value);
}

}  // namespace
}  // namespace frostline::trainer
