// `chakra`, the command line, as a function: tests run it in process.
#ifndef CHAKRAD_CLIENT_CHAKRA_H_
#define CHAKRAD_CLIENT_CHAKRA_H_

#include <string>
#include <vector>

#include "client/session.h"

namespace chakrad::client {

// Runs one command; `args` without the program's name. Returns an ExitCode;
// errors are one line on `io.err`.
int RunChakra(const std::vector<std::string>& args, const Io& io);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_CHAKRA_H_
