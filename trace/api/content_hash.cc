#include "trace/api/content_hash.h"

#include "absl/strings/str_cat.h"

namespace chakrad {

ContentHasher::ContentHasher(absl::string_view kind) {
  AddField("chakrad content 1");
  AddField(kind);
}

void ContentHasher::AddField(absl::string_view bytes) {
  hash_.Update(absl::StrCat(bytes.size(), ":"));
  hash_.Update(bytes);
}

void ContentHasher::AddNumber(int64_t number) { AddField(absl::StrCat(number)); }

void ContentHasher::AddLabels(const std::map<std::string, std::string>& labels) {
  AddNumber(static_cast<int64_t>(labels.size()));
  for (const auto& [key, value] : labels) {
    AddField(key);
    AddField(value);
  }
}

void ContentHasher::AddSettings(const ImportSettings& settings) {
  AddNumber(static_cast<int64_t>(settings.rank_by_file.size()));
  for (const auto& [file, rank] : settings.rank_by_file) {
    AddField(file);
    AddNumber(rank);
  }
  AddNumber(settings.world_size);
  AddNumber(settings.passes_count);
  AddNumber(settings.lenient ? 1 : 0);
  AddNumber(settings.repair ? 1 : 0);
}

std::string FilesContentHash(const std::map<std::string, std::string>& labels,
                             const ImportSettings& settings, bool keep_files,
                             const std::map<std::string, FileDigest>& files) {
  ContentHasher hasher("files");
  hasher.AddLabels(labels);
  hasher.AddSettings(settings);
  hasher.AddNumber(keep_files ? 1 : 0);
  hasher.AddNumber(static_cast<int64_t>(files.size()));
  for (const auto& [file, digest] : files) {
    hasher.AddField(file);
    hasher.AddNumber(digest.size_bytes);
    hasher.AddField(digest.sha256);
  }
  return hasher.Digest();
}

}  // namespace chakrad
