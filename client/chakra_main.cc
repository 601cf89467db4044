#include <unistd.h>

#include <iostream>
#include <thread>

#include "client/chakra.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  chakrad::client::Io io;
  io.out = &std::cout;
  io.err = &std::cerr;
  io.err_is_terminal = isatty(STDERR_FILENO) != 0;
  io.sleep = [](std::chrono::milliseconds delay) { std::this_thread::sleep_for(delay); };
  return chakrad::client::RunChakra({argv + 1, argv + argc}, io);
}
