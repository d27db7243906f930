// npm ci && npm run build: bundles main.js, viewer.css and three.js as one classic script, packed by gzip; live.js is another.
// The banner holds a digest of the sources, by which a test finds a bundle that is older than these.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const digest = createHash("sha256");
const sources = readdirSync(".").filter((name) => /\.(js|css)$/.test(name)).sort();
for (const name of [...sources, "package-lock.json"]) digest.update(readFileSync(name));

const live = await build({ entryPoints: ["live.js"], minify: true, write: false, format: "iife", target: "es2021" });
writeFileSync("live.js.gz", gzipSync(live.outputFiles[0].contents, { level: 9 }));

const { outputFiles: [bundle] } = await build({
  entryPoints: ["main.js"],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2021",
  loader: { ".css": "text" },
  legalComments: "none",
  define: { __THREE_DEVTOOLS__: "undefined" },
  banner: {
    js: "/*! The view of flexph; contains three.js (MIT, Copyright 2010-2026 three.js authors): LICENSE-three.txt.\n"
      + `Sources: ${digest.digest("hex")} */`,
  },
});
const packed = gzipSync(bundle.contents, { level: 9 });
writeFileSync("viewer.js.gz", packed);
console.log(`viewer.js.gz: ${bundle.contents.length} bytes, packed ${packed.length}`);
