// A folder of one test, removed with it.
#ifndef CHAKRAD_CLIENT_TEST_FOLDER_H_
#define CHAKRAD_CLIENT_TEST_FOLDER_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace chakrad::client {

class TestFolder {
 public:
  TestFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ =
        std::filesystem::path(testing::TempDir()) / (std::string(test->test_suite_name()) + "." +
                                                     test->name() + "." + std::to_string(getpid()));
    std::filesystem::create_directories(root_);
  }
  ~TestFolder() { std::filesystem::remove_all(root_); }

  std::string Path(const std::string& name) const { return (root_ / name).string(); }
  // Returns the path.
  std::string Write(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  std::string Read(const std::string& name) const {
    std::ifstream in(root_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool Has(const std::string& name) const { return std::filesystem::exists(root_ / name); }

 private:
  std::filesystem::path root_;
};

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_TEST_FOLDER_H_
