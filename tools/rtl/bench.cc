// SPDX-License-Identifier: Apache-2.0
// Runs fifo_bench or axi_bench, without --timing. SIGINT ends the traffic. Exits with 0 after PASS,
// with 3 when a check fails.
#include <verilated.h>
#include <verilated_fst_c.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>

#include "Vbench.h"

namespace {

volatile std::sig_atomic_t is_stopped = 0;

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, [](int) { is_stopped = 1; });
  VerilatedContext context;
  context.commandArgs(argc, argv);
  context.fatalOnError(false);  // a failed check ends the loop, and the waveforms are whole
  const char* trace_option = context.commandArgsPlusMatch("trace=");
  context.traceEverOn(*trace_option != 0);
  Vbench bench(&context);
  std::unique_ptr<VerilatedFstC> trace;
  if (*trace_option != 0) {
    trace = std::make_unique<VerilatedFstC>();
    bench.trace(trace.get(), 99);
    trace->open(std::strchr(trace_option, '=') + 1);
  }
  while (!context.gotFinish() && !context.gotError()) {
    bench.clk = !bench.clk;
    bench.stop = is_stopped != 0;
    bench.eval();
    if (trace) trace->dump(context.time());
    context.timeInc(500);
  }
  bench.final();
  if (trace) trace->close();
  if (!context.gotError()) return 0;
  std::printf("bench: FAIL\n");
  return 3;
}
