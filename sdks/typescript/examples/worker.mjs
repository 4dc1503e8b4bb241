// A worker: carries out the tasks of the queue mail until Ctrl-C.

import { Punctual } from "punctual";

const app = new Punctual();
app.task("mail", (task) => `sent to ${task.payload.to}`);
await app.run();
