// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/sqlite_fixture.h"

namespace frostline::storage {
namespace {

class ReadPoolTest : public SqliteFixture {
 protected:
  void SetUp() override { Open(); }
};

TEST_F(ReadPoolTest, ManyReadSideBySideAndConnectionsUnusedForLongAreClosed) {
  ReadPool pool(DatabaseFile(), std::chrono::seconds(10));
  {
    std::vector<ReadPool::Loan> loans;
    for (int i = 0; i < 20; ++i) {
      ASSERT_OK_AND_ASSIGN(ReadPool::Loan loan, pool.Borrow());
      loans.push_back(std::move(loan));
    }
    EXPECT_EQ(pool.idle(), 0u);
  }
  EXPECT_EQ(pool.idle(), 20u);
  // One thread reads on: it goes on with one connection.
  for (int i = 0; i < 300; ++i) ASSERT_OK(pool.Borrow().status());
  EXPECT_EQ(pool.idle(), 1u);
}

}  // namespace
}  // namespace frostline::storage
