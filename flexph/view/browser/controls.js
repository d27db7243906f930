// Controls above and below the view. Each tells the view what the reader chose: `choose(name, value)`.
import { gradient } from "./colours.js";
import { digits, make } from "./words.js";

const FACTORS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], SPEEDS = [0.25, 0.5, 1, 2, 4];
const MARKS = 5; // numbers beside a bar of colours

export function select(label, told, choices, chosen, change) {
  const options = choices.map(([value, word]) => make("option", { value, selected: value === chosen }, word));
  const list = make("select", { "aria-label": label, onchange: (event) => change(event.target.value) }, ...options);
  return told ? make("label", {}, make("span", {}, told), list) : list;
}

function toggle(label, told, pressed, change) {
  return make("button", {
    type: "button",
    "aria-pressed": String(pressed),
    title: told,
    onclick: ({ currentTarget: button }) => {
      const now = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(now));
      change(now);
    },
  }, label);
}

/** The head: title, field in colour, factor of the deformation, forces, parts, and the way back to the first view. */
export function makeHead(scene, state, choose) {
  const head = make("div", { class: "fx-head" }, make("h2", {}, scene.title)), names = Object.keys(scene.fields);
  if (names.length) {
    const fields = [...names.map((name) => [name, name]), ["", "no colours"]];
    head.append(select("field in colour", "Colour", fields, state.field ?? "", (name) => choose("field", name || null)));
    if (scene.times.length > 1) {
      const ranges = [["run", "whole run"], ["instant", "this instant"]];
      head.append(select("range of the colours", "Range", ranges, state.range, (range) => choose("range", range)));
    }
  }
  if (scene.parts.some((part) => part.deformation || part.deforms)) {
    const factors = factorsOf(scene).map((factor) => [factor, factor === 0 ? "none" : `× ${digits(factor)}`]);
    head.append(select("factor of the deformation", "Deformation", factors, state.factor, (factor) => choose("factor", +factor)));
  }
  if (scene.parts.some((part) => part.kind === "arrow")) {
    head.append(toggle("Forces", "show forces as arrows (F)", state.forces, (forces) => choose("forces", forces)));
  }
  const named = [...new Set(scene.parts.filter((part) => part.kind !== "arrow").map((part) => part.name))];
  const boxes = named.map((name) => make("label", {}, make("input", {
    type: "checkbox",
    checked: true,
    onchange: (event) => choose("part", { name, shown: event.target.checked }),
  }), name));
  const home = { type: "button", "aria-label": "first view", title: "back to the first view (R)", onclick: () => choose("view") };
  head.append(
    make("details", { class: "fx-parts" }, make("summary", {}, "Parts"), make("div", {}, ...boxes)),
    make("button", home, "⌂"),
  );
  return head;
}

/** Factors that draw the largest deformation so that it is a small part of the scene. */
function factorsOf(scene) {
  const largest = Math.max(...scene.parts.map((part) => largestOf(part.deformation)), 0);
  const sensible = FACTORS.filter((factor) => factor <= 1 || factor * largest <= 0.15 * scene.extent);
  return [...new Set([...sensible, scene.scale])].sort((a, b) => a - b);
}

function largestOf(series) {
  if (!series) return 0;
  const sizes = (numbers) => numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  if (!series.rank) return series.step * sizes(series.numbers);
  const { rank, modes, coefficients, mean, step } = series, n = mean.length;
  let most = step * sizes(mean);
  for (let r = 0; r < rank; r++) {
    const weights = coefficients.filter((_, k) => k % rank === r);
    most = Math.max(most, sizes(weights) * sizes(modes.subarray(r * n, (r + 1) * n)));
  }
  return most;
}

/** Play, time and speed. `show` puts the row and the words of a time into it. */
export function makeTime(scene, seconds, choose) {
  const rows = scene.times.length, span = scene.times[rows - 1] - scene.times[0] || 1;
  const play = make("button", { type: "button", class: "fx-play", onclick: () => choose("playing") });
  const slider = make("input", {
    type: "range", min: 0, max: rows - 1, step: "any", "aria-label": "time", oninput: () => choose("row", +slider.value),
  });
  const pace = (speed) => {
    const rate = (span * speed) / seconds;
    if (scene.unit !== "s") return `× ${speed}`;
    if (rate > 0.95 && rate < 1.05) return "real time";
    return rate < 1 ? `${digits(1 / rate, 2)}× slower` : `${digits(rate, 2)}× faster`;
  };
  const speeds = select("speed", "", SPEEDS.map((speed) => [speed, pace(speed)]), 1, (speed) => choose("speed", +speed));
  const clock = make("output");
  const element = make("div", { class: "fx-time" }, play, slider, make("div", { class: "fx-clock" }, clock, speeds));
  const show = (row, words) => {
    clock.textContent = words;
    slider.value = row;
    slider.setAttribute("aria-valuetext", words);
  };
  const showPlaying = (playing) => {
    play.textContent = playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", playing ? "pause" : "play");
  };
  return { element, show, showPlaying };
}

/** The bar of colours. `show` fills it for a field, `setLimits` puts other numbers beside it. */
export function makeBar() {
  const element = make("div", { class: "fx-bar", hidden: true });
  const show = (name, field, map, narrow) => {
    element.hidden = !field;
    if (!field) return element.replaceChildren();
    const places = Array.from({ length: MARKS }, (_, k) => (100 * k) / (MARKS - 1));
    const marks = places.map((place) => make("i", { style: `${narrow ? "left" : "bottom"}:${place}%` }));
    const background = `background:${gradient(map, narrow ? "to right" : "to top")}`;
    const unit = make("span", {}, field.unit ? `[${field.unit}]` : "");
    element.replaceChildren(
      make("div", { class: "fx-name" }, name, " ", unit),
      make("div", { class: "fx-scale", role: "img", style: background }, ...marks),
    );
  };
  const setLimits = (name, field, low, high) => {
    const scale = element.querySelector(".fx-scale");
    const told = (value) => digits(value * field.factor);
    scale.querySelectorAll("i").forEach((mark, k) => (mark.textContent = told(low + (k / (MARKS - 1)) * (high - low))));
    scale.setAttribute("aria-label", `colours of ${name} from ${told(low)} to ${told(high)} ${field.unit}`);
  };
  return { element, show, setLimits };
}
