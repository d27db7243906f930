// A scene drawn by three.js, with shadows where the machine is fast enough for them.
import {
  AmbientLight, BufferAttribute, BufferGeometry, DataTexture, DirectionalLight, DoubleSide, HemisphereLight, LinearFilter,
  LineBasicMaterial, LineSegments, Mesh, MeshPhongMaterial, PCFShadowMap, PlaneGeometry, Scene, ShadowMaterial,
  SRGBColorSpace, Vector2, Vector3, VSMShadowMap, WebGLRenderer,
} from "three";
import { PAPER } from "./colours.js";
import { gridOf } from "./grid.js";
import { poseOf, positionsOf, valuesOf } from "./motion.js";

const MANY = 50000; // corners from which on normals are those of triangles, made on the card
const LATE = 55, PATIENCE = 6; // milliseconds of a late frame, and how many of them in a row lower the quality
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** True where a graphics card draws: what software draws is slower than a 2-D canvas. */
export function hasGraphicsCard() {
  const context = document.createElement("canvas").getContext("webgl2");
  if (!context) return false;
  const names = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return !SOFTWARE.test(name);
}

export class WebglStage {
  constructor(canvas, scene) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true, powerPreference: "low-power" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = VSMShadowMap;
    this.renderer.setClearColor(0, 0);
    this.world = new Scene();
    this.pixels = 1; // share of the pixels of the screen
    this.level = 0; // of what has been given up for speed
    this.late = 0;
    this.drawn = 0;
    this.map = makeMap();
    this.range = { value: new Vector2(0, 1) };
    this.plain = new Map();
    this.tinted = new Map([false, true].map((flat) => [flat, tintedMaterial(this.map, this.range, flat)]));
    this.addLights(scene);
    this.addGround(scene);
    this.meshes = scene.parts.map((part) => this.addPart(part));
  }

  addLights({ dim, low, high, extent, middle }) {
    const radius = 0.5 * Math.hypot(...[0, 1, 2].map((i) => high[i] - low[i])), centre = new Vector3(...middle);
    const sun = new DirectionalLight(0xffffff, 1.9), shadow = sun.shadow;
    const towards = dim === 2 ? new Vector3(-0.45, 0.75, 1.5) : new Vector3(0.5, -0.55, 1.1);
    sun.position.copy(centre).addScaledVector(towards.normalize(), 3 * radius);
    sun.target.position.copy(centre);
    sun.castShadow = true;
    shadow.mapSize.set(1024, 1024);
    Object.assign(shadow, { radius: 3.5, blurSamples: 10, bias: -0.0004, normalBias: 0.002 * extent });
    const reach = 1.3 * radius;
    Object.assign(shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.5 * radius, far: 6.5 * radius });
    this.sun = sun;
    this.world.add(new HemisphereLight(0xffffff, 0x7d8894, 1.75), new AmbientLight(0xffffff, 0.25), sun, sun.target);
  }

  addGround(scene) {
    const { level, lines, reach } = gridOf(scene), [x, y] = scene.middle, points = new Float32Array(1.5 * lines.length);
    for (let k = 0; 2 * k < lines.length; k++) points.set([lines[2 * k], lines[2 * k + 1], level], 3 * k);
    this.sheet = new Mesh(new PlaneGeometry(8 * scene.extent, 8 * scene.extent), new ShadowMaterial());
    this.sheet.position.set(x, y, level);
    this.sheet.receiveShadow = true;
    this.sheet.renderOrder = -1;
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(points, 3));
    this.grid = new LineSegments(geometry, new LineBasicMaterial({ transparent: true }));
    this.grid.material.onBeforeCompile = (shader) => {
      shader.uniforms.about = { value: [new Vector2(x, y), new Vector2(...reach)] };
      shader.vertexShader = shader.vertexShader.replace("void main() {", "varying vec2 vAt;\nvoid main() {\nvAt = position.xy;");
      shader.fragmentShader = shader.fragmentShader
        .replace("void main() {", "varying vec2 vAt;\nuniform vec2 about[2];\nvoid main() {")
        .replace("#include <color_fragment>", "diffuseColor.a *= 1.0 - smoothstep(0.75, 1.5, length((vAt - about[0]) / about[1]));");
    };
    this.world.add(this.sheet, this.grid);
  }

  /** Lights and ground anew, for a scene that has outgrown them. */
  regrow(scene) {
    this.world.remove(...this.world.children.filter((object) => object.isLight || object === this.sun.target));
    this.world.remove(this.sheet, this.grid);
    this.addLights(scene);
    this.addGround(scene);
  }

  dispose() {
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }

  addPart(part) {
    const geometry = new BufferGeometry(), count = part.corners.length;
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * count), 3));
    if (Object.keys(part.fields).length) geometry.setAttribute("value", new BufferAttribute(new Float32Array(count), 1));
    geometry.setIndex(new BufferAttribute(part.triangles, 1));
    const flat = count > MANY, key = `${part.kind} ${flat}`;
    if (!this.plain.has(key)) {
      const material = new MeshPhongMaterial({ shininess: 30, specular: 0x2a2a2a, side: DoubleSide, flatShading: flat });
      material.userData.kind = part.kind;
      this.plain.set(key, material);
    }
    const mesh = new Mesh(geometry, this.plain.get(key));
    mesh.frustumCulled = false;
    mesh.castShadow = part.kind !== "arrow";
    mesh.receiveShadow = true;
    mesh.userData = { part, flat, key, rigid: !part.rest && !part.deformation && !part.moves, ready: false };
    this.world.add(mesh);
    return mesh;
  }

  /** Colours of kinds of parts and of the paper, "light" or "dark". */
  setTheme(colours, theme) {
    for (const material of this.plain.values()) material.color.set(colours[material.userData.kind]);
    this.grid.material.color.set(PAPER[theme].grid);
    this.sheet.material.opacity = PAPER[theme].shadow;
  }

  /** The map of a field between two values, or null. */
  setField(name, map, low, high) {
    this.field = name;
    for (const mesh of this.meshes) {
      const { part, flat, key } = mesh.userData;
      mesh.material = name in part.fields ? this.tinted.get(flat) : this.plain.get(key);
    }
    if (!map) return;
    for (let k = 0; k < 256; k++) {
      const colour = map(k / 255).getHex();
      this.map.image.data.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255], 4 * k);
    }
    this.map.needsUpdate = true;
    this.range.value.set(low, high > low ? high : low + 1);
  }

  resize(width, height, dots) {
    Object.assign(this, { width, height, dots });
    this.renderer.setPixelRatio(this.pixels * dots);
    this.renderer.setSize(width, height, false);
  }

  draw(camera, { row, share, factor, shown }) {
    for (const mesh of this.meshes) {
      mesh.visible = shown(mesh.userData.part);
      if (mesh.visible) this.place(mesh, row, share, factor);
    }
    this.renderer.render(this.world, camera);
    this.drawn += 1;
  }

  place(mesh, row, share, factor) {
    const { part, rigid, ready, flat } = mesh.userData, { position, value } = mesh.geometry.attributes;
    const now = rigid ? part.base : (mesh.userData.now = positionsOf(part, row, share, factor, mesh.userData.now));
    if (rigid) {
      const { turn, place } = poseOf(part, row, share);
      mesh.quaternion.set(...turn);
      mesh.position.set(...place);
    }
    if (!rigid || !ready) {
      part.corners.forEach((point, j) => position.array.set(now.subarray(3 * point, 3 * point + 3), 3 * j));
      position.needsUpdate = true;
      if (!flat) mesh.geometry.computeVertexNormals();
      mesh.geometry.boundingSphere = mesh.geometry.boundingBox = null;
      mesh.userData.ready = true;
    }
    if (this.field in part.fields) {
      mesh.userData.values = valuesOf(part, this.field, row, share, mesh.userData.values);
      for (let j = 0; j < part.corners.length; j++) value.array[j] = mesh.userData.values[part.corners[j]];
      value.needsUpdate = true;
    }
  }

  /** Lowers the quality where frames are late: plainer shadows, then none, then fewer pixels; true where it did. */
  keepPace(milliseconds) {
    if (this.drawn < 4 || this.level > 2) return false;
    this.late = milliseconds > LATE ? this.late + 1 : 0;
    if (this.late < PATIENCE) return false;
    this.level += 1;
    this.late = 0;
    if (this.level === 1) {
      this.renderer.shadowMap.type = PCFShadowMap;
      this.sun.shadow.mapSize.set(512, 512);
      this.sun.shadow.map?.dispose();
      this.sun.shadow.map = null;
    } else if (this.level === 2) {
      this.sun.castShadow = false;
    } else {
      this.pixels = 0.6;
      this.resize(this.width, this.height, this.dots);
    }
    this.world.traverse((object) => object.material && (object.material.needsUpdate = true));
    return true;
  }
}

function makeMap() {
  const map = new DataTexture(new Uint8Array(1024), 256, 1);
  map.magFilter = map.minFilter = LinearFilter;
  map.colorSpace = SRGBColorSpace;
  return map;
}

function tintedMaterial(map, range, flatShading) {
  const material = new MeshPhongMaterial({ shininess: 28, specular: 0x222222, side: DoubleSide, flatShading });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, { map256: { value: map }, range });
    shader.vertexShader = shader.vertexShader
      .replace("void main() {", "attribute float value;\nvarying float vValue;\nvoid main() {\nvValue = value;");
    shader.fragmentShader = shader.fragmentShader
      .replace("void main() {", "uniform sampler2D map256;\nuniform vec2 range;\nvarying float vValue;\nvoid main() {")
      .replace(
        "#include <color_fragment>",
        "diffuseColor.rgb = texture2D(map256, vec2(clamp((vValue - range.x) / (range.y - range.x), 0.002, 0.998), 0.5)).rgb;",
      );
  };
  return material;
}
