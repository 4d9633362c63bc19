// The loop of port_bench.cc on DPDK's own calls, as testpmd's txonly does it.
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

double RawNsPerFrame(const char* device, unsigned rounds);

double RawNsPerFrame(const char* device, unsigned rounds) {
  static rte_mempool* pool = nullptr;
  static uint16_t id = 0;
  if (pool == nullptr) {
    pool = rte_pktmbuf_pool_create("raw", 8192, 512, 0, 2048, SOCKET_ID_ANY);
    rte_eth_conf conf{};
    if (pool == nullptr || rte_eth_dev_get_port_by_name(device, &id) != 0 ||
        rte_eth_dev_configure(id, 1, 1, &conf) != 0 ||
        rte_eth_rx_queue_setup(id, 0, 1024, 0, nullptr, pool) != 0 ||
        rte_eth_tx_queue_setup(id, 0, 1024, 0, nullptr) != 0 || rte_eth_dev_start(id) != 0) {
      return 0;
    }
  }
  constexpr uint16_t kBurst = 32;
  rte_mbuf* mbufs[kBurst];
  const uint64_t start = rte_rdtsc();
  for (unsigned round = 0; round < rounds; ++round) {
    if (rte_pktmbuf_alloc_bulk(pool, mbufs, kBurst) != 0) return 0;
    for (rte_mbuf* mbuf : mbufs) mbuf->pkt_len = mbuf->data_len = 80;
    const uint16_t sent = rte_eth_tx_burst(id, 0, mbufs, kBurst);
    rte_pktmbuf_free_bulk(mbufs + sent, kBurst - sent);
  }
  const double cycles = static_cast<double>(rte_rdtsc() - start);
  return cycles * 1e9 / static_cast<double>(rte_get_tsc_hz()) / rounds / kBurst;
}
