#include "server/ids.h"

#include <cstdint>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/limits.h"

namespace chakrad {
namespace {

bool ConsistsOf(absl::string_view text, absl::string_view others, bool upper_case) {
  for (const char c : text) {
    const bool fits = absl::ascii_islower(static_cast<unsigned char>(c)) ||
                      absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
                      (upper_case && absl::ascii_isupper(static_cast<unsigned char>(c))) ||
                      others.find(c) != absl::string_view::npos;
    if (!fits) return false;
  }
  return true;
}

std::string Quoted(absl::string_view text) {
  constexpr size_t kShown = 80;  // Enough to recognise it; a message is not a copy.
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kShown)),
                      text.size() > kShown ? "...\"" : "\"");
}

}  // namespace

std::string RandomId() {
  std::random_device device;
  const uint64_t bits = (uint64_t{device()} << 32) | device();
  return absl::StrCat(absl::Hex(bits, absl::kZeroPad16));
}

absl::StatusOr<std::string> IdFromName(absl::string_view name, absl::string_view collection,
                                       absl::string_view field) {
  absl::string_view id = name;
  if (!absl::ConsumePrefix(&id, collection) || !absl::ConsumePrefix(&id, "/") || id.empty() ||
      id.size() > 64 || !ConsistsOf(id, "-", /*upper_case=*/false)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", Quoted(name), " is not of the form ", collection, "/{id}"));
  }
  return std::string(id);
}

absl::Status CheckRequestId(absl::string_view request_id) {
  if (request_id.empty() || request_id.size() > kMaxRequestIdChars ||
      !ConsistsOf(request_id, "._-", /*upper_case=*/true)) {
    return absl::InvalidArgumentError(absl::StrCat("request_id: ", Quoted(request_id),
                                                   " is not 1 to ", kMaxRequestIdChars,
                                                   " characters of [A-Za-z0-9._-]"));
  }
  return absl::OkStatus();
}

absl::Status CheckLabels(const std::map<std::string, std::string>& labels) {
  if (labels.size() > kMaxLabels) {
    return absl::InvalidArgumentError(
        absl::StrCat("labels: ", labels.size(), " are more than ", kMaxLabels));
  }
  for (const auto& [key, value] : labels) {
    if (key.empty() || key.size() > kMaxLabelKeyBytes ||
        !absl::ascii_islower(static_cast<unsigned char>(key[0])) ||
        !ConsistsOf(key, "_.-", /*upper_case=*/false)) {
      return absl::InvalidArgumentError(absl::StrCat("labels: the key ", Quoted(key),
                                                     " is not 1 to ", kMaxLabelKeyBytes,
                                                     " characters of [a-z0-9_.-] that start with "
                                                     "a letter"));
    }
    if (value.size() > kMaxLabelValueBytes) {
      return absl::InvalidArgumentError(absl::StrCat("labels: the value of ", key, " has ",
                                                     value.size(), " bytes, more than ",
                                                     kMaxLabelValueBytes));
    }
    for (const char c : value) {
      if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
        return absl::InvalidArgumentError(
            absl::StrCat("labels: the value of ", key, " holds a control character"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace chakrad
