// Attribute values of any wire kind, checked against the contract.
#ifndef CHAKRAD_TRACE_READERS_CHAKRA_ET_ATTRIBUTE_VALUE_H_
#define CHAKRAD_TRACE_READERS_CHAKRA_ET_ATTRIBUTE_VALUE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "chakra/et_def.pb.h"
#include "trace/model/attributes.h"

namespace chakrad {

// False when the value is not of that type (the integer kinds are one type).
bool GetInteger(const ChakraProtoMsg::AttributeProto& attribute, __int128* value);
bool GetBool(const ChakraProtoMsg::AttributeProto& attribute, bool* value);
bool GetIntegers(const ChakraProtoMsg::AttributeProto& attribute, std::vector<int64_t>* values);

// Whether the value has the type that `info` asks for. INVALID_ARGUMENT names
// the key and both.
absl::Status CheckAttributeType(const ChakraProtoMsg::AttributeProto& attribute,
                                const AttributeInfo& info);

// The ledger's rule for a value that CheckAttributeType refuses: "attribute_range" of
// an integer where another integer is asked for, else "attribute_type".
const char* RuleOfAttribute(const ChakraProtoMsg::AttributeProto& attribute,
                            const AttributeInfo& info);

// An integer in [low, high], or INVALID_ARGUMENT naming key, value and range.
absl::Status ReadInteger(const ChakraProtoMsg::AttributeProto& attribute, int64_t low, int64_t high,
                         int64_t* value);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_CHAKRA_ET_ATTRIBUTE_VALUE_H_
