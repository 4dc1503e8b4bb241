// All sections of this language; one file per page.
import shell from "./shell.js";
import overview from "./overview.js";
import queues from "./queues.js";
import tasks from "./tasks.js";
import failed from "./failed.js";
import plans from "./plans.js";
import flows from "./flows.js";
import deliveries from "./deliveries.js";
import workers from "./workers.js";
import bundles from "./bundles.js";
import system from "./system.js";

export default { ...shell, ...overview, ...queues, ...tasks, ...failed, ...plans, ...flows, ...deliveries, ...workers, ...bundles, ...system };
