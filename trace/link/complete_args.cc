#include "trace/link/complete_args.h"

namespace chakrad {
namespace {

template <typename T>
void TakeIf(bool missing, const T& from, T* to) {
  if (missing) *to = from;
}

}  // namespace

void CompleteGroup(const CommArgs& more, CommArgs* args) {
  TakeIf(args->group_name.empty(), more.group_name, &args->group_name);
  TakeIf(args->group_description.empty(), more.group_description, &args->group_description);
  TakeIf(args->group_ranks.empty(), more.group_ranks, &args->group_ranks);
  TakeIf(args->group_address == 0, more.group_address, &args->group_address);
  TakeIf(args->group_size == kNotStated, more.group_size, &args->group_size);
  if (args->global_rank_start == kNotStated) {
    args->global_rank_start = more.global_rank_start;
    args->global_rank_stride = more.global_rank_stride;
  }
}

void CompleteArgs(const CommArgs& more, CommArgs* args) {
  TakeIf(args->op.empty(), more.op, &args->op);
  if (args->in_bytes == kNotStated) {
    args->in_bytes = more.in_bytes;
    args->in_elements = more.in_elements;
  }
  if (args->out_bytes == kNotStated) {
    args->out_bytes = more.out_bytes;
    args->out_elements = more.out_elements;
  }
  TakeIf(args->dtype.empty(), more.dtype, &args->dtype);
  if (args->in_splits.empty() && args->out_splits.empty()) {
    args->in_splits = more.in_splits;
    args->out_splits = more.out_splits;
    args->splits_cut = args->splits_cut || more.splits_cut;
  }
  TakeIf(args->input_dims < 0, more.input_dims, &args->input_dims);
  CompleteGroup(more, args);
  TakeIf(args->comms_id == 0, more.comms_id, &args->comms_id);
  TakeIf(args->sequence == kNotStated, more.sequence, &args->sequence);
  if (args->peer == kNotStated) {
    args->peer = more.peer;
    args->peer_is_global = more.peer_is_global;
  }
  TakeIf(args->root == kNotStated, more.root, &args->root);
  TakeIf(args->tag == kNotStated, more.tag, &args->tag);
}

}  // namespace chakrad
