#include "trace/codec/column_coding.h"

#include "absl/strings/str_cat.h"
#include "trace/codec/chunk.pb.h"

namespace chakrad {

void GroupToProto(const ProcessGroup& group, codec::Group* record) {
  record->set_name(group.name);
  record->set_description(group.description);
  int64_t last = 0;
  for (int32_t rank : group.ranks) {
    record->add_rank_delta(rank - last);
    last = rank;
  }
}

absl::Status GroupFromProto(const codec::Group& record, ProcessGroup* group) {
  group->name = record.name();
  group->description = record.description();
  group->ranks.reserve(record.rank_delta_size());
  int64_t last = 0;
  for (int64_t delta : record.rank_delta()) {
    last = WrapAdd(last, delta);
    if (last < INT32_MIN || last > INT32_MAX) {
      return absl::DataLossError(
          absl::StrCat("group ", record.name(), ": member ", last, " is not a 32-bit number"));
    }
    group->ranks.push_back(static_cast<int32_t>(last));
  }
  return absl::OkStatus();
}

}  // namespace chakrad
