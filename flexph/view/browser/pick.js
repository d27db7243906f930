// The part under the pointer, and the value of a field there.
import { Raycaster, Vector2 } from "three";
import { positionsOf, valuesOf } from "./motion.js";

/** Part that is nearest along the ray through a point of the canvas (from −1 to 1), with the value of a field or null. */
export function pick(camera, point, parts, { row, share, factor, field }) {
  const caster = new Raycaster();
  caster.setFromCamera(new Vector2(...point), camera);
  const origin = caster.ray.origin.toArray(), way = caster.ray.direction.toArray();
  let nearest = null;
  for (const part of parts) {
    const now = positionsOf(part, row, share, factor), { corners, triangles } = part;
    for (let k = 0; k < triangles.length; k += 3) {
      const ends = [corners[triangles[k]], corners[triangles[k + 1]], corners[triangles[k + 2]]];
      const hit = intersection(origin, way, now, ends);
      if (hit && (!nearest || hit.distance < nearest.distance)) nearest = { part, ends, ...hit };
    }
  }
  if (!nearest) return null;
  const { part, ends, shares } = nearest;
  if (!(field in part.fields)) return { part, value: null };
  const values = valuesOf(part, field, row, share);
  return { part, value: ends.reduce((sum, end, i) => sum + shares[i] * values[end], 0) };
}

/** Distance and barycentric shares where a ray meets a triangle, by Möller and Trumbore; null where it does not. */
function intersection(origin, way, points, [a, b, c]) {
  const x = points[3 * a], y = points[3 * a + 1], z = points[3 * a + 2];
  const ux = points[3 * b] - x, uy = points[3 * b + 1] - y, uz = points[3 * b + 2] - z;
  const vx = points[3 * c] - x, vy = points[3 * c + 1] - y, vz = points[3 * c + 2] - z;
  const px = way[1] * vz - way[2] * vy, py = way[2] * vx - way[0] * vz, pz = way[0] * vy - way[1] * vx;
  const size = ux * px + uy * py + uz * pz;
  if (size === 0) return null;
  const tx = origin[0] - x, ty = origin[1] - y, tz = origin[2] - z, second = (tx * px + ty * py + tz * pz) / size;
  if (second < 0 || second > 1) return null;
  const qx = ty * uz - tz * uy, qy = tz * ux - tx * uz, qz = tx * uy - ty * ux;
  const third = (way[0] * qx + way[1] * qy + way[2] * qz) / size, distance = (vx * qx + vy * qy + vz * qz) / size;
  if (third < 0 || second + third > 1 || distance <= 0) return null;
  return { distance, shares: [1 - second - third, second, third] };
}
