#include "tests/e2e/run_chakra.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/chakra.h"
#include "client/session.h"

namespace chakrad {

Ran Chakra(const TestServer& server, std::vector<std::string> args) {
  std::ostringstream out, err;
  args.insert(args.begin(), {"--server", absl::StrCat("127.0.0.1:", server.port())});
  client::Io io;
  io.out = &out;
  io.err = &err;
  io.sleep = [](std::chrono::milliseconds delay) {
    std::this_thread::sleep_for(std::min(delay, std::chrono::milliseconds(20)));
  };
  Ran ran;
  ran.exit_code = client::RunChakra(args, io);
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

}  // namespace chakrad
