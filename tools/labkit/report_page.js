// SPDX-License-Identifier: Apache-2.0
// The charts of the lab's page. `data` is what report_html.py has put beside it; Chart.js draws.
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const palette = () => data.palette.map((_, i) => css(`--c${i}`));
  const prefixes = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];

  function short(value, unit) {
    if (value === 0) return `0 ${unit}`;
    const size = Math.abs(value);
    // Only times have parts of their unit: there are no millibytes.
    const fit = unit === 's' ? prefixes : prefixes.filter(([least]) => least >= 1);
    const [by, letter] = fit.find(([least]) => size >= least * 0.9995) || fit[fit.length - 1];
    return `${Number((value / by).toPrecision(3))} ${letter}${unit}`;
  }

  // Bands of what lasts, lines of what happens: the same in every chart.
  const marks = {
    id: 'marks',
    beforeDatasetsDraw(chart) {
      const {ctx, chartArea: area, scales: {x}} = chart;
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left, area.top, area.width, area.height);
      ctx.clip();
      for (const mark of data.marks) {
        const from = x.getPixelForValue(mark.t);
        if (mark.end !== null) {
          ctx.fillStyle = css('--band');
          ctx.fillRect(from, area.top, x.getPixelForValue(mark.end) - from, area.height);
        }
        ctx.strokeStyle = css(`--${mark.severity}`);
        ctx.setLineDash(mark.source === 'lab' ? [] : [3, 3]);
        ctx.lineWidth = 1;
        for (const t of mark.end === null ? [mark.t] : [mark.t, mark.end]) {
          const at = Math.round(x.getPixelForValue(t)) + 0.5;
          ctx.beginPath();
          ctx.moveTo(at, area.top);
          ctx.lineTo(at, area.bottom);
          ctx.stroke();
        }
      }
      ctx.restore();
    },
    // The pointer's time, in every chart.
    afterDraw(chart) {
      if (pointed === null) return;
      const {ctx, chartArea: area, scales: {x}} = chart;
      const at = Math.round(x.getPixelForValue(pointed)) + 0.5;
      if (at < area.left || at > area.right) return;
      ctx.save();
      ctx.strokeStyle = css('--muted');
      ctx.beginPath();
      ctx.moveTo(at, area.top);
      ctx.lineTo(at, area.bottom);
      ctx.stroke();
      ctx.restore();
    },
    afterEvent(chart, {event}) {
      const inside = event.type !== 'mouseout' && event.x >= chart.chartArea.left && event.x <= chart.chartArea.right;
      const now = inside ? chart.scales.x.getValueForPixel(event.x) : null;
      if (now === pointed) return;
      pointed = now;
      for (const each of charts) each.draw();
    },
  };
  let pointed = null;
  let charts = [];

  function axes(unit, extra) {
    const grid = {color: css('--grid'), drawBorder: false};
    const ticks = {color: css('--muted')};
    return {
      x: {type: 'linear', min: 0, max: data.end, grid, afterFit: scale => { scale.paddingLeft = scale.paddingRight = 16; },
          ticks: {...ticks, includeBounds: false, callback: value => `${Number(value.toFixed(6))} s`}},
      // All plots begin at the same place, so that times are below each other.
      y: {beginAtZero: true, grid, afterFit: scale => { scale.width = 84; },
          ticks: {...ticks, maxTicksLimit: 6, callback: value => short(value, unit)}, ...extra},
    };
  }

  function lineChart(canvas, chart) {
    const colours = palette();
    const colour = (line, i) =>
        colours[(line.colour === undefined ? i : line.colour) % colours.length];
    const dash = (line, i) =>
        (line.dashed === undefined ? i >= colours.length : line.dashed) ? [5, 3] : [];
    const samples = line => line.v.reduce((n, value) => n + (value === null ? 0 : 1), 0);
    return new Chart(canvas, {
      type: 'line',
      data: {
        labels: chart.t,
        datasets: chart.lines.map((line, i) => ({
                                    label: line.label,
                                    data: line.v,
                                    borderColor: colour(line, i),
                                    backgroundColor: `${colour(line, i)}22`,
                                    borderWidth: 1.5,
                                    borderDash: dash(line, i),
                                    pointRadius: samples(line) < 4 ? 3 : 0,
                                    pointHitRadius: 4,
                                    spanGaps: true,
                                    fill: line.fill_to === null ? false : line.fill_to,
                                    stepped: chart.stepped,
                                  })),
      },
      plugins: [marks],
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        normalized: true,
        parsing: true,
        interaction: {mode: 'index', intersect: false},
        scales: axes(chart.unit, {}),
        plugins: {
          legend: {
            position: 'bottom',
            align: 'start',
            labels: {color: css('--text'), boxWidth: 18, boxHeight: 2, padding: 8}
          },
          tooltip: {
            callbacks: {
              title: items => items.length ? `${Number(items[0].parsed.x.toFixed(4))} s` : '',
              label: item => `${item.dataset.label}: ${short(item.parsed.y, chart.unit)}`,
            }
          },
        },
      },
    });
  }

  function eventChart(canvas) {
    const rows = data.event_rows;
    const points = severity => data.events.filter(each => each.severity === severity)
                                  .map(each => ({x: each.t, y: rows.indexOf(each.row), text: each.text}));
    return new Chart(canvas, {
      type: 'scatter',
      data: {datasets: ['info', 'warning', 'error'].map(severity => ({
        label: severity, data: points(severity), backgroundColor: css(`--${severity}`), borderColor: css(`--${severity}`),
        pointStyle: {info: 'circle', warning: 'triangle', error: 'rectRot'}[severity], pointRadius: severity === 'info' ? 3 : 5,
      }))},
      plugins: [marks],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false,
        interaction: {mode: 'point', intersect: false},
        scales: axes('', {min: -0.5, max: rows.length - 0.5, reverse: true, beginAtZero: false,
                          afterBuildTicks: scale => { scale.ticks = rows.map((_, i) => ({value: i})); },
                          ticks: {color: css('--muted'), callback: value => rows[value]}}),
        plugins: {
          legend: {position: 'bottom', align: 'start', labels: {color: css('--text'), usePointStyle: true, padding: 8}},
          tooltip: {callbacks: {label: item => `${Number(item.raw.x.toFixed(4))} s  ${item.raw.text}`}},
        },
      },
    });
  }

  function draw() {
    for (const chart of charts) chart.destroy();
    Chart.defaults.font.family = css('--font');
    Chart.defaults.font.size = 11;
    charts = [];
    const events = document.getElementById('chart-events');
    if (events) charts.push(eventChart(events));
    data.charts.forEach((chart, i) => charts.push(lineChart(document.getElementById(`chart-${i}`), chart)));
    document.body.dataset.charts = charts.length;
    document.body.dataset.points = data.charts.reduce((sum, chart) => sum + chart.t.length * chart.lines.length, 0);
  }

  draw();
  // The page of a lab that is up is read again; the browser keeps its place in it.
  if (data.refresh_s) setTimeout(() => location.reload(), data.refresh_s * 1000);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
})();
