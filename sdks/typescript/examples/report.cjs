// A long task in CommonJS: typed payload, progress, checkpoints, a stop in the middle, and log lines.

const { Punctual } = require("punctual");

const app = new Punctual({ grace: 10 });

app.task(
  "report",
  /** @param {import("punctual").Task<{ pages: number }, number[]>} task */
  async (task) => {
    const { pages } = task.payload;
    const done = task.checkpoint ?? [];
    for (let page = done.length; page < pages; page++) {
      task.check(); // Throws if the task was cancelled or paused, or the program stops.
      done.push(page);
      task.log(`page ${page} is written`);
      task.progress((page + 1) / pages, `page ${page + 1} of ${pages}`);
      task.saveCheckpoint(done);
    }
    return `${done.length} pages`;
  },
  { concurrency: 2 },
);

app.run();
