// SPDX-License-Identifier: Apache-2.0
//
// File: list_items.h
//
// A list is a message with repeated fields of messages, or a Struct with lists.
// Their items follow each other, those of a Struct in the order of its keys.
#ifndef FROSTLINE_CLI_VIEW_LIST_ITEMS_H_
#define FROSTLINE_CLI_VIEW_LIST_ITEMS_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace frostline::cli {

// They live as long as the list.
std::vector<const google::protobuf::Message*> ItemsOf(
    const google::protobuf::Message& list);

// The same list with the items of these places alone, in this order.
std::unique_ptr<google::protobuf::Message> WithItems(
    const google::protobuf::Message& list,
    const std::vector<std::size_t>& places);

// Its `name`, else its `id`, else its `sha256`; "" where it has none.
std::string NameOfItem(const google::protobuf::Message& item);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_LIST_ITEMS_H_
