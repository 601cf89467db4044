// seeds_main FOLDER: writes a target's seeds as files, for libFuzzer.
#include <fstream>
#include <iostream>

#include "tests/fuzz/fuzz_target.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: seeds FOLDER\n";
    return 2;
  }
  int number = 0;
  for (const std::string& seed : chakrad::FuzzSeeds()) {
    std::ofstream(std::string(argv[1]) + "/seed" + std::to_string(number++), std::ios::binary)
        << seed;
  }
  return 0;
}
