// The communication that one node of a PyTorch execution trace describes.
#ifndef CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_COMM_H_
#define CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_COMM_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/readers/comm_args.h"
#include "trace/readers/comm_names.h"

namespace chakrad {

// JSON texts of the node.
struct EtArguments {
  absl::string_view inputs, input_shapes, input_types, outputs;
};

// Reuses its parsers. Not thread-safe.
class EtCommReader {
 public:
  EtCommReader();
  ~EtCommReader();

  // Fills `args` from the call's arguments, by position. INVALID_ARGUMENT when
  // a tensor's size is not a size or bytes overflow.
  absl::Status Read(const CommName& name, const EtArguments& arguments, CommArgs* args);

  // Fills one field from an attribute of record_param_comms (schema 1.1.0 and
  // later); false when the key is not one of those.
  static bool ReadAttribute(absl::string_view key, absl::string_view value, CommArgs* args);
  // Bytes from element counts and dtype, where the recorder told these.
  static absl::Status BytesFromElements(CommArgs* args);

  // Whether record_param_comms' rank argument is the caller's own, rather than
  // the root or peer.
  static bool RankArgumentIsOwn(absl::string_view op);

  // What record_param_comms gave as rank, kNotStated where there was none.
  int64_t rank_argument() const { return rank_argument_; }
  // The first input, when it is a string: the table of process_group:init.
  std::string group_table() const { return group_table_; }

 private:
  struct Parsers;
  absl::Status ReadParamComms(CommArgs* args);
  absl::Status ReadC10d(absl::string_view op, CommArgs* args);
  absl::Status ReadTensorsOnly(CommArgs* args);

  std::unique_ptr<Parsers> parsers_;
  int64_t rank_argument_ = kNotStated;
  std::string group_table_;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_COMM_H_
