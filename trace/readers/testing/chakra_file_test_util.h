// Chakra files from messages in protobuf's text form, for tests.
#ifndef CHAKRAD_TRACE_READERS_TESTING_CHAKRA_FILE_TEST_UTIL_H_
#define CHAKRAD_TRACE_READERS_TESTING_CHAKRA_FILE_TEST_UTIL_H_

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chakra/et_def.pb.h"

namespace chakrad {

inline std::string WithLength(const std::string& message) {
  std::string bytes;
  size_t size = message.size();
  for (; size >= 0x80; size >>= 7) bytes.push_back(static_cast<char>(size | 0x80));
  bytes.push_back(static_cast<char>(size));
  return bytes + message;
}

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// GlobalMetadata and nodes, each in text form.
inline std::string ChakraFile(const std::string& metadata, const std::vector<std::string>& nodes) {
  std::string file =
      WithLength(FromText<ChakraProtoMsg::GlobalMetadata>(metadata).SerializeAsString());
  for (const std::string& node : nodes) {
    file += WithLength(FromText<ChakraProtoMsg::Node>(node).SerializeAsString());
  }
  return file;
}

// The messages of a file that is known to be good.
inline std::vector<std::string> MessagesOf(const std::string& file) {
  std::vector<std::string> messages;
  for (size_t at = 0; at < file.size();) {
    size_t size = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(file[at++]);
      size |= static_cast<size_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) break;
    }
    messages.push_back(file.substr(at, size));
    at += size;
  }
  return messages;
}

// Of a file that starts with it.
inline ChakraProtoMsg::GlobalMetadata MetadataOf(const std::string& file) {
  ChakraProtoMsg::GlobalMetadata metadata;
  EXPECT_TRUE(metadata.ParseFromString(MessagesOf(file).at(0)));
  return metadata;
}

// The nodes of a file that starts with GlobalMetadata.
inline std::vector<ChakraProtoMsg::Node> NodesOf(const std::string& file) {
  const std::vector<std::string> messages = MessagesOf(file);
  std::vector<ChakraProtoMsg::Node> nodes;
  for (size_t i = 1; i < messages.size(); ++i) {
    EXPECT_TRUE(nodes.emplace_back().ParseFromString(messages[i]));
  }
  return nodes;
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_TESTING_CHAKRA_FILE_TEST_UTIL_H_
