#include "trace/readers/cold_writer.h"

#include <gtest/gtest.h>

#include "chakra/et_def.pb.h"

namespace chakrad {
namespace {

TEST(ColdWriterTest, BytesAreThoseOfProtobuf) {
  const std::string long_text(300, 'x');
  ChakraProtoMsg::Node node;
  node.mutable_inputs()->set_values("[1]");
  node.mutable_inputs()->set_types(long_text);
  node.mutable_outputs();
  std::string cold("before");
  ColdWriter writer(&cold);
  writer.Inputs("[1]", "", long_text);
  writer.Outputs("", "", "");
  for (const int64_t value : {int64_t{0}, int64_t{-1}, int64_t{127}, int64_t{128}, INT64_MAX}) {
    ChakraProtoMsg::AttributeProto* attribute = node.add_attr();
    attribute->set_name("int");
    attribute->set_int64_val(value);
    writer.Int("int", value);
  }
  for (const uint64_t value : {uint64_t{0}, UINT64_MAX}) {
    ChakraProtoMsg::AttributeProto* attribute = node.add_attr();
    attribute->set_name("uint");
    attribute->set_uint64_val(value);
    writer.Uint("uint", value);
  }
  for (const bool value : {false, true}) {
    ChakraProtoMsg::AttributeProto* attribute = node.add_attr();
    attribute->set_name(long_text);
    attribute->set_bool_val(value);
    writer.Bool(long_text, value);
  }
  for (const double value : {0.0, -2.5}) {
    ChakraProtoMsg::AttributeProto* attribute = node.add_attr();
    attribute->set_name("double");
    attribute->set_double_val(value);
    writer.Double("double", value);
  }
  for (const std::string& value : {std::string(), long_text}) {
    ChakraProtoMsg::AttributeProto* attribute = node.add_attr();
    attribute->set_name("");
    attribute->set_string_val(value);
    writer.Text("", value);
  }
  EXPECT_EQ(cold, "before" + node.SerializeAsString());
}

}  // namespace
}  // namespace chakrad
