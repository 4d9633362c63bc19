// SPDX-License-Identifier: Apache-2.0
// Random numbers of a module of the examples, which includes this. +seed determines them.

  longint unsigned random_state;

  // `salt` makes them the module's own.
  task automatic start_random(int salt);
    int unsigned seed;
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    random_state = 64'(seed) * 64'd2654435761 + 64'(salt) * 64'd40503 + 64'd88172645463325252;
  endtask

  function automatic longint unsigned after(longint unsigned x);
    // verilator no_inline_task
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
  endfunction

  // Returns 0 to bound - 1.
  function automatic int unsigned random(int unsigned bound);
    random_state = after(random_state);
    return 32'(random_state >> 32) % bound;
  endfunction

  // Odds of 0 mean never.
  function automatic bit one_in(int unsigned odds);
    return odds != 0 && random(odds) == 0;
  endfunction
