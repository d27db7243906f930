// A scene drawn back to front on a 2-D canvas, where no graphics card draws it.
import { Color, Vector3 } from "three";
import { PAPER } from "./colours.js";
import { gridOf } from "./grid.js";
import { positionsOf, valuesOf } from "./motion.js";

export class CanvasStage {
  constructor(canvas, scene) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.scene = scene;
    this.grid = gridOf(scene);
    this.light = new Vector3(0.3, scene.dim === 2 ? 0.5 : -0.4, 0.8).normalize();
    this.parts = scene.parts.map((part) => ({ part, sense: Math.sign(volumeOf(part)) || 1, now: undefined, values: undefined }));
  }

  setTheme(colours, theme) {
    this.colours = Object.fromEntries(Object.entries(colours).map(([kind, colour]) => [kind, new Color(colour)]));
    this.paper = PAPER[theme];
  }

  setField(name, map, low, high) {
    Object.assign(this, { field: name, map, low, high: high > low ? high : low + 1 });
  }

  resize(width, height, dots) {
    this.canvas.width = Math.round(width * dots);
    this.canvas.height = Math.round(height * dots);
  }

  keepPace() {
    return false;
  }

  regrow(scene) {
    this.grid = gridOf(scene);
  }

  dispose() {}

  draw(camera, { row, share, factor, shown }) {
    const triangles = [];
    camera.updateMatrixWorld();
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.drawGrid(camera);
    for (const own of this.parts) {
      if (!shown(own.part)) continue;
      own.now = positionsOf(own.part, row, share, factor, own.now);
      if (this.field in own.part.fields) own.values = valuesOf(own.part, this.field, row, share, own.values);
      this.collect(own, camera, triangles);
    }
    triangles.sort((a, b) => b.depth - a.depth);
    for (const triangle of triangles) this.fill(triangle);
  }

  /** Triangles of a part that face the reader, with their places on the canvas. */
  collect({ part, sense, now, values }, camera, triangles) {
    const flat = this.projected(now, camera), { corners } = part, colour = new Color();
    for (let k = 0; k < part.triangles.length; k += 3) {
      const [a, b, c] = [0, 1, 2].map((i) => corners[part.triangles[k + i]]);
      const ax = flat[3 * a], ay = flat[3 * a + 1];
      const turn = (flat[3 * b] - ax) * (flat[3 * c + 1] - ay) - (flat[3 * b + 1] - ay) * (flat[3 * c] - ax);
      if (turn * sense > 0) continue; // the canvas counts down from its top
      if (this.field in part.fields) this.map(((values[a] + values[b] + values[c]) / 3 - this.low) / (this.high - this.low), colour);
      else colour.copy(this.colours[part.kind]);
      const bright = 0.55 + 0.45 * Math.abs(normalOf(now, a, b, c).dot(this.light));
      const depth = flat[3 * a + 2] + flat[3 * b + 2] + flat[3 * c + 2];
      triangles.push({ flat, corners: [a, b, c], depth, colour: colour.multiplyScalar(bright).getStyle() });
    }
  }

  projected(points, camera) {
    const flat = new Float32Array(points.length), at = new Vector3();
    for (let j = 0; j < points.length; j += 3) {
      at.fromArray(points, j).project(camera);
      flat.set([(0.5 + 0.5 * at.x) * this.canvas.width, (0.5 - 0.5 * at.y) * this.canvas.height, at.z], j);
    }
    return flat;
  }

  fill({ flat, corners: [a, b, c], colour }) {
    const { context } = this;
    context.fillStyle = context.strokeStyle = colour;
    context.beginPath();
    context.moveTo(flat[3 * a], flat[3 * a + 1]);
    context.lineTo(flat[3 * b], flat[3 * b + 1]);
    context.lineTo(flat[3 * c], flat[3 * c + 1]);
    context.closePath();
    context.fill();
    context.stroke(); // closes the seams between triangles
  }

  drawGrid(camera) {
    const { lines, level, reach } = this.grid, [x, y] = this.scene.middle, { context } = this;
    context.strokeStyle = this.paper.grid;
    context.lineWidth = 0.6;
    for (let k = 0; k < lines.length; k += 4) {
      for (const [from, to] of pieces(lines.slice(k, k + 4), 12)) {
        const away = Math.hypot((0.5 * (from[0] + to[0]) - x) / reach[0], (0.5 * (from[1] + to[1]) - y) / reach[1]);
        const ends = [from, to].map(([u, v]) => new Vector3(u, v, level));
        if (away > 1.5 || ends.some((end) => end.clone().applyMatrix4(camera.matrixWorldInverse).z > -camera.near)) continue;
        const [start, end] = ends.map((place) => place.project(camera));
        context.globalAlpha = Math.min(1, (1.5 - away) / 0.75);
        context.beginPath();
        context.moveTo((0.5 + 0.5 * start.x) * this.canvas.width, (0.5 - 0.5 * start.y) * this.canvas.height);
        context.lineTo((0.5 + 0.5 * end.x) * this.canvas.width, (0.5 - 0.5 * end.y) * this.canvas.height);
        context.stroke();
      }
    }
    context.globalAlpha = context.lineWidth = 1;
  }
}

/** Pieces [from, to] of a line [x, y, x, y]. */
function pieces([x0, y0, x1, y1], count) {
  const at = (k) => [x0 + ((x1 - x0) * k) / count, y0 + ((y1 - y0) * k) / count];
  return Array.from({ length: count }, (_, k) => [at(k), at(k + 1)]);
}

function normalOf(points, a, b, c) {
  const [origin, first, second] = [a, b, c].map((point) => new Vector3().fromArray(points, 3 * point));
  return first.sub(origin).cross(second.sub(origin)).normalize();
}

/** Six times the volume within the triangles of a part; negative where their corners run clockwise seen from outside. */
function volumeOf({ base, corners, triangles }) {
  let volume = 0;
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => new Vector3().fromArray(base, 3 * corners[triangles[k + i]]));
    volume += a.dot(b.cross(c));
  }
  return volume;
}
