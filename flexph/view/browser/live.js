// The page of a run that is still computed: frames from its server, orders to it, and the view that shows them.
// A script of its own, which only the page of a run includes: other pages speak to no server.
const { View, digits, extremesOf, gridOf, make, makeAccount, readScene, select } = globalThis.flexph.parts;

const PACES = [["", "full speed"], ["0.01", "0.01 × real time"], ["0.1", "0.1 × real time"], ["0.5", "0.5 × real time"], ["1", "real time"]];
const PREFIXES = [[1e9, "GPa"], [1e6, "MPa"], [1e3, "kPa"], [1, "Pa"]];
const KEPT = 400; // points of the account, of which then every second is dropped
const ROOM = 0.03; // that is added to the box of the motion when it is left
const OVER = { finished: "finished", ended: "ended", failed: "failed", lost: "no connection" };

/** Asks the server for frames until the run is over. */
class LiveRun {
  constructor(element) {
    this.element = element;
    this.token = new URLSearchParams(location.search).get("token") ?? "";
    this.account = { times: [], stored: [], work: [], dissipated: [], residual: 0, scale: 0 };
    this.frames = 0;
    this.follow();
  }

  ask(path, options) {
    return fetch(`${path}${path.includes("?") ? "&" : "?"}token=${encodeURIComponent(this.token)}`, options);
  }

  async order(order, more = {}) {
    try {
      const answer = await this.ask("order", { method: "POST", body: JSON.stringify({ order, ...more }) });
      if (answer.status === 400) this.view.tell(await answer.text());
    } catch { // the loop of frames tells that the server is gone
    }
  }

  async follow() {
    for (let number = -1; ;) {
      let bytes;
      try {
        const answer = await this.ask(`frame?after=${number}&scalable=${this.view && this.view.state.factor !== 1 ? 1 : 0}`);
        if (answer.status === 204) continue;
        if (!answer.ok) throw new Error(await answer.text());
        bytes = new Uint8Array(await answer.arrayBuffer());
        const size = new DataView(bytes.buffer).getUint32(0, true);
        const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
        number = head.number;
        if (this.view?.scene.live.number !== head.scene) await this.load();
        this.view.take(head, new Float32Array(bytes.buffer, 4 + size));
        this.frames += 1;
        this.element.dataset.frames = this.frames;
        if (head.state in OVER) return;
      } catch (error) {
        if (!this.view) this.element.replaceChildren(make("p", {}, `The run cannot be shown: ${error.message}`));
        else this.view.lose();
        return;
      }
    }
  }

  async load() {
    const scene = readScene(new Uint8Array(await (await this.ask("scene")).arrayBuffer()));
    scene.parts.forEach((part, k) => Object.assign(part, { moves: scene.live.parts[k].moves, deforms: scene.live.parts[k].deforms }));
    if (this.view) this.view.close();
    this.view = new LiveView(this.element, scene, this);
    this.element.flexph = this.view;
  }
}

class LiveView extends View {
  constructor(element, scene, run) {
    LiveView.run = run; // elements are built before fields can be set
    super(element, scene);
    this.run = run;
    this.seen = {};
    this.recent = [];
    this.grown = scene.extent;
  }

  // ---- elements

  build() {
    super.build();
    this.run = LiveView.run;
    const { live } = this.scene, order = (what, more) => this.run.order(what, more);
    this.time = { element: make("div"), show() {}, showPlaying() {} };
    this.hold = make("button", { type: "button", class: "fx-hold", onclick: () => this.toggle() }, "Pause");
    this.step = make("button", { type: "button", title: "one step, then pause (arrow to the right)", onclick: () => order("step") }, "Step");
    this.end = make("button", { type: "button", title: "end the run; its finished steps are the result", onclick: () => order("end") }, "End");
    this.clock = make("output", { class: "fx-now-time" });
    this.speed = make("output", { class: "fx-speed" });
    this.done = make("i");
    this.pace = select("pace", "Pace", PACES, "", (pace) => order("pace", { value: pace ? +pace : null }));
    this.badge = make("span", { class: "fx-state", role: "status" });
    this.head.querySelector("h2").append(this.badge);
    const orders = make(
      "div", { class: "fx-orders" },
      make("div", { class: "fx-buttons" }, this.hold, this.step, this.end),
      make("div", { class: "fx-progress" }, make("div", {}, this.clock, this.speed), make("div", { class: "fx-track" }, this.done)),
      this.pace,
    );
    this.error = make("p", { class: "fx-error", role: "alert", hidden: true });
    this.sliders = live.sliders.map((slider) => this.makeSlider(slider));
    const panel = make("div", { class: "fx-sliders" }, ...this.sliders.map(({ element }) => element));
    this.energy = makeAccount(accountNow(this.run.account, live.first), [live.first, live.last], () => {}, true);
    this.account = { show() {} };
    this.element.classList.add("fx-live");
    this.element.append(this.error, orders, ...(this.sliders.length ? [panel] : []), this.energy.element);
  }

