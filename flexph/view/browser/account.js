// The account of energy below the view: stored, work and dissipated, with the time that is shown.
import { digits, make, makeSvg } from "./words.js";

const KINDS = [
  ["stored", "change of stored", "7 5"],
  ["work", "work done", "none"],
  ["dissipated", "dissipated", "none"],
];
const WIDTH = 1000, HEIGHT = 100;

/** The strip, and a function that moves it to a time; `seek` is called with the time of a click. `set` shows another account. */
export function makeAccount(account, times, seek, all = false) {
  const kinds = KINDS.filter(([kind]) => all || kind === "stored" || account[kind].some((value) => value !== 0));
  const first = times[0], span = times[times.length - 1] - first || 1;
  const x = (time) => 8 + ((WIDTH - 16) * (time - first)) / span;
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": `account of energy over time: ${kinds.map(([, told]) => told).join(", ")}`,
  });
  const zero = makeSvg("path", { class: "fx-zero" }), balance = make("div", { class: "fx-balance" });
  const lines = [...kinds].reverse().map(([kind, , dashes]) => makeSvg("path", { class: `fx-${kind}`, "stroke-dasharray": dashes }));
  svg.append(zero, ...lines);
  const set = (next) => {
    account = next;
    const values = kinds.flatMap(([kind]) => account[kind]), top = Math.max(...values, 0), bottom = Math.min(...values, 0);
    const y = (value) => HEIGHT - 6 - ((HEIGHT - 12) * (value - bottom)) / (top - bottom || 1);
    zero.setAttribute("d", `M0 ${y(0)}H${WIDTH}`);
    [...kinds].reverse().forEach(([kind], i) => {
      const path = account[kind].map((value, k) => `${x(account.times[k]).toFixed(1)} ${y(value).toFixed(2)}`);
      lines[i].setAttribute("d", `M${path.join("L")}`);
    });
    balance.textContent = `balance closes to ${digits(account.residual, 2)} of its energy`;
  };
  set(account);
  const now = makeSvg("path", { class: "fx-now" }), keys = make("dl", { class: "fx-keys" });
  svg.append(now);
  const values = kinds.map(([kind, told]) => {
    const value = make("dd");
    keys.append(make("div", { class: "fx-key" }, make("dt", { class: `fx-${kind}` }, told), value));
    return value;
  });
  keys.append(balance);
  svg.addEventListener("pointerdown", (event) => {
    const box = svg.getBoundingClientRect(), share = ((WIDTH * (event.clientX - box.left)) / box.width - 8) / (WIDTH - 16);
    seek(first + span * Math.min(Math.max(share, 0), 1));
  });
  const show = (time) => {
    const row = rowAt(account.times, time);
    now.setAttribute("d", `M${x(time)} 0V${HEIGHT}`);
    kinds.forEach(([kind], i) => (values[i].textContent = `${digits(account[kind][row])} J`));
  };
  return { element: make("div", { class: "fx-account" }, svg, keys), show, set };
}

/** The last row whose time is not later. */
export function rowAt(times, time) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}
