// Reads the stream that flexph/view/packing.py writes: the size of the head, the head as JSON, and arrays.

const TYPES = { i2: Int16Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };

/** Bytes of a text of base64 that gzip has packed. */
export async function unzipped(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The scene of a stream: its head, with arrays in place of what refers to them. */
export function readScene(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const scene = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const arrays = bytes.subarray(4 + size);
  const middle = scene.low.map((low, i) => 0.5 * (low + scene.high[i]));
  scene.parts = scene.parts.map((part) => readPart(part, arrays));
  return { ...scene, middle };
}

function readPart(part, arrays) {
  const fields = {};
  for (const name in part.fields) fields[name] = part.fields[name] && readSeries(part.fields[name], part.times, arrays);
  return {
    ...part,
    fields,
    base: readShares(part.base, arrays),
    place: readPath(part.place, part.times, arrays),
    turn: part.turn && readPath(part.turn, part.times, arrays),
    rest: part.rest && readSeries(part.rest, part.times, arrays),
    deformation: part.deformation && readSeries(part.deformation, part.times, arrays),
    corners: readArray(part.corners, arrays),
    triangles: readArray(part.triangles, arrays),
  };
}

/** An array whose lower bytes precede the higher ones. */
function readArray({ offset, count, type }, arrays) {
  const Numbers = TYPES[type], width = Numbers.BYTES_PER_ELEMENT, bytes = new Uint8Array(count * width);
  for (let plane = 0; plane < width; plane++) {
    const start = offset + plane * count;
    for (let k = 0; k < count; k++) bytes[k * width + plane] = arrays[start + k];
  }
  return new Numbers(bytes.buffer);
}

function readShares({ numbers, step }, arrays) {
  return Float32Array.from(readArray(numbers, arrays), (share) => share * step);
}

/** Numbers of each time, from the changes of each number one after another; sums wrap around at 16 bits. */
function readPath({ changes, step, width }, times, arrays) {
  const all = readArray(changes, arrays), path = new Float32Array(all.length);
  for (let i = 0; i < width; i++) {
    for (let row = 0, sum = 0; row < times; row++) {
      sum = ((sum + all[i * times + row]) << 16) >> 16;
      path[row * width + i] = sum * step;
    }
  }
  return path;
}

/** A series over time: the mean and modes with coefficients (rank > 0), or the numbers of all times (rank 0). */
function readSeries(series, times, arrays) {
  const { rank, step } = series;
  if (rank) {
    return {
      rank,
      step,
      mean: readArray(series.mean, arrays),
      modes: readArray(series.modes, arrays),
      coefficients: readArray(series.coefficients, arrays),
    };
  }
  const numbers = readArray(series.changes, arrays), width = numbers.length / times;
  for (let j = width; j < numbers.length; j++) numbers[j] += numbers[j - width]; // wraps around at 16 bits
  return { rank, step, numbers };
}
