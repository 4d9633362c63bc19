// SPDX-License-Identifier: Apache-2.0
// The functions of mem.h for targets.
#include <cerrno>

#include "abi.h"
#include "target_client.h"

using suede::Fail;
using suede::mem::OpenNew;

namespace {

int FailNoTarget() {
  return Fail(-EINVAL,
              "cannot use a target: suede_mem_target is NULL; take it from suede_mem_target_open");
}

}  // namespace

extern "C" {

int suede_mem_target_open(const char* name_or_path, const suede_mem_target_params* params,
                          suede_mem_target** target) {
  return OpenNew(name_or_path, params, target,
                 "cannot open: target is NULL; pass a variable's address",
                 "suede_mem_target_params.size is not set, or another version's");
}

int suede_mem_target_reconnect(suede_mem_target* target) {
  return target == nullptr ? FailNoTarget() : target->Reconnect();
}

void suede_mem_target_close(suede_mem_target* target) { delete target; }

int suede_mem_target_add_window(suede_mem_target* target, suede_mem_window* window) {
  if (target == nullptr) return FailNoTarget();
  if (window == nullptr || window->size != sizeof *window) {
    return Fail(-EINVAL, "suede_mem_window.size is not set, or another version's");
  }
  return target->AddWindow(window);
}

int suede_mem_target_remove_window(suede_mem_target* target, uint32_t id) {
  return target == nullptr ? FailNoTarget() : target->RemoveWindow(id);
}

int suede_mem_target_serve(suede_mem_target* target, uint32_t max) {
  return target == nullptr ? FailNoTarget() : target->Serve(max);
}

int suede_mem_target_wait(suede_mem_target* target, int timeout_ms) {
  return target == nullptr ? FailNoTarget() : target->Wait(timeout_ms);
}

int suede_mem_target_start(suede_mem_target* target) {
  return target == nullptr ? FailNoTarget() : target->Start();
}

int suede_mem_target_stop(suede_mem_target* target) {
  return target == nullptr ? FailNoTarget() : target->Stop();
}

int suede_mem_target_take(suede_mem_target* target, suede_mem_notice* notices, uint32_t max) {
  if (target == nullptr) return FailNoTarget();
  if (notices == nullptr && max != 0) {
    return Fail(-EINVAL, "cannot take notices: notices is NULL; pass memory of your own");
  }
  return target->Take(notices, max);
}

int suede_mem_target_get_counts(suede_mem_target* target, suede_mem_target_counts* counts) {
  if (target == nullptr) return FailNoTarget();
  if (counts == nullptr || counts->size != sizeof *counts) {
    return Fail(-EINVAL, "suede_mem_target_counts.size is not set, or another version's");
  }
  return target->GetCounts(counts);
}

}  // extern "C"
