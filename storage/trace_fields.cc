#include "storage/trace_fields.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "storage/text_match.h"

namespace chakrad {

struct TraceFieldInfo {
  const char* name;
  TraceFieldKind kind;
  std::optional<int64_t> (*integer)(const TraceCard& card) = nullptr;
  std::optional<double> (*real)(const TraceCard& card) = nullptr;
};

namespace {

using Kind = TraceFieldKind;

template <auto kMember>
std::optional<int64_t> Whole(const TraceCard& card) {
  return static_cast<int64_t>(card.*kMember);
}
// 0 means that the trace does not tell.
template <auto kMember>
std::optional<int64_t> WholeOrNone(const TraceCard& card) {
  if (card.*kMember == 0) return std::nullopt;
  return card.*kMember;
}
template <auto kMember>
std::optional<double> Share(const TraceCard& card) {
  if (!card.breakdown.has_value()) return std::nullopt;
  return (*card.breakdown).*kMember;
}
// Traces from before the conformance suite have no score; a real one is 0 only with errors.
std::optional<double> Quality(const TraceCard& card) {
  if (card.quality == 0 && card.errors_count == 0) return std::nullopt;
  return card.quality;
}

constexpr TraceFieldInfo kFields[] = {
    {"id", Kind::kText},
    {"create_time", Kind::kTime, Whole<&TraceCard::create_unix_ns>},
    {"start_time", Kind::kTime, WholeOrNone<&TraceCard::start_unix_ns>},
    {"end_time", Kind::kTime, WholeOrNone<&TraceCard::end_unix_ns>},
    {"span", Kind::kDuration, WholeOrNone<&TraceCard::span_ns>},
    {"world_size", Kind::kCount, Whole<&TraceCard::world_size>},
    {"ranks_count", Kind::kCount, Whole<&TraceCard::ranks_count>},
    {"nodes_count", Kind::kCount, Whole<&TraceCard::nodes_count>},
    {"errors_count", Kind::kCount, Whole<&TraceCard::errors_count>},
    {"warnings_count", Kind::kCount, Whole<&TraceCard::warnings_count>},
    {"stored_bytes", Kind::kSize, Whole<&TraceCard::stored_bytes>},
    {"pinned", Kind::kBool, Whole<&TraceCard::pinned>},
    {"damaged", Kind::kBool, Whole<&TraceCard::damaged>},
    {"quality", Kind::kReal, nullptr, Quality},
    {"compute_ratio", Kind::kReal, nullptr, Share<&TraceBreakdown::compute_ratio>},
    {"comm_ratio", Kind::kReal, nullptr, Share<&TraceBreakdown::comm_ratio>},
    {"exposed_comm_ratio", Kind::kReal, nullptr, Share<&TraceBreakdown::exposed_comm_ratio>},
    {"exposed_memory_ratio", Kind::kReal, nullptr, Share<&TraceBreakdown::exposed_memory_ratio>},
    {"idle_ratio", Kind::kReal, nullptr, Share<&TraceBreakdown::idle_ratio>},
    {"worst_exposed_comm_ratio", Kind::kReal, nullptr,
     Share<&TraceBreakdown::worst_exposed_comm_ratio>},
};

bool IsPlainKey(absl::string_view key) {
  for (const char c : key) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') {
      return false;
    }
  }
  return !key.empty();
}

}  // namespace

std::optional<TraceField> TraceField::Find(absl::string_view name) {
  if (name == "name") name = "id";
  for (const TraceFieldInfo& info : kFields) {
    if (name == info.name) return TraceField(&info, "");
  }
  return std::nullopt;
}

TraceField TraceField::Label(absl::string_view key) { return TraceField(nullptr, key); }

std::string TraceField::AllNames() {
  std::string names = "labels.KEY";
  for (const TraceFieldInfo& info : kFields) absl::StrAppend(&names, ", ", info.name);
  return names;
}

TraceFieldKind TraceField::kind() const { return is_label() ? Kind::kText : info_->kind; }

std::string TraceField::Name() const {
  if (!is_label()) return info_->name;
  return absl::StrCat("labels.", IsPlainKey(label_) ? label_ : QuotedText(label_));
}

const std::string* TraceField::Text(const TraceCard& card) const {
  if (!is_label()) return &card.id;
  const auto it = card.labels.find(label_);
  return it == card.labels.end() ? nullptr : &it->second;
}

std::optional<int64_t> TraceField::Integer(const TraceCard& card) const {
  return info_->integer(card);
}

std::optional<double> TraceField::Real(const TraceCard& card) const { return info_->real(card); }

}  // namespace chakrad
