// Node reads what lies below dist/cjs as CommonJS, whatever the package says.
import { writeFileSync } from "node:fs";

writeFileSync(new URL("../dist/cjs/package.json", import.meta.url), '{ "type": "commonjs" }\n');
