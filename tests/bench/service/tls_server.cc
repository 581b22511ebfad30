// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/service/tls_server.h"

#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "server/coordinator.h"
#include "server/rpc/server.h"
#include "storage/factory.h"

namespace frostline::bench {
namespace {

// Run in the folder that is to hold ca.pem, server.pem, client.pem and keys.
constexpr char kMakeCertificates[] = R"(
exec >openssl.log 2>&1; set -e
key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
openssl req -x509 $key -days 2 -keyout ca.key -out ca.pem -subj /CN=bench-ca
names='IP:127.0.0.1,DNS:localhost,URI:spiffe://bench/frostline/admin/bench'
echo "subjectAltName=$names" >names
for who in server client; do
  openssl req $key -keyout $who.key -out $who.csr -subj /CN=$who
  openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial \
    -days 2 -out $who.pem -extfile names
done)";

std::string TextOf(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string ReadLine(int from) {
  std::string line;
  char c = 0;
  while (read(from, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

void WriteLine(int to, const std::string& line) {
  const std::string text = line + "\n";
  if (write(to, text.data(), text.size()) < 0) _exit(1);
}

std::shared_ptr<grpc::ServerCredentials> ServerCredentialsIn(
    const std::string& folder) {
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = TextOf(folder + "/ca.pem");
  options.pem_key_cert_pairs.push_back(
      {TextOf(folder + "/server.key"), TextOf(folder + "/server.pem")});
  return grpc::SslServerCredentials(options);
}

// The child's life. An empty line says that it did not start.
[[noreturn]] void Serve(int orders, int answers) {
  const std::string folder = ReadLine(orders);
  if (folder.empty()) _exit(0);
  const SystemClock clock;
  storage::StoreSpec spec;
  spec.data_folder = folder + "/data";
  const auto store = storage::OpenStore(spec);
  if (!store.ok()) _exit(1);
  server::Coordinator coordinator(server::CoordinatorOptions(), **store, clock);
  server::RpcOptions options;
  options.listen = {"tls:127.0.0.1:0"};
  options.credentials = ServerCredentialsIn(folder);
  if (!coordinator.Start().ok()) _exit(1);
  const server::Gate gate(coordinator.credentials(), clock, false);
  options.gate = &gate;
  const auto server = server::RpcServer::Listen(options, coordinator.verbs());
  if (!server.ok()) _exit(1);
  WriteLine(answers, (*server)->address());
  ReadLine(orders);  // ends with the parent
  _exit(0);
}

}  // namespace

TlsServer::TlsServer() {
  std::array<int, 2> orders{}, answers{};
  if (pipe(orders.data()) != 0 || pipe(answers.data()) != 0) std::abort();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(orders[1]);
    close(answers[0]);
    Serve(orders[0], answers[1]);
  }
  close(orders[0]);
  close(answers[1]);
  orders_ = orders[1];
  answers_ = answers[0];
}

TlsServer::~TlsServer() {
  close(orders_);
  close(answers_);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::optional<std::string> TlsServer::Start(const std::string& folder) {
  folder_ = folder;
  const std::string script = absl::StrCat("mkdir -p '", folder, "' && cd '",
                                          folder, "' && ", kMakeCertificates);
  if (std::system(script.c_str()) != 0) return std::nullopt;
  WriteLine(orders_, folder);
  std::string address = ReadLine(answers_);
  if (address.empty()) return std::nullopt;
  return address;
}

std::shared_ptr<grpc::ChannelCredentials> TlsServer::ClientCredentials() const {
  return grpc::SslCredentials({TextOf(folder_ + "/ca.pem"),
                               TextOf(folder_ + "/client.key"),
                               TextOf(folder_ + "/client.pem")});
}

}  // namespace frostline::bench
