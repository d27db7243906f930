// Draws every chart of the page: elements of class `fx-chart` with panels in them, as flexph/report/charts.py wrote them.
import uPlot from "uplot";
import base from "uplot/dist/uPlot.min.css";
import own from "./charts.css";

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6fd1", "#8c8c8c"];
const DASHES = { line: [], dashed: [8, 5], dashdot: [8, 4, 2, 4], dotted: [2, 4], points: [] };
const NARROW = 500, PAPER = 640; // px: where labels have no room, and the width of a page of A4 between its margins
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

const numbers = (told) => {
  const bytes = Uint8Array.from(atob(told.data), (c) => c.charCodeAt(0));
  return told.kind === "f4" ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
};
const power = (value) => {
  const exponent = Math.round(Math.log10(value));
  return `10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((d) => SUPERSCRIPTS[d]).join("")}`;
};
const plain = (value) => {
  if (value == null) return "";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e6) ? value.toExponential(2).replace("e+", "e") : String(+value.toPrecision(5));
};
const isWhole = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6;

const ink = (chart) => getComputedStyle(chart.root).getPropertyValue("color");

function axis(label, isLog, rest) {
  const values = isLog
    ? (_, splits) => splits.map((v) => (v != null && v > 0 && isWhole(v) ? power(v) : ""))
    : (_, splits) => splits.map(plain);
  const line = (chart) => (matchMedia("(prefers-color-scheme: dark)").matches && !printing ? "#2a333d" : "#e3e7ec");
  return {
    label, values, labelSize: label ? 20 : 0, labelGap: 4, font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif", stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 },
    ...rest,
  };
}

function table(panel) {
  return uPlot.join(panel.curves.map((curve) => [Array.from(numbers(curve.x)), Array.from(numbers(curve.y), (v) => (Number.isFinite(v) ? v : null))]));
}

function options(panel, k, last, key, width) {
  const logX = panel.log.includes("x"), logY = panel.log.includes("y");
  const range = panel.range && [10 ** panel.range[0], 10 ** panel.range[1]];
  const many = width < NARROW;
  return {
    width, height: Math.round(panel.height) + (last ? 22 : 0),
    cursor: { sync: { key }, drag: { x: true, y: false } },
    scales: { x: { time: false, distr: logX ? 3 : 1 }, y: { distr: logY ? 3 : 1, ...(range ? { range } : {}) } },
    series: [{ label: panel.over, value: (_, v) => plain(v) }, ...panel.curves.map((curve, i) => ({
      label: curve.label || panel.label, stroke: curve.color === "black" ? ink : curve.color || COLOURS[i % COLOURS.length], width: 1.6, spanGaps: true,
      dash: DASHES[curve.style], value: (_, v) => plain(v),
      paths: curve.style === "points" ? () => null : undefined, points: { show: curve.style === "points", size: 4 },
    }))],
    axes: [
      axis(last ? panel.over : "", logX, { size: 34 }),
      axis(many ? "" : panel.label, logY, { size: (_, values) => Math.max(many ? 0 : 52, 18 + 7 * Math.max(2, ...(values || []).map((v) => v.length))) }),
    ],
    title: many ? panel.label : "",
    legend: { live: !many },
  };
}

let printing = false;
const charts = [];

function mount(element, n) {
  if (element.dataset.mounted) return;
  element.dataset.mounted = "";
  const panels = JSON.parse(element.querySelector("script").textContent);
  const group = { element, plots: [] };
  panels.forEach((panel, k) => {
    const last = k + 1 === panels.length || panels[k + 1].over !== panel.over;
    const plot = new uPlot(options(panel, k, last, `fx-${n}-${panel.over}`, element.clientWidth), table(panel), element);
    plot.over.setAttribute("role", "img");
    plot.over.setAttribute("aria-label", `${panel.label} over ${panel.over}: ${panel.curves.map((c) => c.label).join(", ")}`);
    group.plots.push(plot);
  });
  let busy = false; // one that is zoomed takes the others of its axis along
  group.plots.forEach((plot, k) => plot.hooks.setScale = [...(plot.hooks.setScale || []), (from, scale) => {
    if (scale !== "x" || busy) return;
    busy = true;
    group.plots.forEach((other, j) => {
      if (other !== from && panels[j].over === panels[k].over) other.setScale("x", { min: from.scales.x.min, max: from.scales.x.max });
    });
    busy = false;
  }]);
  charts.push(group);
  new ResizeObserver(() => resize(group)).observe(element);
}

function resize(group, width = group.element.clientWidth) {
  if (width < 50) return;
  for (const plot of group.plots) if (plot.width !== width) plot.setSize({ width, height: plot.height });
}
const redraw = () => charts.forEach((group) => group.plots.forEach((plot) => plot.redraw(false, true)));

document.head.append(Object.assign(document.createElement("style"), { textContent: base + own }));
document.querySelectorAll(".fx-chart").forEach(mount);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("beforeprint", () => { printing = true; charts.forEach((group) => resize(group, PAPER)); redraw(); });
addEventListener("afterprint", () => { printing = false; charts.forEach((group) => resize(group)); redraw(); });
