// The view of a moving mechanism: state, controls, and the loop that draws.
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { makeAccount, rowAt } from "./account.js";
import { fitCamera, makeCamera } from "./camera.js";
import { CanvasStage } from "./canvas.js";
import { colourMap } from "./colours.js";
import { makeBar, makeHead, makeTime } from "./controls.js";
import { gridOf } from "./grid.js";
import { extremesOf } from "./motion.js";
import { pick } from "./pick.js";
import { hasGraphicsCard, WebglStage } from "./webgl.js";
import { digits, make } from "./words.js";

const RUN = 7, TURN = 1.6; // seconds of a run, and of a turn of a vibration, at speed 1
const NARROW = 640; // pixels below which controls stand below each other
const HELP = "Drag turns, the wheel zooms, right drag moves. Space plays, arrows step, Home and End jump, M goes to the "
  + "largest deformation, R resets the view, F shows forces, plus and minus zoom, A and D turn.";

export class View {
  constructor(element, scene) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches, moves = scene.times.length > 1;
    Object.assign(this, { element, scene, changed: true, touched: false, drawn: 0 });
    this.seconds = scene.unit === "s" ? RUN : TURN * Math.max(1, Math.round(scene.times.at(-1) - scene.times[0]));
    this.state = {
      row: scene.row, playing: moves && !still, speed: 1, factor: scene.scale, field: scene.field, range: "run",
      forces: scene.forces, hidden: new Set(),
    };
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.build();
    this.camera = makeCamera(scene);
    this.orbit = new OrbitControls(this.camera, this.canvas);
    Object.assign(this.orbit, { enableDamping: !still, dampingFactor: 0.12, zoomToCursor: true });
    this.orbit.addEventListener("change", () => this.redraw());
    this.orbit.addEventListener("start", () => (this.touched = true));
    this.stage = this.makeStage();
    this.listen();
    this.setTheme();
    this.setPlaying(this.state.playing);
    new ResizeObserver(() => this.resize()).observe(this.box);
    requestAnimationFrame((now) => this.frame(now));
  }

  // ---- elements

  build() {
    const { scene, state, element } = this, choose = (name, value) => this.choose(name, value);
    this.head = makeHead(scene, state, choose);
    this.canvas = make("canvas", { tabindex: 0, role: "img", "aria-label": `${scene.title}, moving view. ${HELP}` });
    this.label = make("div", { class: "fx-label", role: "status", hidden: true });
    this.note = make("div", { class: "fx-note" }, `grid ${digits(gridOf(scene).step)} m`);
    this.box = make("div", { class: "fx-stage" }, this.canvas, this.note, this.label);
    this.bar = makeBar();
    this.time = makeTime(scene, this.seconds, choose);
    const shown = [this.head, this.box, this.bar.element];
    if (scene.times.length > 1) shown.push(this.time.element);
    if (scene.account) {
      this.account = makeAccount(scene.account, scene.times, (time) => this.jump(rowAt(scene.times, time)));
      shown.push(this.account.element);
    }
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", `${scene.title}, moving view`);
    element.replaceChildren(...shown);
  }

  makeStage() {
    const wanted = this.element.dataset.renderer ?? /^#(webgl|canvas)$/.exec(location.hash)?.[1];
    if (wanted === "webgl" || (!wanted && hasGraphicsCard())) {
      try {
        this.element.dataset.drawn = "webgl";
        return new WebglStage(this.canvas, this.scene);
      } catch { // a canvas that was asked for WebGL in vain still gives a 2-D context
      }
    }
    this.element.dataset.drawn = "canvas";
    return new CanvasStage(this.canvas, this.scene);
  }

  // ---- choices

  choose(name, value) {
    const { state } = this;
    if (name === "playing") this.setPlaying(!state.playing);
    else if (name === "row") this.jump(value);
    else if (name === "view") this.fit();
    else if (name === "part") state.hidden[value.shown ? "delete" : "add"](value.name);
    else state[name] = value;
    if (name === "field" || name === "range") this.setField();
    if ((name === "factor" || name === "forces") && !this.touched) this.fit();
    this.redraw();
  }

  redraw() {
    this.changed = true;
  }

  shown = (part) => !this.state.hidden.has(part.name) && (part.kind !== "arrow" || this.state.forces);

  setPlaying(playing) {
    this.state.playing = playing && this.scene.times.length > 1;
    this.time.showPlaying(this.state.playing);
    this.redraw();
  }

  jump(row) {
    this.setPlaying(false);
    this.state.row = Math.min(Math.max(row, 0), this.scene.times.length - 1);
    this.redraw();
  }

  setTheme() {
    const theme = this.dark.matches ? "dark" : "light";
    this.stage.setTheme(this.scene.colours[theme], theme);
    this.setField();
  }

  setField() {
    const { field: name } = this.state, field = this.scene.fields[name];
    this.map = field ? colourMap(field.colours) : null;
    this.bar.show(name, field, this.map, this.narrow);
    if (field) this.setLimits(field.low, field.high);
    else this.stage.setField(null, null, 0, 1);
    this.redraw();
  }

  setLimits(low, high) {
    this.limits = [low, high];
    this.stage.setField(this.state.field, this.map, low, high);
    this.bar.setLimits(this.state.field, this.scene.fields[this.state.field], low, high);
  }

  setInstantLimits(row, share) {
    const field = this.scene.fields[this.state.field], [low, high] = extremesOf(this.scene.parts, this.state.field, row, share);
    const largest = Math.max(Math.abs(low), Math.abs(high));
    this.setLimits(field.signed ? -largest : Math.min(low, 0), field.signed ? largest : high);
  }

  // ---- camera and size

  fit() {
    const { scene, state } = this, parts = scene.parts.filter((part) => part.kind !== "arrow" || state.forces);
    this.ratio = fitCamera(this.camera, this.orbit.target, scene, parts, state.factor);
    this.touched = false;
    this.orbit.update();
    this.redraw();
  }

  resize() {
    const narrow = this.element.clientWidth < NARROW, { clientWidth: width, clientHeight: height } = this.box;
    if (!width || !height) return;
    if (narrow !== this.narrow) {
      this.narrow = narrow;
      this.element.classList.toggle("fx-narrow", narrow);
      this.setField();
    }
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.stage.resize(width, height, Math.min(devicePixelRatio, 2));
    if (!this.touched) this.fit();
    const tallest = Math.max(200, (1.7 * width) / this.ratio); // a wide mechanism leaves room for its account
    this.element.style.setProperty("--fx-tallest", this.account ? `${Math.round(tallest)}px` : "1fr");
    this.redraw();
  }

  // ---- each picture

  frame(now) {
    const late = now - (this.before ?? now), { state, scene } = this, last = scene.times.length - 1;
    this.before = now;
    if (this.closed) return;
    requestAnimationFrame((next) => this.frame(next));
    if (state.playing && this.stage.keepPace(late)) this.redraw();
    if (document.hidden || !this.element.isConnected) return;
    if (state.playing) {
      state.row += (Math.min(late / 1000, 0.2) * state.speed * last) / this.seconds;
      if (state.row > last) state.row = 0;
      this.redraw();
    }
    this.orbit.update();
    if (this.changed) this.draw();
  }

  now() {
    const row = Math.floor(this.state.row), share = this.scene.interpolates ? this.state.row - row : 0;
    return { row, share, factor: this.state.factor, field: this.state.field, shown: this.shown };
  }

  draw() {
    const { scene } = this, now = this.now(), { row, share } = now;
    this.changed = false;
    if (this.state.range === "instant" && this.state.field) this.setInstantLimits(row, share);
    this.stage.draw(this.camera, now);
    const next = scene.times[Math.min(row + 1, scene.times.length - 1)];
    const time = scene.times[row] + share * (next - scene.times[row]);
    const caption = scene.captions[row]; // such as "mode 1: 292.8 rad/s, …"
    this.time.show(this.state.row, caption?.split(":")[0] ?? `${time.toPrecision(4)} ${scene.unit}`);
    if (caption) this.note.textContent = caption;
    this.account?.show(time);
    this.changed = false;
    this.drawn += 1;
    this.element.dataset.pictures = this.drawn;
  }

  // ---- hands

  listen() {
    const { canvas, element } = this;
    this.dark.addEventListener("change", () => this.setTheme());
    addEventListener("beforeprint", () => this.draw());
    canvas.addEventListener("pointermove", (event) => this.ask(event));
    canvas.addEventListener("pointerup", (event) => this.ask(event));
    canvas.addEventListener("pointerleave", () => (this.label.hidden = true));
    element.addEventListener("keydown", (event) => this.press(event));
  }

  ask(event) {
    if (event.buttons && event.pointerType === "mouse") return void (this.label.hidden = true);
    const box = this.canvas.getBoundingClientRect(), left = event.clientX - box.left, top = event.clientY - box.top;
    const point = [(2 * left) / box.width - 1, 1 - (2 * top) / box.height];
    const hit = pick(this.camera, point, this.scene.parts.filter(this.shown), this.now());
    this.label.hidden = !hit;
    if (!hit) return;
    const { field: name } = this.state, field = this.scene.fields[name];
    const value = hit.value === null ? [] : [make("br"), `${name} ${digits(hit.value * field.factor)} ${field.unit}`];
    this.label.replaceChildren(make("b", {}, hit.part.name), ...value);
    const { offsetWidth: width, offsetHeight: height } = this.label;
    this.label.style.left = `${Math.max(4, Math.min(left + 14, box.width - width - 4))}px`;
    this.label.style.top = `${top > height + 14 ? top - height - 10 : top + 16}px`;
  }

  press(event) {
    const actions = this.actions();
    const own = /SELECT|INPUT|BUTTON|SUMMARY/.test(event.target.tagName); // these have keys of their own
    if (own || event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** What keys do, by their names. */
  actions() {
    const row = Math.round(this.state.row), { position, up } = this.camera, { target } = this.orbit;
    const about = (change) => {
      change(position.sub(target)).add(target);
      this.touched = true;
      this.redraw();
    };
    return {
      " ": () => this.setPlaying(!this.state.playing),
      ArrowRight: () => this.jump(row + 1),
      ArrowLeft: () => this.jump(row - 1),
      Home: () => this.jump(0),
      End: () => this.jump(Infinity),
      m: () => this.jump(this.scene.row),
      r: () => this.fit(),
      f: () => this.head.querySelector("[aria-pressed]")?.click(),
      "+": () => about((way) => way.multiplyScalar(0.85)),
      "-": () => about((way) => way.multiplyScalar(1.18)),
      a: () => about((way) => way.applyAxisAngle(up, -0.12)),
      d: () => about((way) => way.applyAxisAngle(up, 0.12)),
    };
  }
}
