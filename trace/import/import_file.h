// One file of an upload.
#ifndef CHAKRAD_TRACE_IMPORT_IMPORT_FILE_H_
#define CHAKRAD_TRACE_IMPORT_IMPORT_FILE_H_

#include <string>

namespace chakrad {

struct ImportFile {
  std::string name;  // As the user knows it; for messages, ledgers, ranks in names.
  std::string path;  // Where its bytes lie.
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_IMPORT_IMPORT_FILE_H_
