#include "server/series/series_labels.h"

#include <algorithm>

namespace chakrad {

std::vector<SeriesLabel> LabelsOf(const SeriesKey& key, const MetricSample& sample) {
  const std::vector<absl::string_view>& names = FamilyOf(sample.id).labels;
  std::vector<SeriesLabel> labels{
      {kJobLabels[0], key.cluster},
      {kJobLabels[1], key.job},
      {kJobLabels[2], key.model},
      {kJobLabels[3], key.rank_group},
  };
  for (size_t i = 0; i < names.size(); ++i) labels.push_back({names[i], sample.label_values[i]});
  std::erase_if(labels, [](const SeriesLabel& label) { return label.value.empty(); });
  std::sort(labels.begin(), labels.end(),
            [](const SeriesLabel& a, const SeriesLabel& b) { return a.name < b.name; });
  return labels;
}

}  // namespace chakrad
