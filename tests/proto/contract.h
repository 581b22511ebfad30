// SPDX-License-Identifier: Apache-2.0
//
// File: contract.h
//
// The wire contract as a list of facts, one a line, to be kept in
// proto/frostline.v1.lock and compared with what the .proto files say today:
//
//   field frostline.v1.Study 4 = singular enum frostline.v1.StudyState state
//
// What stands before " = " names the fact, what follows is its content. A new
// fact is an addition; a fact that is gone or says something else breaks
// somebody's client.
#ifndef FROSTLINE_TESTS_PROTO_CONTRACT_H_
#define FROSTLINE_TESTS_PROTO_CONTRACT_H_

#include <google/protobuf/descriptor.h>

#include <map>
#include <string>
#include <vector>

namespace frostline::proto {

using Contract = std::map<std::string, std::string>;

struct ContractChange {
  std::vector<std::string> breaks;     // sentences
  std::vector<std::string> additions;  // names of facts
};

// Everything the file declares, added to `contract`.
void AddFile(const google::protobuf::FileDescriptor& file, Contract* contract);

std::string FormatContract(const Contract& contract);
Contract ParseContract(const std::string& text);

// A field or enum value may go when its number is reserved; nothing else may.
ContractChange CompareContracts(const Contract& locked, const Contract& now);

}  // namespace frostline::proto

#endif  // FROSTLINE_TESTS_PROTO_CONTRACT_H_
