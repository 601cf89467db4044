#include "storage/trace_search.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/sha256.h"
#include "common/status.h"
#include "common/utf8.h"
#include "storage/ids.h"
#include "storage/keys.h"
#include "storage/limits.h"
#include "storage/quantity_text.h"

namespace chakrad {
namespace {

// First byte of a token: a later layout gets another. (1: lists by creation only.)
constexpr char kTokenVersion = 2;
constexpr size_t kQueryHashBytes = 8;

// Where a trace stands by one field. Only one of the last three is set: by the field.
struct Place {
  enum class Group : uint8_t { kNumber = 0, kText = 1, kNone = 2 };
  Group group = Group::kNone;
  int64_t integer = 0;
  double real = 0;
  absl::string_view text;  // Of the card, or of the token.
};

int Compare(const Place& a, const Place& b) {
  if (a.group != b.group) return a.group < b.group ? -1 : 1;
  if (a.integer != b.integer) return a.integer < b.integer ? -1 : 1;
  if (a.real != b.real) return a.real < b.real ? -1 : 1;
  return a.text.compare(b.text);
}

Place PlaceOf(const TraceField& field, const TraceCard& card) {
  Place place;
  switch (field.kind()) {
    case TraceFieldKind::kText: {
      const std::string* const text = field.Text(card);
      if (text == nullptr) break;
      place.group = Place::Group::kText;
      place.text = *text;
      if (!field.is_label()) break;
      if (const std::optional<double> number = ParsePlainNumber(*text); number.has_value()) {
        place.group = Place::Group::kNumber;
        place.real = *number;
      }
      break;
    }
    case TraceFieldKind::kReal:
      if (const std::optional<double> real = field.Real(card); real.has_value()) {
        place.group = Place::Group::kNumber;
        place.real = *real;
      }
      break;
    default:
      if (const std::optional<int64_t> integer = field.Integer(card); integer.has_value()) {
        place.group = Place::Group::kNumber;
        place.integer = *integer;
      }
  }
  return place;
}

// The places of a trace, or of a token, by all keys of an order.
struct Position {
  const Place* places = nullptr;
  int64_t create_unix_ns = 0;
  absl::string_view id;
};

// Each below 0: a comes before b.
int CompareByKey(const TraceOrder::Key& key, const Place& a, const Place& b) {
  const int order = Compare(a, b);
  // What is not told stays last, whatever the direction.
  const bool has_none = a.group == Place::Group::kNone || b.group == Place::Group::kNone;
  return key.descending && !has_none ? -order : order;
}
int CompareByAge(const Position& a, const Position& b) {
  if (a.create_unix_ns != b.create_unix_ns) return a.create_unix_ns > b.create_unix_ns ? -1 : 1;
  return b.id.compare(a.id);
}
int Compare(const std::vector<TraceOrder::Key>& keys, const Position& a, const Position& b) {
  for (size_t i = 0; i < keys.size(); ++i) {
    const int order = CompareByKey(keys[i], a.places[i], b.places[i]);
    if (order != 0) return order;
  }
  return CompareByAge(a, b);
}

std::string QueryHash(const TraceFilter& filter, const TraceOrder& order) {
  return Sha256Of(absl::StrCat(filter.ToString(), std::string(1, '\0'), order.ToString()))
      .substr(0, kQueryHashBytes);
}

// --- Tokens: version, hash of the query, a place a key, creation, id ---

void AppendPlace(const Place& place, std::string* out) {
  out->push_back(static_cast<char>(place.group));
  absl::StrAppend(out, SortableInt64(place.integer),
                  SortableInt64(std::bit_cast<int64_t>(place.real)),
                  SortableInt64(static_cast<int64_t>(place.text.size())), place.text);
}

bool TakeInt64(absl::string_view* bytes, int64_t* value) {
  if (bytes->size() < sizeof(int64_t)) return false;
  *value = ParseSortableInt64(*bytes);
  bytes->remove_prefix(sizeof(int64_t));
  return true;
}

bool TakePlace(absl::string_view* bytes, Place* place) {
  if (bytes->empty() || static_cast<unsigned char>((*bytes)[0]) > 2) return false;
  place->group = static_cast<Place::Group>((*bytes)[0]);
  bytes->remove_prefix(1);
  int64_t real_bits = 0, length = 0;
  if (!TakeInt64(bytes, &place->integer) || !TakeInt64(bytes, &real_bits) ||
      !TakeInt64(bytes, &length) || length < 0 || static_cast<size_t>(length) > bytes->size()) {
    return false;
  }
  place->real = std::bit_cast<double>(real_bits);
  place->text = bytes->substr(0, static_cast<size_t>(length));
  bytes->remove_prefix(static_cast<size_t>(length));
  return place->real == place->real;  // Not a NaN, which has no place.
}

// A token that was read; its position points into it.
struct Token {
  std::string bytes;
  std::vector<Place> places;
  int64_t create_unix_ns = 0;
  absl::string_view id;

