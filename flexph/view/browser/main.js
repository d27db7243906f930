// Mounts every view of the page: elements of class `flexph-view` with a stream in them.
import { makeAccount } from "./account.js";
import { select } from "./controls.js";
import { gridOf } from "./grid.js";
import { extremesOf, positionsOf, valuesOf } from "./motion.js";
import { readScene, unzipped } from "./stream.js";
import { View } from "./view.js";
import css from "./viewer.css";
import { digits, make } from "./words.js";

async function mount(element) {
  if ("live" in element.dataset && !element.dataset.mounted) {
    element.dataset.mounted = "";
    document.head.append(make("script", {}, document.getElementById("flexph-live").textContent));
    return;
  }
  const data = element.querySelector(".flexph-data");
  if (!data || element.dataset.mounted) return;
  element.dataset.mounted = "";
  try {
    element.flexph = new View(element, readScene(await unzipped(data.textContent)));
  } catch (error) { // the picture stays
    element.append(make("p", {}, `The moving view cannot be shown: ${error.message}`));
    console.error(error);
  }
}

const mountAll = () => document.querySelectorAll(".flexph-view").forEach(mount);

if (!globalThis.flexph) {
  const parts = { View, digits, extremesOf, gridOf, make, makeAccount, readScene, select };
  globalThis.flexph = { mountAll, positionsOf, valuesOf, parts };
  document.head.append(make("style", {}, css));
}
globalThis.flexph.mountAll();
document.addEventListener("DOMContentLoaded", globalThis.flexph.mountAll);
