// Positions and fields of parts between two rows of a scene.

/** Adds a series between two rows, times a factor, to `out`. */
export function addSeries(series, row, share, times, factor, out) {
  if (!series) return;
  const next = Math.min(row + 1, times - 1), n = out.length, { rank, step } = series;
  if (!rank) {
    const { numbers } = series, first = factor * step * (1 - share), second = factor * step * share;
    for (let j = 0; j < n; j++) out[j] += first * numbers[row * n + j] + second * numbers[next * n + j];
    return;
  }
  const { mean, modes, coefficients } = series;
  for (let j = 0; j < n; j++) out[j] += factor * step * mean[j];
  for (let r = 0; r < rank; r++) {
    const weight = factor * ((1 - share) * coefficients[row * rank + r] + share * coefficients[next * rank + r]);
    for (let j = 0; j < n; j++) out[j] += weight * modes[r * n + j];
  }
}

/** Quaternion [x, y, z, w] and place [x, y, z] of a part between two rows. */
export function poseOf(part, row, share) {
  const moves = part.times > 1, now = moves ? row : 0, next = moves ? Math.min(row + 1, part.times - 1) : 0;
  const between = (path, width, i) => (1 - share) * path[width * now + i] + share * path[width * next + i];
  const place = [0, 1, 2].map((i) => between(part.place, 3, i));
  if (!part.turn) return { turn: [0, 0, 0, 1], place };
  const turn = [0, 1, 2, 3].map((i) => between(part.turn, 4, i)), size = Math.hypot(...turn) || 1;
  return { turn: turn.map((entry) => entry / size), place };
}

/** World positions of the points of a part between two rows, its deformation times a factor; in a live run the last. */
export function positionsOf(part, row, share, factor, out = new Float32Array(3 * part.points)) {
  if (part.now) {
    const { points, deformation } = part.now;
    out.set(points);
    if (deformation && factor !== 1) for (let j = 0; j < out.length; j++) out[j] += (factor - 1) * deformation[j];
    return out;
  }
  const now = part.times > 1 ? row : 0, later = part.times > 1 ? share : 0;
  out.set(part.base);
  addSeries(part.rest, now, later, part.times, 1, out);
  addSeries(part.deformation, now, later, part.times, factor, out);
  const { turn: [x, y, z, w], place } = poseOf(part, row, share);
  const xx = 1 - 2 * (y * y + z * z), xy = 2 * (x * y - w * z), xz = 2 * (x * z + w * y);
  const yx = 2 * (x * y + w * z), yy = 1 - 2 * (x * x + z * z), yz = 2 * (y * z - w * x);
  const zx = 2 * (x * z - w * y), zy = 2 * (y * z + w * x), zz = 1 - 2 * (x * x + y * y);
  for (let j = 0; j < out.length; j += 3) {
    const a = out[j], b = out[j + 1], c = out[j + 2];
    out[j] = place[0] + xx * a + xy * b + xz * c;
    out[j + 1] = place[1] + yx * a + yy * b + yz * c;
    out[j + 2] = place[2] + zx * a + zy * b + zz * c;
  }
  return out;
}

/** Values of a field at the points of a part between two rows; a field that is null is zero. */
export function valuesOf(part, name, row, share, out = new Float32Array(part.points)) {
  if (part.now) return out.set(part.now.fields[name]), out;
  out.fill(0);
  addSeries(part.fields[name], part.times > 1 ? row : 0, part.times > 1 ? share : 0, part.times, 1, out);
  return out;
}

/** Smallest and largest value of a field over all visible parts between two rows. */
export function extremesOf(parts, name, row, share) {
  let low = Infinity, high = -Infinity;
  for (const part of parts) {
    if (!(name in part.fields)) continue;
    for (const value of valuesOf(part, name, row, share)) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : [0, 1];
}
