// Copies the libraries the dashboard uses from node_modules to app/vendor, as ES modules that name each
// other by relative paths. `npm run vendor` writes them, `npm run vendor -- --check` compares.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const here = new URL("./", import.meta.url);
const at = (path) => new URL(path, here);
const read = (path) => readFileSync(at(`node_modules/${path}`), "utf8");
const version = (name) => JSON.parse(read(`${name}/package.json`)).version;

const MODULES = {
  preact: "./preact.js",
  "preact/hooks": "./hooks.js",
  "@preact/signals-core": "./signals-core.js",
};

const relative = (code) =>
  code
    .replace(/(from\s*)"([^".][^"]*)"/g, (_, from, name) => {
      if (!MODULES[name]) throw new Error(`no vendored module for ${name}`);
      return `${from}"${MODULES[name]}"`;
    })
    .replace(/\n?\/\/# sourceMappingURL=.*\n?/g, "\n");

const files = {
  "preact.js": relative(read("preact/dist/preact.mjs")),
  "hooks.js": relative(read("preact/hooks/dist/hooks.mjs")),
  "signals-core.js": relative(read("@preact/signals-core/dist/signals-core.mjs")),
  "signals.js": relative(read("@preact/signals/dist/signals.mjs")),
  "htm.js": relative(read("htm/dist/htm.mjs")),
  // The minified build is a script; one line makes it a module.
  "uplot.js": `${read("uplot/dist/uPlot.iife.min.js").trim()}\nexport default uPlot;\n`,
  "uplot.css": read("uplot/dist/uPlot.min.css"),
};

const licences = ["preact", "@preact/signals-core", "@preact/signals", "htm", "uplot"].map(
  (name) => `## ${name} ${version(name)}\n\n${read(`${name}/LICENSE`).trim()}\n`,
);
files.NOTICE = `The dashboard contains these libraries, unchanged but for their import paths.\n\n${licences.join("\n")}`;

const check = process.argv.includes("--check");
mkdirSync(at("app/vendor"), { recursive: true });
for (const [name, text] of Object.entries(files)) {
  const target = at(`app/vendor/${name}`);
  if (!check) writeFileSync(target, text);
  else if (readFileSync(target, "utf8") !== text) throw new Error(`app/vendor/${name} is not what the lock file says`);
}
