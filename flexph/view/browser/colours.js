// Maps of colours, and those of the paper.
import { Color } from "three";

export const PAPER = { light: { grid: "#b4bec8", shadow: 0.22 }, dark: { grid: "#3b4753", shadow: 0.5 } };

/** A function from a share between 0 and 1 to a colour between given ones at equal distances. */
export function colourMap(stops) {
  const colours = stops.map((stop) => new Color(stop));
  return (share, out = new Color()) => {
    const at = Math.min(Math.max(share, 0), 1) * (colours.length - 1), k = Math.min(Math.floor(at), colours.length - 2);
    return out.copy(colours[k]).lerp(colours[k + 1], at - k);
  };
}

/** A gradient of CSS through a map. */
export function gradient(map, direction) {
  const stops = Array.from({ length: 17 }, (_, k) => `#${map(k / 16).getHexString()}`);
  return `linear-gradient(${direction},${stops.join(",")})`;
}
