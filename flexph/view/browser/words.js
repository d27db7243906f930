// Numbers in words, and elements of the page.

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** A number with a few significant digits, as one reads it. */
export function digits(value, count = 3) {
  if (value === 0 || !Number.isFinite(value)) return "0";
  const size = Math.abs(value);
  if (size < 1e5 && size >= 1e-3) return String(+value.toPrecision(count)).replace("-", "−");
  const [mantissa, exponent] = value.toExponential(count - 1).split("e");
  return `${mantissa.replace("-", "−")}·10${[...String(+exponent)].map((letter) => RAISED[letter]).join("")}`;
}

/** 1, 2, 5 or 10 times a power of ten, near to a length. */
export function roundLength(length) {
  const power = 10 ** Math.floor(Math.log10(length)), share = length / power;
  return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

/** An element with attributes, listeners (`onclick`) and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export function makeSvg(tag, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
