// How strict a reader is with a file that breaks the rules of its format.
#ifndef CHAKRAD_TRACE_READERS_READ_OPTIONS_H_
#define CHAKRAD_TRACE_READERS_READ_OPTIONS_H_

namespace chakrad {

struct ReadOptions {
  // Strict: the first fault that could change a result ends the reading with
  // INVALID_ARGUMENT. Lenient: what can be left out without making something up
  // (a dependency on a node that is not there, a record that says nothing
  // usable) is left out and entered in the ledger, as a flaw or a rejection.
  // Bytes that cannot be parsed at all end the reading either way.
  bool lenient = false;
  // Bare NaN and Infinity, which JSON does not have, are taken as the numbers
  // that they stand for, strict or not: whoever repairs a file wants them.
  bool not_numbers = false;
};

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_READ_OPTIONS_H_
