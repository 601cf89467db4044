#include "trace/model/queue_name.h"

#include <gtest/gtest.h>

namespace chakrad {
namespace {

TEST(QueueNameTest, ADeviceThatIsNotKnownIsLeftOut) {
  EXPECT_EQ(QueueName({Queue::Kind::kHostThread, -1, 17}), "thread 17");
  EXPECT_EQ(QueueName({Queue::Kind::kDeviceStream, 2, 7}), "device 2 stream 7");
  EXPECT_EQ(QueueName({Queue::Kind::kDeviceStream, -1, 7}), "stream 7");
}

}  // namespace
}  // namespace chakrad
