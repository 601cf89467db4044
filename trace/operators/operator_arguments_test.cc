#include "trace/operators/operator_arguments.h"

#include <gtest/gtest.h>

#include "trace/operators/test_operators.h"

namespace chakrad {
namespace {

ArgumentTexts Texts(absl::string_view shapes, absl::string_view types) {
  ArgumentTexts texts;
  texts.in_shapes = shapes;
  texts.in_types = types;
  return texts;
}

TEST(OperatorArgumentsTest, TheTextsOfAColdBlockAreFound) {
  const OpArguments arguments = {"[1]", "[[2]]", "[\"Tensor(float)\"]",
                                 "[3]", "[[4]]", "[\"Int\"]"};
  const std::string cold = ColdOf(arguments);
  const ArgumentTexts texts = TextsOfCold(cold);
  EXPECT_EQ(texts.in_values, "[1]");
  EXPECT_EQ(texts.in_shapes, "[[2]]");
  EXPECT_EQ(texts.in_types, "[\"Tensor(float)\"]");
  EXPECT_EQ(texts.out_values, "[3]");
  EXPECT_EQ(texts.out_shapes, "[[4]]");
  EXPECT_EQ(texts.out_types, "[\"Int\"]");
}

TEST(OperatorArgumentsTest, AColdBlockCutAtAnyByteIsNoFault) {
  const std::string cold =
      ColdOf({"[1]", "[[2]]", "[\"Tensor(float)\"]", "[3]", "[[4]]", "[\"Tensor(float)\"]"});
  for (size_t size = 0; size < cold.size(); ++size) {
    const ArgumentTexts texts = TextsOfCold(absl::string_view(cold).substr(0, size));
    ReadArguments(texts);
    EXPECT_TRUE(texts.in_values.empty() || texts.in_values == "[1]") << size;
  }
}

TEST(OperatorArgumentsTest, TensorsListsAndNumbersAreToldApart) {
  const auto arguments = ReadArguments(Texts("[[32, 10], [], [[4], [5, 6]], [[], []], []]",
                                             "[\"Tensor(float)\", \"Int\", "
                                             "\"GenericList[Tensor(c10::Half),Tensor(double)]\", "
                                             "\"GenericList[Int,Int]\", \"Tensor(long int)\"]"));
  ASSERT_TRUE(arguments.has_value());
  ASSERT_EQ(arguments->inputs.size(), 5u);
  EXPECT_EQ(arguments->Input(0)->elements(), 320);
  EXPECT_EQ(arguments->Input(0)->bytes(), 1280);
  EXPECT_EQ(arguments->Input(1), nullptr);
  EXPECT_TRUE(arguments->inputs[2].is_list);
  EXPECT_EQ(arguments->inputs[2].bytes(), 4 * 2 + 30 * 8);
  EXPECT_EQ(arguments->Input(2), nullptr);  // Two tensors, not one.
  EXPECT_TRUE(arguments->inputs[3].tensors.empty());
  EXPECT_EQ(arguments->Input(4)->elements(), 1);  // A scalar.
  EXPECT_EQ(arguments->Input(4)->bytes(), 8);
  EXPECT_EQ(arguments->Input(5), nullptr);
}

TEST(OperatorArgumentsTest, PythonSpellingIsTakenToo) {
  const auto arguments = ReadArguments(Texts("[[2, 3],[]]", "['Tensor(int)', 'None']"));
  ASSERT_TRUE(arguments.has_value());
  EXPECT_EQ(arguments->Input(0)->bytes(), 24);
}

TEST(OperatorArgumentsTest, AnUndefinedTensorIsNotThere) {
  const auto arguments = ReadArguments(Texts("[[]]", "[\"Tensor(nullptr (uninitialized))\"]"));
  ASSERT_TRUE(arguments.has_value());
  EXPECT_EQ(arguments->Input(0), nullptr);
  EXPECT_EQ(arguments->inputs[0].bytes(), 0);
}

TEST(OperatorArgumentsTest, WhatDoesNotFitTogetherIsNotGuessed) {
  EXPECT_FALSE(ReadArguments(Texts("", "")).has_value());
  EXPECT_FALSE(ReadArguments(Texts("[[1]]", "[\"Tensor(float)\", \"Int\"]")).has_value());
  EXPECT_FALSE(ReadArguments(Texts("[[1], []]", "[\"Tensor(float)\"]")).has_value());
  EXPECT_FALSE(ReadArguments(Texts("[[1", "[\"Tensor(float)\"]")).has_value());
  EXPECT_FALSE(ReadArguments(Texts("[[1]]", "[\"Tensor(float\"]")).has_value());
  EXPECT_FALSE(ReadArguments(Texts("[[-1]]", "[\"Tensor(float)\"]")).has_value());
  EXPECT_FALSE(ReadArguments(Texts("[[9999999999999999999]]", "[\"Tensor(float)\"]")).has_value());
  EXPECT_FALSE(ReadArguments(Texts("[[1]]", "[\"Tensor(posit16)\"]")).has_value());
  EXPECT_FALSE(ReadArguments(Texts("[[[1]]]", "[\"GenericList[Tensor(float),Tensor(float)]\"]"))
                   .has_value());
}

TEST(OperatorArgumentsTest, ElementsOfAListAreFoundByNumber) {
  constexpr absl::string_view kList = "[1, [2, 3], \"a, ]b\", None, true]";
  EXPECT_EQ(ListElement(kList, 0), "1");
  EXPECT_EQ(ListElement(kList, 1), "[2, 3]");
  EXPECT_EQ(ListElement(kList, 2), "\"a, ]b\"");
  EXPECT_EQ(ListElement(kList, 4), "true");
  EXPECT_EQ(ListElement(kList, 5), "");
  EXPECT_EQ(ListElement("[]", 0), "");
  EXPECT_EQ(ListElement("", 0), "");
  EXPECT_EQ(ListElement("[[[", 0), "");
}

}  // namespace
}  // namespace chakrad