  Position position() const { return {places.data(), create_unix_ns, id}; }
};

absl::Status ParseToken(absl::string_view text, const TraceFilter& filter, const TraceOrder& order,
                        Token* token) {
  const auto bad = [] {
    return absl::InvalidArgumentError("page_token: is not one that a list returned");
  };
  if (!absl::WebSafeBase64Unescape(text, &token->bytes)) return bad();
  absl::string_view rest = token->bytes;
  if (rest.size() < 1 + kQueryHashBytes || rest[0] != kTokenVersion) return bad();
  if (rest.substr(1, kQueryHashBytes) != QueryHash(filter, order)) {
    return absl::InvalidArgumentError(
        "page_token: belongs to a list with another filter or order_by; begin again without it");
  }
  rest.remove_prefix(1 + kQueryHashBytes);
  token->places.resize(order.keys().size());
  for (Place& place : token->places) {
    if (!TakePlace(&rest, &place)) return bad();
  }
  if (!TakeInt64(&rest, &token->create_unix_ns) || rest.size() > kMaxIdBytes) return bad();
  token->id = rest;
  return absl::OkStatus();
}

// Takes traces one by one and keeps the first `count` in order, as a heap whose top is the
// last of them. Of a trace that comes after the top it looks at no more keys than it must.
class FirstTraces {
 public:
  FirstTraces(const std::vector<TraceOrder::Key>& keys, size_t count)
      : keys_(keys), count_(count), places_((count + 1) * keys.size()) {}

  // `after`: where the page before ended, or null.
  void Add(uint32_t index, const TraceCard& card, const Token* after) {
    const uint32_t slot = spare_slot_;
    size_t known = 0;  // Keys whose place in the spare slot is filled in.
    if (after != nullptr && CompareCard(card, slot, &known, after->position()) <= 0) return;
    ++offered_;
    const bool is_full = heap_.size() == count_;
    if (is_full && CompareCard(card, slot, &known, PositionOf(heap_[0])) > 0) return;
    for (; known < keys_.size(); ++known) *PlaceAt(slot, known) = PlaceOf(keys_[known].field, card);
    if (is_full) {
      std::pop_heap(heap_.begin(), heap_.end(), Before());
      spare_slot_ = heap_.back().slot;
      heap_.pop_back();
    } else {
      spare_slot_ = static_cast<uint32_t>(heap_.size()) + 1;
    }
    heap_.push_back({&card, index, slot});
    std::push_heap(heap_.begin(), heap_.end(), Before());
  }

  // Traces after the token, kept or not.
  size_t offered() const { return offered_; }

  // Indices of those that are kept, in order. Call once.
  std::vector<uint32_t> Take() {
    std::sort_heap(heap_.begin(), heap_.end(), Before());
    std::vector<uint32_t> indices;
    for (const Entry& entry : heap_) indices.push_back(entry.index);
    return indices;
  }

 private:
  struct Entry {
    const TraceCard* card;
    uint32_t index;  // In the cards.
    uint32_t slot;   // Of its places.
  };
  Place* PlaceAt(uint32_t slot, size_t key) { return &places_[slot * keys_.size() + key]; }
  Position PositionOf(const Entry& entry) const {
    return {places_.data() + entry.slot * keys_.size(), entry.card->create_unix_ns, entry.card->id};
  }
  std::function<bool(const Entry&, const Entry&)> Before() const {
    return [this](const Entry& a, const Entry& b) {
      return Compare(keys_, PositionOf(a), PositionOf(b)) < 0;
    };
  }
  // Compare of the card with `other`, filling in places of `slot` as they are needed.
  int CompareCard(const TraceCard& card, uint32_t slot, size_t* known, const Position& other) {
    for (size_t key = 0; key < keys_.size(); ++key) {
      Place* const place = PlaceAt(slot, key);
      if (key == *known) {
        *place = PlaceOf(keys_[key].field, card);
        ++*known;
      }
      const int order = CompareByKey(keys_[key], *place, other.places[key]);
      if (order != 0) return order;
    }
    return CompareByAge({nullptr, card.create_unix_ns, card.id}, other);
  }