  makeSlider({ name, low, high }) {
    let busy = false, waiting = null, touched = -Infinity;
    const value = make("output"), move = async () => {
      touched = performance.now();
      value.textContent = digits(+range.value);
      waiting = +range.value;
      if (busy) return;
      busy = true;
      while (waiting !== null) {
        const next = waiting;
        waiting = null;
        await this.run.order("slider", { name, value: next });
      }
      busy = false;
      touched = performance.now();
    };
    const range = make("input", { type: "range", min: low, max: high, step: (high - low) / 1000, "aria-label": name, oninput: move });
    const set = (number) => {
      if (busy || performance.now() - touched < 500) return;
      range.value = number;
      value.textContent = digits(number);
    };
    const ends = make("span", { class: "fx-ends" }, make("small", {}, digits(low)), range, make("small", {}, digits(high)));
    return { element: make("label", { class: "fx-slider" }, make("b", {}, name), ends, value), range, set };
  }

  // ---- frames

  take(head, numbers) {
    const { parts, live } = this.scene;
    let at = 0;
    const next = (count) => numbers.subarray(at, (at += count));
    parts.forEach((part, k) => {
      if (!part.moves) return;
      const points = next(3 * part.points), deformation = part.deforms && head.scalable ? next(3 * part.points) : null, fields = {};
      for (const name of live.parts[k].fields) fields[name] = next(part.points);
      part.now = { points, deformation, fields };
    });
    this.grow();
    this.widen();
    this.tellState(head);
    this.tellEnergy(head);
    this.sliders.forEach((slider, k) => slider.set(head.values[k]));
    this.redraw();
  }

  tellState({ state, message, time, clock, pace, steps }) {
    const { live } = this.scene, span = live.last - live.first, over = state in OVER;
    this.over = over;
    this.paused = state === "paused";
    this.badge.textContent = OVER[state] ?? state;
    this.badge.dataset.state = state;
    this.hold.textContent = this.paused ? "Continue" : "Pause";
    this.hold.title = this.paused ? "continue (space)" : "pause (space)";
    for (const element of [this.hold, this.step, this.end, this.pace.querySelector("select"), ...this.sliders.map((s) => s.range)]) {
      element.disabled = over;
    }
    const decimals = Math.min(Math.max(5 - Math.ceil(Math.log10(span)), 0), 9); // steps of long runs show, too
    this.clock.textContent = `t = ${time.toFixed(decimals)} s of ${digits(live.last, 4)} s`;
    this.done.style.width = `${(100 * (time - live.first)) / span}%`;
    const list = this.pace.querySelector("select"), wanted = pace === null ? "" : String(pace);
    if (![...list.options].some((option) => option.value === wanted)) list.append(make("option", { value: wanted }, `${digits(pace)} × real time`));
    if (document.activeElement !== list) list.value = wanted;
    this.recent.push([clock, time]);
    while (this.recent.length > 2 && clock - this.recent[0][0] > 1) this.recent.shift();
    const [first, from] = this.recent[0], rate = clock > first ? (time - from) / (clock - first) : 0;
    this.speed.textContent = over || this.paused || !rate ? `${steps} steps` : `${digits(rate, 2)} × real time`;
    if (message) this.tell(message);
  }

