// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/service/tls_coordinator.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/error.h"
#include "tls/authority.h"
#include "tls/certificate.h"
#include "tls/credentials.h"
#include "tls/private_file.h"

namespace frostline::bench {
namespace {

template <typename T>
T Must(absl::StatusOr<T> result) {
  if (result.ok()) return *std::move(result);
  std::cerr << "with TLS: " << DescribeError(result.status()) << "\n";
  std::exit(1);
}

void WriteFile(const std::string& path, const tls::KeyPair& pair) {
  std::ofstream(path + ".crt") << pair.certificate_pem;
  const absl::Status written =
      tls::WritePrivateFile(path + ".key", pair.key_pem, "");
  if (!written.ok()) std::exit(1);
}

}  // namespace

TlsCoordinator::TlsCoordinator(const std::string& folder, const Clock& clock) {
  std::filesystem::create_directories(folder);
  const WallMicros now = clock.Wall();
  const tls::KeyPair ca = Must(tls::MakeAuthority("bench", now));
  WriteFile(folder + "/ca", ca);
  WriteFile(folder + "/coordinator",
            Must(tls::Issue(
                ca, {.name = "coordinator", .hosts = {"127.0.0.1"}, .uri = ""},
                now)));
  WriteFile(folder + "/client",
            Must(tls::Issue(ca,
                            {.name = "bench",
                             .hosts = {},
                             .uri = tls::FormatOwnerName({"admin", "bench"})},
                            now)));
  // One identity plays the whole fleet.
  program_ = std::make_unique<CoordinatorProgram>(CoordinatorSpec{
      .data = folder + "/data",
      .options = {"--tls", folder, "--calls-per-caller", "1000000"},
      .scheme = "tls:"});
  if (!program_->Start()) {
    std::cerr << "with TLS the coordinator does not start:\n"
              << program_->program().Log();
    std::exit(1);
  }
  credentials_ = Must(tls::ChannelCredentialsOf(
      {folder + "/client.crt", folder + "/client.key", folder + "/ca.crt"},
      clock));
}

}  // namespace frostline::bench
