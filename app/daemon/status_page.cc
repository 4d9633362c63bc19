// SPDX-License-Identifier: Apache-2.0
#include "daemon/status_page.h"

#include "absl/strings/str_replace.h"
#include "base/text.h"

namespace suede {

std::string StatusPageHtml(std::string_view name, const StatusPage& own) {
  constexpr char kPage[] = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@NAME@ – suede</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="status.css">
<script src="status.js" defer></script>
</head>
<body>
<header><h1>@NAME@</h1><p id="build"></p><p id="ready"></p><p id="age"></p></header>
<main>
@SECTIONS@</main>
<footer>
<a href="metrics">metrics</a> <a href="readyz">readyz</a> <a href="healthz">healthz</a>
</footer>
<noscript>The figures are at <a href="metrics">metrics</a>.</noscript>
</body>
</html>
)html";
  std::string sections;
  for (const StatusPage::Section& section : own.sections) {
    StrAppend(&sections, "<section><h2>", section.title, "</h2><table id=\"", section.id,
              "\"></table></section>\n");
  }
  const std::string escaped = absl::StrReplaceAll(
      TextPart(name), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
  return absl::StrReplaceAll(kPage, {{"@SECTIONS@", sections}, {"@NAME@", escaped}});
}

std::string_view StatusPageStyle() {
  return R"css(:root { color-scheme: light dark; }
body { font: 15px/1.4 system-ui, sans-serif; margin: 0 auto; max-width: 75em; padding: 1em; }
header { align-items: baseline; display: flex; flex-wrap: wrap; gap: 0 1.5em; }
h1 { font-size: 1.5em; margin: 0; }
h2 { font-size: 1.1em; margin: 1.5em 0 0.3em; }
section { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #8884; padding: 0.2em 0.9em 0.2em 0; text-align: right; }
th:first-child, td:first-child { text-align: left; }
th { font-weight: 600; }
.good { color: #18794e; }
.bad { color: #c62a2f; font-weight: 600; }
footer { margin-top: 2em; }
)css";
}

namespace {

constexpr char kScript[] = R"js('use strict';
// Reads /metrics once a second and shows rates between one reading and the next.
let last = null;

function parse(text) {
  const families = new Map();
  for (const line of text.split('\n')) {
    const match = /^suede_(\w+?)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] || '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[name] = value;
    }
    if (!families.has(match[1])) families.set(match[1], []);
    families.get(match[1]).push({labels, value: Number(match[3])});
  }
  return families;
}

function pick(reading, family, labels) {
  return (reading.families.get(family) || []).filter(
      series => Object.entries(labels).every(([name, value]) => series.labels[name] === value));
}

function value(reading, family, labels = {}) {
  return pick(reading, family, labels).reduce((sum, series) => sum + series.value, 0);
}

function rate(reading, family, labels) {
  if (!last) return NaN;
  const seconds = (reading.at - last.at) / 1000;
  return (value(reading, family, labels) - value(last, family, labels)) / seconds;
}

// The bound of the bucket in which the share of the samples since the last reading ends.
function quantile(reading, family, labels, share) {
  const buckets = pick(reading, family + '_bucket', labels).map(series => ({
    bound: Number(series.labels.le.replace('+Inf', 'Infinity')),
    count: series.value - (last ? value(last, family + '_bucket', {...labels, le: series.labels.le})
                                : 0)}));
  const all = buckets.length ? buckets[buckets.length - 1].count : 0;
  const found = buckets.find(bucket => all > 0 && bucket.count >= all * share);
  return found ? found.bound : NaN;
}

function short(number, unit = '') {
  if (!Number.isFinite(number)) return '–';
  const steps = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
  for (const [size, letter] of steps) {
    if (number >= size) return (number / size).toPrecision(3) + ' ' + letter + unit;
  }
  return (Number.isInteger(number) ? number : number.toFixed(1)) + (unit ? ' ' + unit : '');
}

function duration(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  const [size, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e-3, 'ms'] : [1e-6, 'µs'];
  return '≤ ' + Number((seconds / size).toPrecision(3)) + ' ' + unit;
}

function fill(id, heads, rows) {
  const table = document.getElementById(id);
  const make = (kind, cells) => {
    const line = document.createElement('tr');
    for (const cell of cells) {
      const element = document.createElement(kind);
      const [text, mark] = Array.isArray(cell) ? cell : [cell, ''];
      element.textContent = text;
      if (mark) element.className = mark;
      line.append(element);
    }
    return line;
  };
  table.replaceChildren(make('th', heads), ...rows.map(row => make('td', row)));
}

// Shows the reasons of drops in these families; `sides`: of a family, where its frames were.
function fillDrops(reading, sides) {
  const rows = Object.entries(sides).flatMap(([family, side]) =>
      [...new Set(pick(reading, family, {}).map(({labels}) => labels.reason))]
          .filter(reason => value(reading, family, {reason}) > 0)
          .map(reason => [reason, side, short(value(reading, family, {reason})),
                          short(rate(reading, family, {reason}), '/s')]));
  fill('drops', ['reason', 'side', 'since the start', 'now'], rows);
}

function show(reading) {
  const build = pick(reading, 'build_info', {})[0];
  if (build) {
    document.getElementById('build').textContent =
        `${build.labels.version} (${build.labels.revision}), ${build.labels.dpdk_version}`;
  }
  const isReady = value(reading, 'ready') === 1;
  const ready = document.getElementById('ready');
  ready.textContent = isReady ? 'ready' : 'not ready';
  ready.className = isReady ? 'good' : 'bad';
  const up = reading.at / 1000 - value(reading, 'start_time_seconds');
  document.getElementById('age').textContent = `up ${Math.max(0, Math.round(up))} s`;

  showTables(reading);
}

async function turn() {
  try {
    const answer = await fetch('metrics', {cache: 'no-store'});
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    const reading = {at: Date.now(), families: parse(await answer.text())};
    show(reading);
    last = reading;
    document.body.dataset.readings = Number(document.body.dataset.readings || 0) + 1;
  } catch (error) {
    const ready = document.getElementById('ready');
    ready.textContent = `no answer: ${error.message}`;
    ready.className = 'bad';
  }
  setTimeout(turn, 1000);
}

turn();
)js";

}  // namespace

std::string StatusPageScript(const StatusPage& own) { return StrCat(kScript, own.script); }

}  // namespace suede
