// ExpectSameRank(got, want) and ExpectSameTrace: column by column.
#ifndef CHAKRAD_TRACE_CODEC_RANK_MATCHERS_H_
#define CHAKRAD_TRACE_CODEC_RANK_MATCHERS_H_

#include <gtest/gtest.h>

#include "trace/model/trace.h"

namespace chakrad {

inline void ExpectSameRank(const RankTrace& got, const RankTrace& want) {
  EXPECT_EQ(got.rank, want.rank);
  EXPECT_EQ(got.base_unix_ns, want.base_unix_ns);
  EXPECT_EQ(got.schema, want.schema);
  EXPECT_EQ(got.id, want.id);
  EXPECT_EQ(got.type, want.type);
  EXPECT_EQ(got.flags, want.flags);
  EXPECT_EQ(got.queue, want.queue);
  EXPECT_EQ(got.name, want.name);
  EXPECT_EQ(got.start_ns, want.start_ns);
  EXPECT_EQ(got.dur_ns, want.dur_ns);
  EXPECT_EQ(got.work_ns, want.work_ns);
  EXPECT_EQ(got.side, want.side);
  EXPECT_EQ(got.dep_begin, want.dep_begin);
  EXPECT_EQ(got.dep_node, want.dep_node);
  EXPECT_EQ(got.dep_kind, want.dep_kind);
  EXPECT_EQ(got.gap_node, want.gap_node);
  EXPECT_EQ(got.gap_ns, want.gap_ns);
  EXPECT_EQ(got.queues, want.queues);
  EXPECT_TRUE(got.comm == want.comm);
  EXPECT_TRUE(got.work_size == want.work_size);
  EXPECT_TRUE(got.groups == want.groups);
  ASSERT_EQ(got.strings.size(), want.strings.size());
  for (uint32_t i = 0; i < want.strings.size(); ++i) {
    EXPECT_EQ(got.strings.Get(i), want.strings.Get(i));
  }
  EXPECT_EQ(got.cold, want.cold);
  EXPECT_EQ(got.cold_begin, want.cold_begin);
  EXPECT_EQ(got.file_cold, want.file_cold);
}

inline void ExpectSameTrace(const Trace& got, const Trace& want) {
  EXPECT_EQ(got.world_size, want.world_size);
  EXPECT_EQ(got.labels, want.labels);
  EXPECT_TRUE(got.groups == want.groups);
  ASSERT_EQ(got.ranks.size(), want.ranks.size());
  for (size_t i = 0; i < want.ranks.size(); ++i) ExpectSameRank(got.ranks[i], want.ranks[i]);
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_CODEC_RANK_MATCHERS_H_
