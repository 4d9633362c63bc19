// SPDX-License-Identifier: Apache-2.0
// Records of runs (records.txt): a seed is a run, on every machine and with every compiler. A
// change of the code that is not to change behaviour leaves all records as they are.
#ifndef SUEDE_TESTS_SIM_RECORDS_H_
#define SUEDE_TESTS_SIM_RECORDS_H_

namespace suede {

// Runs a few seeds of each scenario, and one of each row of the pairs. Prints a record of each: a
// hash of the bytes, ports and times of all frames, and one of the sums of all counters.
int PrintRecords();
// Runs the same until several differ from the file's, and prints these. Returns the program's exit
// code.
int CompareRecords(const char* path);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_RECORDS_H_
