// The dashboard. See the README beside this directory for how it is made.

import { effect, html, render } from "./lib/html.js";
import { route } from "./lib/router.js";
import { Shell } from "./parts/shell.js";

const root = document.getElementById("app");
if (root) render(html`<${Shell} />`, root);

// Another page starts at its top, and with the focus on its heading for those who hear it.
let before = route.peek().path.join("/");
effect(() => {
  const path = route.value.path.join("/");
  if (path === before) return;
  before = path;
  scrollTo(0, 0);
  requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector("main h1"))?.focus({ preventScroll: true }));
});