  const std::vector<TraceOrder::Key>& keys_;
  const size_t count_;
  std::vector<Entry> heap_;
  std::vector<Place> places_;  // One slot more than entries: of the trace in question.
  uint32_t spare_slot_ = 0;
  size_t offered_ = 0;
};

}  // namespace

absl::StatusOr<TraceOrder> TraceOrder::Parse(absl::string_view text) {
  TraceOrder order;
  if (absl::StripAsciiWhitespace(text).empty()) return order;
  const auto bad = [](absl::string_view part, absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("order_by: \"", ValidUtf8(part, 64), "\": ", what));
  };
  if (text.size() > kMaxOrderByBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("order_by: ", text.size(), " bytes are more than ", kMaxOrderByBytes));
  }
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (order.keys_.size() == kMaxOrderFields) {
      return bad(part, absl::StrCat("more than ", kMaxOrderFields, " fields"));
    }
    absl::string_view name = part;
    const bool descending = absl::ConsumeSuffix(&name, " desc");
    if (!descending) absl::ConsumeSuffix(&name, " asc");
    name = absl::StripAsciiWhitespace(name);
    absl::string_view label = name;
    std::optional<TraceField> field;
    if (absl::ConsumePrefix(&label, "labels.") && !label.empty()) {
      if (label.size() >= 2 && label.front() == '"' && label.back() == '"') {
        label = label.substr(1, label.size() - 2);
      }
      field = TraceField::Label(label);
    } else {
      field = TraceField::Find(name);
    }
    if (!field.has_value()) {
      return bad(part, absl::StrCat("expected a field, with or without desc after it: one of ",
                                    TraceField::AllNames()));
    }
    for (const Key& key : order.keys_) {
      if (key.field == *field) return bad(part, "the same field twice");
    }
    order.keys_.push_back({*field, descending});
  }
  return order;
}

std::string TraceOrder::ToString() const {
  return absl::StrJoin(keys_, ",", [](std::string* out, const Key& key) {
    absl::StrAppend(out, key.field.Name(), key.descending ? " desc" : "");
  });
}

absl::StatusOr<TraceSearchPage> SearchTraces(const TraceCards& cards, const TraceFilter& filter,
                                             const TraceOrder& order, int page_size,
                                             absl::string_view page_token) {
  if (page_size < 1) {
    return absl::InvalidArgumentError(absl::StrCat("page_size: ", page_size, " is not at least 1"));
  }
  Token token;
  if (!page_token.empty()) RETURN_IF_ERROR(ParseToken(page_token, filter, order, &token));
  TraceSearchPage page;
  FirstTraces first(order.keys(), std::min(static_cast<size_t>(page_size), cards.size()));
  for (uint32_t i = 0; i < cards.size(); ++i) {
    if (!filter.Matches(*cards[i])) continue;
    ++page.total_count;
    first.Add(i, *cards[i], page_token.empty() ? nullptr : &token);
  }
  for (const uint32_t index : first.Take()) page.traces.push_back(cards[index]);
  if (first.offered() > page.traces.size()) {
    page.next_page_token = TracePageToken(filter, order, *page.traces.back());
  }
  return page;
}

std::string TracePageToken(const TraceFilter& filter, const TraceOrder& order,
                           const TraceCard& card) {
  std::string bytes(1, kTokenVersion);
  bytes += QueryHash(filter, order);
  for (const TraceOrder::Key& key : order.keys()) {
    AppendPlace(PlaceOf(key.field, card), &bytes);
  }
  absl::StrAppend(&bytes, SortableInt64(card.create_unix_ns), card.id);
  return absl::WebSafeBase64Escape(bytes);
}

}  // namespace chakrad
