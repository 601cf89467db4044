// Texts of execution traces, and reading them, for tests.
#ifndef CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_TEST_UTIL_H_
#define CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_TEST_UTIL_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "trace/readers/byte_source.h"
#include "trace/readers/pytorch_et/pytorch_et.h"
#include "trace/readers/read_options.h"

namespace chakrad {

inline absl::StatusOr<PyTorchEt> Read(absl::string_view text, Ledger* ledger,
                                      const ReadOptions& options = ReadOptions()) {
  const auto source = OpenMemorySource(text);
  return ReadPyTorchEt(source.get(), options, ledger);
}
inline absl::StatusOr<PyTorchEt> Read(absl::string_view text) {
  Ledger ledger;
  return Read(text, &ledger);
}

// Nodes 1 (process) and 2 (thread) in the flat layout, then `nodes`.
inline std::string Flat(absl::string_view nodes) {
  return absl::StrCat(
      R"({"schema":"1.0.1","pid":1,"nodes":[{"name":"thread","id":2,"parent":1,"scope":7},)", nodes,
      nodes.empty() ? "" : ",", R"({"name":"process","id":1,"parent":1}],"finish_ts":9})");
}
inline std::string FlatCall(int id, absl::string_view name, absl::string_view inputs,
                            absl::string_view shapes, absl::string_view types,
                            absl::string_view outputs) {
  return absl::StrCat(R"({"name":")", name, R"(","id":)", id, R"(,"rf_id":7,"parent":2,"inputs":)",
                      inputs, R"(,"input_shapes":)", shapes, R"(,"input_types":)", types,
                      R"(,"outputs":)", outputs, R"(,"output_shapes":[],"output_types":[]})");
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_PYTORCH_ET_ET_TEST_UTIL_H_
