// SPDX-License-Identifier: Apache-2.0
//
// server/verbs/roles.txt says who may call what, for the reference of the API.
// It is written from the table of verbs with
//   FROSTLINE_UPDATE_ROLES=1 ctest -R server_rpc_auth
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/auth/access.h"
#include "server/coordinator.h"
#include "storage/factory.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

constexpr char kHead[] =
    "# Who may call what. Written by the test server_rpc_auth from the table "
    "of\n"
    "# verbs, with FROSTLINE_UPDATE_ROLES=1; scripts/api_reference.py reads "
    "it.\n";

struct Asking {
  const char* name;
  CallerRole role;
  CallerProof proof = CallerProof::kToken;
};
constexpr Asking kAsking[] = {
    {"invitation", CallerRole::kInvited},
    {"viewer", CallerRole::kViewer},
    {"worker", CallerRole::kWorker},
    {"certified-worker", CallerRole::kWorker, CallerProof::kCertificate},
    {"researcher", CallerRole::kResearcher},
    {"admin", CallerRole::kAdmin}};

// " viewer researcher admin"
std::string WhoMayCall(const std::string& method, CallerRole row) {
  std::string who;
  for (const Asking& asking : kAsking) {
    CallerIdentity caller;
    caller.role = asking.role;
    caller.proof = asking.proof;
    const bool is_said =
        asking.proof == CallerProof::kCertificate && who.ends_with(" worker");
    if (is_said || !CheckRole(caller, row, method).ok()) continue;
    absl::StrAppend(&who, " ", asking.name);
  }
  return who;
}

std::string TableOfRoles(const VerbTable& table) {
  std::set<std::string> lines;
  const auto add = [&lines](const std::string& full_name, CallerRole row) {
    const std::size_t service =
        full_name.rfind('.', full_name.rfind('.') - 1) + 1;
    const std::string method = full_name.substr(service);
    lines.insert(absl::StrCat(method, WhoMayCall(method, row), "\n"));
  };
  for (const auto& [name, verb] : table.unary) add(name, verb.role);
  for (const auto& [name, verb] : table.streams) add(name, verb.role);
  std::string text = kHead;
  for (const std::string& line : lines) text += line;
  return text;
}

TEST(Roles, OfThePageAreThoseOfTheTableOfVerbs) {
  const auto store = storage::OpenStore({.data_folder = "", .ephemeral = true});
  ASSERT_OK(store);
  const FakeClock clock;
  Coordinator coordinator({}, **store, clock);
  ASSERT_OK(coordinator.Start());
  const std::string table = TableOfRoles(coordinator.verbs());
  coordinator.Drain();
  const std::string path = absl::StrCat(std::getenv("FROSTLINE_SOURCE_DIR"),
                                        "/server/verbs/roles.txt");
  if (std::getenv("FROSTLINE_UPDATE_ROLES") != nullptr) {
    std::ofstream(path) << table;
  }
  std::stringstream said;
  said << std::ifstream(path).rdbuf();
  EXPECT_EQ(said.str(), table) << "run with FROSTLINE_UPDATE_ROLES=1";
}

}  // namespace
}  // namespace frostline::server
