#include "sim/network/sender.h"

#include <tuple>

namespace chakrad {

std::vector<LinkUse> UsesOf(const Links& links, const std::vector<Sender>& senders) {
  std::vector<LinkUse> uses;
  for (size_t link = 0; link < senders.size(); ++link) {
    const Sender& sender = senders[link];
    if (sender.messages_count == 0) continue;
    const LinkEnds ends = links.EndsOf(link);
    uses.push_back({ends.dim, ends.src, ends.dst, sender.messages_count, sender.bytes,
                    sender.busy_ps, sender.queue_ps});
  }
  std::sort(uses.begin(), uses.end(), [](const LinkUse& a, const LinkUse& b) {
    return std::tie(a.dim, a.src, a.dst) < std::tie(b.dim, b.src, b.dst);
  });
  return uses;
}

}  // namespace chakrad
