// SPDX-License-Identifier: Apache-2.0
#include "endpoint/observer.h"

namespace suede {
namespace {

constexpr StatusPage::Section kSections[] = {
    {"Ports", "ports"},   {"Instances", "instances"}, {"Planes", "planes"},
    {"Lcores", "lcores"}, {"Clients", "clients"},     {"Drops", "drops"},
};

constexpr std::string_view kScript = R"js(
function showTables(reading) {
  fill('ports', ['port', 'link', 'speed', 'received', '', 'sent', '', 'missed', 'free frames'],
       pick(reading, 'port_link_up', {}).map(({labels, value: link}) => [
         labels.port, link ? ['up', 'good'] : ['down', 'bad'],
         short(8 * value(reading, 'port_speed_bytes_per_second', labels) || NaN, 'b/s'),
         short(rate(reading, 'port_rx_frames_total', labels), 'frames/s'),
         short(8 * rate(reading, 'port_rx_bytes_total', labels), 'b/s'),
         short(rate(reading, 'port_tx_frames_total', labels), 'frames/s'),
         short(8 * rate(reading, 'port_tx_bytes_total', labels), 'b/s'),
         short(value(reading, 'port_rx_missed_total', labels)),
         short(value(reading, 'port_pool_free_frames', labels))]));
  fill('instances', ['instance', 'sent', 'received', 'in flight', 'queued', 'latency p50', 'p99',
                     'round trip p50', 'go-backs', 'planes died', 'lost'],
       pick(reading, 'inflight_pdus', {}).map(({labels}) => [
         `${labels.xpu}.${labels.instance}`,
         short(rate(reading, 'tx_commands_total', labels), 'commands/s'),
         short(rate(reading, 'rx_commands_total', labels), 'commands/s'),
         short(value(reading, 'inflight_pdus', labels)),
         short(value(reading, 'queued_pdus', labels)),
         duration(quantile(reading, 'command_latency_seconds', labels, 0.5)),
         duration(quantile(reading, 'command_latency_seconds', labels, 0.99)),
         duration(quantile(reading, 'rtt_seconds', labels, 0.5)),
         short(value(reading, 'go_back_total', labels)),
         short(value(reading, 'plane_deaths_total', labels)),
         short(value(reading, 'connections', {...labels, state: 'lost'}))]));
  fill('planes', ['plane', 'port', 'state'],
       pick(reading, 'plane_up', {}).map(({labels, value: up}) => [
         `${labels.xpu}.${labels.instance}.${labels.plane}`, labels.port,
         up ? ['up', 'good'] : ['down', 'bad']]));
  fill('lcores', ['CPU', 'busy', 'frames received', 'frames sent'],
       pick(reading, 'busy_cycles_total', {}).map(({labels}) => {
         const busy = rate(reading, 'busy_cycles_total', labels);
         const share = busy / (busy + rate(reading, 'idle_cycles_total', labels));
         return [labels.lcore, Number.isFinite(share) ? (100 * share).toFixed(1) + ' %' : '–',
                 short(rate(reading, 'rx_frames_total', labels), '/s'),
                 short(rate(reading, 'tx_frames_total', labels), '/s')];
       }));
  fill('clients', ['state', 'clients'],
       pick(reading, 'clients', {}).map(({labels, value: count}) => [labels.state, short(count)]));
  fillDrops(reading, {rx_drops_total: 'received', tx_drops_total: 'to be sent'});
}
)js";

}  // namespace

StatusPage Observer::status_page() const { return {.sections = kSections, .script = kScript}; }

}  // namespace suede
