#include "server/remote_write/classify_answer.h"

#include <gtest/gtest.h>

#include "common/status_matchers.h"

namespace chakrad {
namespace {

AnswerKind KindOf(int status, const char* text) {
  return ClassifyAnswer({.status = status, .text = text});
}

TEST(ClassifyAnswerTest, EachAnswerHasOneMeaning) {
  EXPECT_EQ(KindOf(200, ""), AnswerKind::kTaken);
  EXPECT_EQ(KindOf(204, ""), AnswerKind::kTaken);
  EXPECT_EQ(KindOf(0, "Couldn't connect to server"), AnswerKind::kBusy);
  EXPECT_EQ(KindOf(429, "too old"), AnswerKind::kBusy);
  EXPECT_EQ(KindOf(500, "write to WAL: no space left on device"), AnswerKind::kBusy);
  EXPECT_EQ(KindOf(503, "out of bounds"), AnswerKind::kBusy);
  EXPECT_EQ(KindOf(500, "too old sample"), AnswerKind::kBadTime);
  EXPECT_EQ(KindOf(400, "out of order sample"), AnswerKind::kBadTime);
  EXPECT_EQ(KindOf(400, "Out of bounds"), AnswerKind::kBadTime);
  EXPECT_EQ(KindOf(422, "(err-mimir-sample-timestamp-too-old)"), AnswerKind::kBadTime);
  EXPECT_EQ(KindOf(400, "duplicate sample for timestamp"), AnswerKind::kBadSample);
  EXPECT_EQ(KindOf(409, ""), AnswerKind::kBadSample);
  EXPECT_EQ(KindOf(413, ""), AnswerKind::kTooLarge);
  for (const int status : {301, 307, 401, 403, 404, 405, 418}) {
    EXPECT_EQ(KindOf(status, "too old"), AnswerKind::kShutOut) << status;
  }
}

TEST(ClassifyAnswerTest, OutOfOrderIsNotTooOld) {
  const auto only = [](const char* text) {
    return IsOnlyOutOfOrder({.status = 400, .text = text});
  };
  EXPECT_TRUE(only("out of order sample"));
  EXPECT_TRUE(only("duplicate sample for timestamp"));
  EXPECT_TRUE(only("(err-mimir-sample-out-of-order)"));
  EXPECT_FALSE(only("too old sample"));
  EXPECT_FALSE(only("out of bounds"));
  EXPECT_FALSE(only("what is this?"));
  // Mimir's words for one behind the window.
  EXPECT_FALSE(only("a sample beyond the out-of-order time window (err-mimir-sample-too-old)"));
}

TEST(ClassifyAnswerTest, AddressesAreCheckedAndSecretsStayOutOfNames) {
  EXPECT_THAT(CheckReceiverUrl("http://127.0.0.1:9090/api/v1/write"), IsOk());
  EXPECT_THAT(CheckReceiverUrl("https://mimir.example/push?a=b"), IsOk());
  for (const char* url : {"", "mimir:9090", "ftp://x/y", "http://", "http:///path", "http://a b/",
                          "http://a\r\nX: y/"}) {
    EXPECT_THAT(CheckReceiverUrl(url), StatusIs(absl::StatusCode::kInvalidArgument, url)) << url;
  }
  const absl::Status with_user = CheckReceiverUrl("http://me:secret@host/");
  EXPECT_THAT(with_user, StatusIs(absl::StatusCode::kInvalidArgument, "in a file"));
  EXPECT_EQ(std::string(with_user.message()).find("secret"), std::string::npos);
  for (const char* url : {"ftp://h/write?token=secret", "http://?token=secret", "me:secret@host"}) {
    const absl::Status status = CheckReceiverUrl(url);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "")) << url;
    EXPECT_EQ(std::string(status.message()).find("secret"), std::string::npos) << url;
  }
  EXPECT_EQ(ReceiverName("http://h/write?token=1"), "http://h/write");
}

}  // namespace
}  // namespace chakrad
