#include "server/options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "common/status_matchers.h"

namespace chakrad {
namespace {

absl::StatusOr<ParsedCommandLine> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "chakrad");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

std::string WriteConfig(const std::string& text) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/chakrad.conf";
  std::ofstream(path) << text;
  return path;
}

TEST(OptionsTest, FlagsSetWhatTheyName) {
  ASSERT_OK_AND_ASSIGN(const ParsedCommandLine parsed,
                       Parse({"--data_dir", "/d", "--listen", "127.0.0.1:0", "--workers=3",
                              "--max_pending_jobs=7", "--log_level=warning"}));
  EXPECT_EQ(parsed.options.data_dir, "/d");
  EXPECT_EQ(parsed.options.listen, "127.0.0.1:0");
  EXPECT_EQ(parsed.options.workers, 3);
  EXPECT_EQ(parsed.options.limits.pending_jobs, 7);
  EXPECT_EQ(parsed.options.log_level, LogLevel::kWarning);
  EXPECT_FALSE(parsed.exit);
}

TEST(OptionsTest, TheLastOfTwoEqualFlagsCounts) {
  ASSERT_OK_AND_ASSIGN(const ParsedCommandLine parsed,
                       Parse({"--data_dir=/a", "--data_dir=/b", "--workers=2", "--workers=3"}));
  EXPECT_EQ(parsed.options.data_dir, "/b");
  EXPECT_EQ(parsed.options.workers, 3);
}

TEST(OptionsTest, AConfigFileSaysTheSameAndFlagsWin) {
  const std::string path = WriteConfig("data_dir = /from_file\nworkers = 2\ndrain_seconds = 5\n");
  ASSERT_OK_AND_ASSIGN(const ParsedCommandLine parsed,
                       Parse({"--config", path.c_str(), "--workers", "4"}));
  EXPECT_EQ(parsed.options.data_dir, "/from_file");
  EXPECT_EQ(parsed.options.workers, 4);
  EXPECT_EQ(parsed.options.limits.drain_seconds, 5);
}

TEST(OptionsTest, AnUnknownKeyInTheFileIsAnErrorThatNamesIt) {
  const std::string path = WriteConfig("data_dir = /d\nworker = 2\n");
  EXPECT_THAT(Parse({"--config", path.c_str()}),
              StatusIs(absl::StatusCode::kInvalidArgument, "worker"));
}

TEST(OptionsTest, ErrorsNameTheFlag) {
  EXPECT_THAT(Parse({}), StatusIs(absl::StatusCode::kInvalidArgument, "--data_dir"));
  EXPECT_THAT(Parse({"--data_dir=/d", "--workers=0"}),
              StatusIs(absl::StatusCode::kInvalidArgument, "--workers"));
  EXPECT_THAT(Parse({"--data_dir=/d", "--listen=127.0.0.1:99999"}),
              StatusIs(absl::StatusCode::kInvalidArgument, "127.0.0.1:99999 is not host:port"));
  EXPECT_THAT(Parse({"--data_dir=/d", "--http_listen=bogus"}),
              StatusIs(absl::StatusCode::kInvalidArgument, "--http_listen"));
  EXPECT_THAT(Parse({"--data_dir=/d", "--prot=1"}),
              StatusIs(absl::StatusCode::kInvalidArgument, "--prot"));
}

TEST(OptionsTest, HelpAndVersionAreAnsweredAndEndTheProgram) {
  ASSERT_OK_AND_ASSIGN(const ParsedCommandLine help, Parse({"--help"}));
  EXPECT_TRUE(help.exit);
  EXPECT_NE(help.text.find("--http_listen"), std::string::npos);
  ASSERT_OK_AND_ASSIGN(const ParsedCommandLine version, Parse({"--version"}));
  EXPECT_TRUE(version.exit);
  EXPECT_EQ(version.text, "0.1.0\n");
}

TEST(OptionsTest, ReceiversMayBeSeveralEachWithItsSecret) {
  ASSERT_OK_AND_ASSIGN(
      const ParsedCommandLine parsed,
      Parse({"--data_dir=/d", "--remote_write_url=http://a/write", "--remote_write_url",
             "https://b/push", "--remote_write_bearer_token_file=-",
             "--remote_write_bearer_token_file=/token", "--remote_write_max_age=30d",
             "--history_days=0"}));
  const ServerOptions& options = parsed.options;
  EXPECT_EQ(options.remote_write_urls,
            (std::vector<std::string>{"http://a/write", "https://b/push"}));
  EXPECT_EQ(options.remote_write_bearer_token_files, (std::vector<std::string>{"-", "/token"}));
  EXPECT_EQ(options.remote_write_max_age_ms, int64_t{30} * 86'400'000);
  EXPECT_EQ(options.history_days, 0);
  const std::string path =
      WriteConfig("data_dir = /d\nremote_write_url = [\"http://a/w\", \"http://b/w\"]\n");
  ASSERT_OK_AND_ASSIGN(const ParsedCommandLine file, Parse({"--config", path.c_str()}));
  EXPECT_EQ(file.options.remote_write_urls, (std::vector<std::string>{"http://a/w", "http://b/w"}));
  EXPECT_EQ(file.options.remote_write_max_age_ms, int64_t{100} * 86'400'000);
}

TEST(OptionsTest, WrongReceiversAreRefused) {
  const auto wrong = [](std::vector<const char*> flags, const char* part) {
    flags.insert(flags.begin(), "--data_dir=/d");
    EXPECT_THAT(Parse(flags), StatusIs(absl::StatusCode::kInvalidArgument, part));
  };
  wrong({"--remote_write_url=mimir:9090"}, "http://");
  wrong({"--remote_write_url=http://u:p@h/"}, "in a file");
  wrong({"--remote_write_url=http://h/w?a", "--remote_write_url=http://h/w?b"}, "given twice");
  wrong({"--remote_write_url=http://h/w", "--remote_write_max_age=soon"}, "length of time");
  wrong({"--remote_write_url=http://h/w", "--remote_write_max_age=-1d"}, "length of time");
  wrong({"--remote_write_bearer_token_file=/t"}, "1 for 0 receivers");
  wrong({"--remote_write_url=http://h/w", "--remote_write_url=http://i/w",
         "--remote_write_basic_auth_file=/t"},
        "1 for 2 receivers");
}

}  // namespace
}  // namespace chakrad
