// Tar archives for tests.
#ifndef CHAKRAD_TRACE_READERS_TESTING_TAR_H_
#define CHAKRAD_TRACE_READERS_TESTING_TAR_H_

#include <cstdio>
#include <map>
#include <string>

namespace chakrad {

// One regular file of a tar archive, in the ustar layout.
inline std::string TarMember(const std::string& name, const std::string& text) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 7, "0000644");
  header.replace(108, 7, "0000000");
  header.replace(116, 7, "0000000");
  char size[12];
  snprintf(size, sizeof(size), "%011zo", text.size());
  header.replace(124, 11, size, 11);
  header.replace(136, 11, "00000000000");
  header[156] = '0';
  header.replace(257, 5, "ustar");
  header.replace(263, 2, "00");
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char checksum[8];
  snprintf(checksum, sizeof(checksum), "%06o", sum);
  header.replace(148, 7, checksum, 7);
  return header + text + std::string((512 - text.size() % 512) % 512, '\0');
}

// An archive of these files, by name.
inline std::string Tar(const std::map<std::string, std::string>& files) {
  std::string tar;
  for (const auto& [name, text] : files) tar += TarMember(name, text);
  return tar + std::string(1024, '\0');
}

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_TESTING_TAR_H_
