#include "sim/collective/closed_forms.h"

#include <cmath>
#include <vector>

namespace chakrad {
namespace {

// Everything is written out here once more: nothing of the code under test is used.
struct Forms {
  const SystemDescription& system;
  CollectiveType type;
  int64_t n;
  bool astra;
  double chunk = 0;    // Bytes of a rank's chunk.
  int64_t chunks = 1;  // How many.
  int64_t rounds = 1;  // In which they run.

  bool reduces() const {
    return type == CollectiveType::kAllReduce || type == CollectiveType::kReduceScatter;
  }
  int64_t Round(double ns) const {
    return astra ? static_cast<int64_t>(ns) * 1000 : std::llround(ns * 1000);
  }
  int64_t D(double m) const {
    const NetworkDim& dim = system.dims[0];
    const double hops = dim.topology == TopologyKind::kSwitch ? 2 : 1;
    const double message_ns = astra ? 0 : dim.message_ns;
    return Round(message_ns + hops * dim.latency_ns + m / dim.bytes_per_ns);
  }
  int64_t G(double m) const {
    const NetworkDim& dim = system.dims[0];
    return astra ? 0 : Round(dim.message_ns + m / dim.bytes_per_ns);
  }
  int64_t P(double m) const {
    if (system.local_mem_bytes_per_ns == 0) return 0;
    const double pass_ns = m / system.local_mem_bytes_per_ns;
    return astra ? 3 * Round(pass_ns) : Round(3 * pass_ns);
  }
  int64_t e() const { return system.endpoint_delay_ns * 1000; }
  double Share(double bytes) const {
    const double share = bytes / static_cast<double>(n);
    return astra ? std::floor(share) : share;
  }
  double Message() const { return type == CollectiveType::kAllGather ? chunk : Share(chunk); }

  int64_t RingSteps() const {
    if (type == CollectiveType::kAllReduce) return 2 * (n - 1);
    return type == CollectiveType::kAllToAll ? n * (n - 1) / 2 : n - 1;
  }
  int64_t Ring() const {
    const double m = Message();
    return e() + RingSteps() * (e() + D(m)) + (reduces() ? (n - 1) * P(m) : 0);
  }
  int64_t Direct() const {
    const double m = Message();
    const int64_t half_ps = (n - 2) * G(m) + D(m) + e();
    return e() + half_ps + (reduces() ? P(m) : 0) +
           (type == CollectiveType::kAllReduce ? half_ps : 0);
  }
  std::vector<double> HalvingDoublingMessages() const {
    std::vector<double> messages;
    double m = chunk;
    for (int64_t places = 1; places < n; places *= 2) {
      if (type == CollectiveType::kAllGather) {
        messages.push_back(chunk * static_cast<double>(places));
      } else if (type == CollectiveType::kAllToAll) {
        messages.push_back(chunk / 2);
      } else {
        m = astra ? std::floor(m / 2) : m / 2;
        messages.push_back(m);
      }
    }
    const size_t levels = messages.size();
    if (type != CollectiveType::kAllReduce) return messages;
    // ASTRA-sim doubles what it has cut down, so that the way back is not always a mirror.
    for (size_t i = 0; i < levels; ++i) {
      messages.push_back(messages[levels - 1] * static_cast<double>(int64_t{1} << i));
    }
    return messages;
  }
  int64_t HalvingDoubling() const {
    const std::vector<double> messages = HalvingDoublingMessages();
    size_t levels = 0;
    while ((int64_t{1} << levels) < n) ++levels;
    int64_t sum_ps = e();
    for (const double m : messages) sum_ps += e() + D(m);
    for (size_t i = astra ? 1 : 0; reduces() && i < levels; ++i) sum_ps += P(messages[i]);
    return sum_ps;
  }
};

Forms FormsOf(const SystemDescription& system, CollectiveType type, int64_t bytes) {
  Forms forms{system, type, system.dims[0].npus_count, system.semantics == Semantics::kAstra};
  forms.chunk = static_cast<double>(bytes);
  if (!forms.astra) return forms;
  int64_t chunk = bytes / system.splits;
  if (type != CollectiveType::kAllGather && chunk < forms.n) {
    chunk = forms.n;
    bytes = system.splits * forms.n;
  }
  if (chunk == 0) chunk = 1;
  forms.chunk = static_cast<double>(chunk);
  forms.chunks = (bytes + chunk - 1) / chunk;
  forms.rounds = (forms.chunks + system.active_chunks_per_dim - 1) / system.active_chunks_per_dim;
  return forms;
}

}  // namespace

int64_t ClosedFormPs(const SystemDescription& system, CollectiveType type, AlgorithmKind kind,
                     int64_t bytes) {
  const Forms forms = FormsOf(system, type, bytes);
  if (kind == AlgorithmKind::kRing) return forms.rounds * forms.Ring();
  if (kind == AlgorithmKind::kDirect) return forms.rounds * forms.Direct();
  return forms.rounds * forms.HalvingDoubling();
}

int64_t ClosedFormSentBytes(const SystemDescription& system, CollectiveType type,
                            AlgorithmKind kind, int64_t bytes) {
  const Forms forms = FormsOf(system, type, bytes);
  const int64_t n = forms.n;
  if (kind == AlgorithmKind::kHalvingDoubling) {
    double sum = 0;
    for (const double m : forms.HalvingDoublingMessages()) sum += m;
    return forms.chunks * static_cast<int64_t>(std::floor(sum));  // Exact: n is a power of two.
  }
  int64_t steps = forms.RingSteps();
  if (kind == AlgorithmKind::kDirect && type == CollectiveType::kAllToAll) steps = n - 1;
  if (forms.astra) return forms.chunks * steps * static_cast<int64_t>(forms.Message());
  return type == CollectiveType::kAllGather ? steps * bytes : steps * bytes / n;
}

}  // namespace chakrad
