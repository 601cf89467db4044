// The daemon's version, as --version, logs and metrics tell it.
#ifndef CHAKRAD_SERVER_VERSION_H_
#define CHAKRAD_SERVER_VERSION_H_

namespace chakrad {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_VERSION_H_
