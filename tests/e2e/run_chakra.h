// The command line, run in process against a daemon of the test.
#ifndef CHAKRAD_TESTS_E2E_RUN_CHAKRA_H_
#define CHAKRAD_TESTS_E2E_RUN_CHAKRA_H_

#include <string>
#include <vector>

#include "client/json.h"
#include "tests/e2e/test_server.h"

namespace chakrad {

struct Ran {
  int exit_code = 0;
  std::string out, err;
  client::Json json() const { return client::Json::parse(out); }
};

// `chakra ARGS` with --server. Waits between tries are at most 20 ms.
Ran Chakra(const TestServer& server, std::vector<std::string> args);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_E2E_RUN_CHAKRA_H_
