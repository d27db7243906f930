// The camera: at the smallest distance from which all that ever moves is in view.
import { PerspectiveCamera, Vector3 } from "three";
import { positionsOf } from "./motion.js";

const FILLED = 0.92; // share of the height and width that the motion may fill
const SAMPLES = 24; // times, and points of each part, that are looked at

/** Corners of the box in which all has moved so far. */
function cornersOf({ low, high }) {
  const ends = [low, high];
  return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => new Vector3(...[0, 1, 2].map((i) => ends[(k >> i) & 1][i])));
}

export function makeCamera(scene) {
  const camera = new PerspectiveCamera(28, 1, 0.01 * scene.extent, 60 * scene.extent);
  if (scene.dim === 3) camera.up.set(0, 0, 1);
  return camera;
}

/** Moves camera and target so that the points of some parts stay in view; returns width over height of what is seen. */
export function fitCamera(camera, target, scene, parts, factor) {
  const away = (scene.dim === 2 ? new Vector3(0.1, -0.34, 1) : new Vector3(0.5, -1, 0.52)).normalize();
  const right = new Vector3().crossVectors(camera.up, away).normalize(), up = new Vector3().crossVectors(away, right);
  const points = sampled(scene, parts, factor).map((p) => [p.dot(right), p.dot(up), p.dot(away)]);
  const tall = Math.tan((camera.fov * Math.PI) / 360) * FILLED, wide = tall * camera.aspect;
  const centre = new Vector3(...scene.middle), at = [centre.dot(right), centre.dot(up), centre.dot(away)];
  let distance = scene.extent, low, high;
  for (let pass = 0; pass < 6; pass++) {
    distance = 1e-9 * scene.extent;
    for (const [x, y, z] of points) {
      distance = Math.max(distance, Math.abs(x - at[0]) / wide + z - at[2], Math.abs(y - at[1]) / tall + z - at[2]);
    }
    low = [Infinity, Infinity];
    high = [-Infinity, -Infinity];
    for (const point of points) {
      for (const i of [0, 1]) {
        const slope = (point[i] - at[i]) / Math.max(distance - (point[2] - at[2]), 1e-9 * scene.extent);
        low[i] = Math.min(low[i], slope);
        high[i] = Math.max(high[i], slope);
      }
    }
    for (const i of [0, 1]) at[i] += 0.5 * (low[i] + high[i]) * distance;
  }
  target.set(0, 0, 0).addScaledVector(right, at[0]).addScaledVector(up, at[1]).addScaledVector(away, at[2]);
  camera.position.copy(target).addScaledVector(away, distance);
  return (high[0] - low[0]) / Math.max(high[1] - low[1], 1e-9);
}

function sampled(scene, parts, factor) {
  if (scene.live) return cornersOf(scene);
  const points = [], rows = scene.times.length, stride = Math.max(1, Math.floor(rows / SAMPLES));
  for (const part of parts) {
    const every = 3 * Math.max(1, Math.floor(part.points / SAMPLES));
    for (let row = 0; row < part.times; row += stride) {
      const now = positionsOf(part, row, 0, factor);
      for (let j = 0; j < now.length; j += every) points.push(new Vector3(now[j], now[j + 1], now[j + 2]));
    }
  }
  return points.length ? points : [new Vector3(...scene.low), new Vector3(...scene.high)];
}
