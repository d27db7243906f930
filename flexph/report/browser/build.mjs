// npm ci && npm run build: bundles charts.js, charts.css and uPlot as one classic script, packed by gzip.
// The banner holds a digest of the sources, by which a test finds a bundle that is older than these.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const digest = createHash("sha256");
const sources = readdirSync(".").filter((name) => /\.(js|css)$/.test(name)).sort();
for (const name of [...sources, "package-lock.json"]) digest.update(readFileSync(name));

const { outputFiles: [bundle] } = await build({
  entryPoints: ["charts.js"],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2021",
  loader: { ".css": "text" },
  legalComments: "none",
  banner: {
    js: "/*! Charts of flexph; contains uPlot (MIT, Copyright 2022 Leon Sorokin): LICENSE-uplot.txt.\n"
      + `Sources: ${digest.digest("hex")} */`,
  },
});
const packed = gzipSync(bundle.contents, { level: 9 });
writeFileSync("charts.js.gz", packed);
console.log(`charts.js.gz: ${bundle.contents.length} bytes, packed ${packed.length}`);