  tellEnergy({ time, account: [stored, work, dissipated] }) {
    const { account } = this.run, last = account.times.at(-1);
    if (last === undefined || time > last) {
      account.times.push(time);
      account.stored.push(stored);
      account.work.push(work);
      account.dissipated.push(dissipated);
    }
    account.scale = Math.max(account.scale, ...[stored, work, dissipated].map(Math.abs));
    account.residual = account.scale ? Math.abs(stored - work + dissipated) / account.scale : 0;
    if (account.times.length > KEPT) {
      const last = account.times.length - 1, keep = (_, k) => k % 2 === 0 || k === last;
      for (const name of ["times", "stored", "work", "dissipated"]) account[name] = account[name].filter(keep);
    }
    this.energy.set(account);
    this.energy.show(time);
  }

  tell(message) {
    this.error.textContent = message;
    this.error.hidden = false;
  }

  lose() {
    if (this.over) return;
    this.badge.textContent = OVER.lost;
    this.badge.dataset.state = "failed";
    this.tell("The run does not answer: its process has ended, or this page belongs to an earlier run.");
  }

  /** Enlarges the box in which all has moved so far. */
  grow() {
    const { scene } = this, low = [...scene.low], high = [...scene.high];
    for (const part of scene.parts) {
      if (!part.moves || !this.shown(part)) continue;
      const { points } = part.now;
      for (let j = 0; j < points.length; j++) {
        const i = j % 3;
        if (points[j] < low[i]) low[i] = points[j];
        if (points[j] > high[i]) high[i] = points[j];
      }
    }
    const grows = [0, 1, 2].map((i) => low[i] < scene.low[i] || high[i] > scene.high[i]);
    if (!grows.some(Boolean)) return;
    const room = ROOM * Math.hypot(...[0, 1, 2].map((i) => high[i] - low[i]));
    for (const i of [0, 1, 2]) {
      if (low[i] < scene.low[i]) scene.low[i] = low[i] - room;
      if (high[i] > scene.high[i]) scene.high[i] = high[i] + room;
    }
    scene.middle = [0, 1, 2].map((i) => 0.5 * (scene.low[i] + scene.high[i]));
    scene.extent = Math.hypot(...[0, 1, 2].map((i) => scene.high[i] - scene.low[i]));
    if (scene.extent > 1.2 * this.grown) {
      this.grown = scene.extent;
      this.stage.regrow(scene);
      this.setTheme();
      this.note.textContent = `grid ${digits(gridOf(scene).step)} m`;
      Object.assign(this.camera, { near: 0.01 * scene.extent, far: 60 * scene.extent });
      this.camera.updateProjectionMatrix();
    }
    if (!this.touched) this.fit();
  }

  /** Widens the colours to all values of the field so far. */
  widen() {
    const { field: name } = this.state, field = this.scene.fields[name];
    if (!field) return;
    const now = extremesOf(this.scene.parts, name, 0, 0), seen = this.seen[name] ?? [0, 0];
    const low = Math.min(now[0], seen[0]), high = Math.max(now[1], seen[1]), largest = Math.max(-low, high);
    if (seen[0] === low && seen[1] === high) return;
    this.seen[name] = [low, high];
    Object.assign(field, { low: field.signed ? -largest : Math.min(low, 0), high: field.signed ? largest : high });
    if (field.unit.endsWith("Pa")) {
      const [size, unit] = PREFIXES.find(([size]) => largest >= size) ?? PREFIXES.at(-1);
      Object.assign(field, { factor: 1 / size, unit });
    }
    this.setField();
  }

  toggle() {
    this.run.order(this.paused ? "continue" : "pause");
  }

  choose(name, value) {
    super.choose(name, value);
    if (name === "field") this.widen();
  }

  actions() {
    const { "+": closer, "-": farther, a, d, r } = super.actions();
    return { "+": closer, "-": farther, a, d, r, " ": () => this.toggle(), ArrowRight: () => this.run.order("step") };
  }

  close() {
    this.closed = true;
    this.stage.dispose();
  }
}

/** The account so far, with a first point at the start. */
function accountNow(account, first) {
  if (account.times.length) return account;
  return { times: [first], stored: [0], work: [0], dissipated: [0], residual: 0 };
}

for (const element of document.querySelectorAll(".flexph-view[data-live]")) element.flexphRun = new LiveRun(element);
