// The grid behind a mechanism of the plane, or below one of space.
import { roundLength } from "./words.js";

/** Step [m], height, and ends of lines x y x y … of a grid that reaches beyond the mechanism. */
export function gridOf({ low, high, extent, dim }) {
  const step = roundLength(extent / 9), level = low[2] - (dim === 2 ? 0.025 : 0.002) * extent, lines = [];
  const first = [0, 1].map((i) => Math.floor(low[i] / step - 7)), last = [0, 1].map((i) => Math.ceil(high[i] / step + 7));
  for (let i = first[0]; i <= last[0]; i++) lines.push(i * step, first[1] * step, i * step, last[1] * step);
  for (let j = first[1]; j <= last[1]; j++) lines.push(first[0] * step, j * step, last[0] * step, j * step);
  const reach = [0, 1].map((i) => 0.5 * (high[i] - low[i]) + 2 * step); // it fades beyond
  return { step, level, lines, reach };
}
