// Starting and stopping the real binary: one clear line when it cannot, exit 0
// after a drain.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "tests/e2e/test_server.h"
#include "tests/fault/daemon_process.h"

namespace chakrad {
namespace {

// The daemon ends with 1 and its last line on stderr holds `part`.
void ExpectOneLine(DaemonProcess* daemon, const std::string& part) {
  EXPECT_FALSE(daemon->WaitUntilReady());
  EXPECT_EQ(daemon->Wait(), 1);
  const std::string errors = daemon->Errors();
  ASSERT_EQ(errors.rfind("chakrad: ", 0), 0u) << errors;  // Nothing before it.
  const std::string& line = errors;
  EXPECT_NE(line.find(part), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
}

TEST(StartupTest, ATakenGrpcPortIsNamed) {
  DaemonProcess first(MakeTempFolder());
  ASSERT_TRUE(first.WaitUntilReady()) << first.Errors();
  DaemonProcess second(MakeTempFolder(), {"--listen", first.grpc_address()});
  ExpectOneLine(&second, absl::StrCat("listen: cannot listen on ", first.grpc_address()));
}

TEST(StartupTest, ATakenHttpPortIsNamed) {
  DaemonProcess first(MakeTempFolder());
  ASSERT_TRUE(first.WaitUntilReady()) << first.Errors();
  DaemonProcess second(MakeTempFolder(), {"--http_listen", first.http_address()});
  ExpectOneLine(&second, absl::StrCat("http_listen: cannot listen on ", first.http_address()));
}

TEST(StartupTest, AnAddressOfAnotherMachineIsNamed) {
  DaemonProcess daemon(MakeTempFolder(), {"--listen", "192.0.2.1:0"});
  ExpectOneLine(&daemon, "listen: cannot listen on 192.0.2.1:0");
}

TEST(StartupTest, ALockedFolderIsNamed) {
  const std::string folder = MakeTempFolder();
  DaemonProcess first(folder);
  ASSERT_TRUE(first.WaitUntilReady()) << first.Errors();
  DaemonProcess second(folder);
  ExpectOneLine(&second, absl::StrCat("data_dir: ", folder, " is in use by another process"));
}

TEST(StartupTest, AFileInsteadOfAFolderIsNamed) {
  const std::string file = MakeTempFolder() + "/file";
  std::ofstream(file) << "x";
  DaemonProcess daemon(file);
  ExpectOneLine(&daemon, file);
}

TEST(StartupTest, AWrongFlagIsExitTwo) {
  DaemonProcess daemon(MakeTempFolder(), {"--workers", "none"});
  EXPECT_FALSE(daemon.WaitUntilReady());
  EXPECT_EQ(daemon.Wait(), 2);
  EXPECT_NE(daemon.Errors().find("--workers"), std::string::npos) << daemon.Errors();
}

TEST(StartupTest, SigtermDrainsAndEndsWithZeroAndTheDataStays) {
  const std::string folder = MakeTempFolder();
  std::string name;
  {
    DaemonProcess daemon(folder);
    ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
    TestClient client;
    client.Connect(daemon.grpc_address());
    ASSERT_OK_AND_ASSIGN(const v1::Trace trace,
                         client.Upload(ReadFolder("tests/data/collected/mlp_dp/w2")));
    name = trace.name();
    daemon.Signal(SIGTERM);
    EXPECT_EQ(daemon.Wait(), 0) << daemon.Errors();
  }
  DaemonProcess daemon(folder);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Errors();
  TestClient client;
  client.Connect(daemon.grpc_address());
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> names, client.TraceNames());
  EXPECT_EQ(names, std::vector<std::string>{name});
}

}  // namespace
}  // namespace chakrad
