// Plans: what they say is what the server does, and what is done to them is done.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { looks } from "./looks.mjs";
import { openTab, startBrowser, startServer, until } from "./server.mjs";

const HOSTILE = "<img src=x onerror=window.hacked=1>שלום\u202E";
let server, browser;
before(async () => {
  [server, browser] = await Promise.all([startServer({ args: ["--dev"] }), startBrowser()]);
  const { api } = server;
  await api("POST", "/v1/dev/clock", { set: "2027-03-10T10:00:00Z" });
  const add = (plan) => api("POST", "/v1/plans", { station: "reports", plan_repet: -1, timezone: "Europe/Berlin", ...plan });
  await add({ plan_id: "nightly", description: "Nightly report", plan_type: "cron", cron: "30 2 * * *", message: { big: 1 } });
  await add({ plan_id: "sweep", description: "Sweep expired sessions", plan_type: "minute", plan_value: 15 });
  await add({ plan_id: "month-end", description: "Close the books", plan_type: "month", plan_value: 0, plan_time: "18:00" });
  await add({ plan_id: "review", description: "Week in review", plan_type: "week", plan_value: 5, plan_time: "17:00", plan_repet: 12 });
  await add({ plan_id: "office", description: HOSTILE, plan_type: "cron", cron: "0 9 * * MON-FRI", station: "mail" });
  await add({ plan_id: "launch", plan_type: "time", plan_time: "2027-04-01T08:00:00Z", station: "mail" });
  await add({ plan_id: "broken", description: "Backup to tape", plan_type: "hour", plan_value: 6, max_attempts: 1, station: "backups" });
  for (let day = 0; day < 3; day += 1) {
    await api("POST", "/v1/dev/clock", { advance: "24h" });
    const { tasks: [task] } = await api("POST", "/v1/queues/reports/take", { worker: "w1", n: 1 });
    await api("POST", `/v1/queues/reports/tasks/${task.id}/commit`, { token: task.token, result: { rows: 120 + day } });
    const { tasks } = await api("POST", "/v1/queues/reports/take", { worker: "w1", n: 10 });
    for (const { id, token } of tasks) await api("POST", `/v1/queues/reports/tasks/${id}/commit`, { token, result: { rows: 12345678901234567890, note: HOSTILE } });
  }
  const { tasks: [task] } = await api("POST", "/v1/queues/backups/take", { worker: "tape-1" });
  await api("POST", `/v1/queues/backups/tasks/${task.id}/fail`, { token: task.token, error: `no tape in the drive ${HOSTILE}` });
});
after(() => Promise.all([server?.stop(), browser?.close()]));

const plan = (id) => server.api("GET", `/v1/plans/${id}`);
const row = (tab, id) => tab.getByRole("row").filter({ has: tab.getByRole("link", { name: id, exact: true }) });

test("the list says in words when plans run, and sets them aside", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "plans" });
  await row(tab, "nightly").getByText("At 02:30 every day (Europe/Berlin)").waitFor();
  await row(tab, "sweep").getByText("Every 15 minutes").waitFor();
  await row(tab, "month-end").getByText("On the last day of every month at 18:00 (Europe/Berlin)").waitFor();
  await row(tab, "review").getByText("Every Friday at 17:00 (Europe/Berlin), 12 times").waitFor();
  await row(tab, "office").getByText("At 09:00 on Monday to Friday (Europe/Berlin)").waitFor();
  await row(tab, "broken").locator("[data-state=error]").first().waitFor();
  await tab.getByRole("button", { name: "Pause nightly" }).click();
  await until(async () => (await plan("nightly")).state === "paused", "the pause");
  await tab.getByRole("button", { name: "Resume nightly" }).click();
  await until(async () => (await plan("nightly")).state === "scheduled", "the resumption");
  await tab.getByLabel("Order").selectOption("next");
  const { items } = await server.api("GET", "/v1/plans?order=next");
  await until(async () => JSON.stringify(await tab.locator("tbody .plan-name a").allTextContents()) === JSON.stringify(items.map(({ plan_id: id }) => id)), "plans by their next run");
  await tab.getByLabel("Order").selectOption("");
  await tab.getByLabel("State").selectOption("error");
  await row(tab, "nightly").waitFor({ state: "detached" });
  await row(tab, "broken").waitFor();
  await tab.getByLabel("State").selectOption("");
  await tab.getByLabel("Station").fill("mail");
  await row(tab, "broken").waitFor({ state: "detached" });
  assert.match(tab.url(), /station=mail/);
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
});

test("the same in Chinese", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "plans", language: "zh" });
  await row(tab, "nightly").getByText("每天 02:30（Europe/Berlin）").waitFor();
  await row(tab, "review").getByText("每星期五 17:00（Europe/Berlin），共 12 次").waitFor();
  await row(tab, "office").getByText("每星期一至星期五 09:00（Europe/Berlin）").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("a plan shows its next runs, its calendar with the change of clocks, and what became of its runs", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "plans/nightly" });
  const { items } = await server.api("GET", "/v1/plans/nightly/occurrences?n=10");
  const runs = tab.getByRole("region", { name: "Next runs" }).getByRole("listitem");
  await runs.first().waitFor();
  assert.deepEqual(await runs.locator("time").evaluateAll((times) => times.map((time) => time.dateTime)), items);
  const month = tab.getByRole("region", { name: "Calendar" });
  await month.getByText("March 2027").waitFor();
  await month.getByText("28 March: Clocks go forward 1h").waitFor();
  await month.getByRole("cell", { name: /^28/ }).getByText("03:00").waitFor();
  await month.getByRole("cell", { name: /^27/ }).getByText("02:30").waitFor();
  for (let n = 0; n < 7; n += 1) await month.getByRole("button", { name: "Next month" }).click();
  await month.getByText("31 October: Clocks go back 1h").waitFor();
  const { items: results } = await server.api("GET", "/v1/plans/nightly/results");
  const table = tab.getByRole("table", { name: "History" });
  await until(async () => await table.getByRole("row").count() === results.length + 1, "all results");
  await table.getByText("12345678901234567").first().waitFor();
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
});

test("a plan is run, paused, resumed, skipped and deleted", async () => {
  await server.api("POST", "/v1/plans", { plan_id: "acted", station: "acts", plan_type: "hour", plan_value: 1, plan_repet: -1 });
  const { tab, faults, close } = await openTab(browser, server, { path: "plans/acted" });
  const { next_at: next } = await plan("acted");
  await tab.getByRole("button", { name: "Skip next" }).click();
  await until(async () => (await plan("acted")).next_at > next, "the skip");
  await tab.getByRole("button", { name: "Pause" }).click();
  await tab.locator("h1 + [data-state=paused]").waitFor();
  assert.equal((await plan("acted")).state, "paused");
  await tab.getByRole("button", { name: "Resume" }).click();
  await tab.locator("h1 + [data-state=scheduled]").waitFor();
  await tab.getByRole("button", { name: "Run now" }).click();
  await until(async () => (await server.api("GET", "/v1/queues/acts")).counts.total === 1, "the run");
  await tab.getByRole("button", { name: "Delete" }).click();
  await tab.getByRole("dialog").getByRole("textbox").fill("acted");
  await tab.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await tab.getByRole("heading", { name: "Plans", level: 1 }).waitFor();
  await assert.rejects(plan("acted"), /404/);
  assert.deepEqual(faults, []);
  await close();
});

test("what happens to a plan elsewhere is seen at once", async () => {
  await server.api("POST", "/v1/plans", { plan_id: "watched", station: "watching", plan_type: "hour", plan_value: 1, plan_repet: -1 });
  const { tab, faults, close } = await openTab(browser, server, { path: "plans/watched" });
  await tab.locator("[data-connection=live]").waitFor();
  await tab.locator("h1 + [data-state=scheduled]").waitFor();
  await server.api("POST", "/v1/plans/watched/run");
  const { tasks: [task] } = await server.api("POST", "/v1/queues/watching/take", { worker: "w" });
  await server.api("POST", `/v1/queues/watching/tasks/${task.id}/commit`, { token: task.token, result: "seen" });
  await tab.getByRole("table", { name: "History" }).getByText("seen").waitFor();
  await server.api("DELETE", "/v1/plans/watched");
  assert.deepEqual(faults, []);
  await close();
});

test("the form previews every kind of rule while it is typed, and says what is wrong where it is", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "new-plan", quiet: true });
  const preview = tab.getByRole("region", { name: "When it would run" });
  const times = () => preview.locator(".next-runs time").evaluateAll((all) => all.map((time) => time.dateTime));
  const agrees = (rule) => until(async () => {
    const { items } = await server.api("POST", "/v1/plans/preview", { ...rule, n: 10 });
    return JSON.stringify((await times()).map((time) => time.slice(0, 18))) === JSON.stringify(items.map((time) => time.slice(0, 18)));
  }, `the preview of ${JSON.stringify(rule)}`);
  const kind = (name) => tab.getByLabel("Kind").selectOption(name);
  assert.equal(await tab.getByLabel("Time zone").inputValue(), "Europe/Berlin");

  await kind("week");
  await tab.getByLabel("Day of the week").selectOption("2");
  await tab.getByLabel("Time of day").fill("07:15");
  await agrees({ plan_type: "week", plan_value: 2, plan_time: "07:15", plan_repet: -1, timezone: "Europe/Berlin" });
  await kind("month");
  await tab.getByLabel("Day", { exact: true }).fill("-1");
  await tab.getByLabel("Time zone").fill("Asia/Shanghai");
  await agrees({ plan_type: "month", plan_value: -1, plan_time: "07:15", plan_repet: -1, timezone: "Asia/Shanghai" });
  await tab.getByLabel("Day", { exact: true }).fill("99");
  await tab.getByText(/^a whole number from -31 to 31/).waitFor();
  await kind("time");
  await tab.getByLabel("At", { exact: true }).fill("2027-06-01T09:00:00");
  await agrees({ plan_type: "time", plan_time: "2027-06-01T07:00:00Z" });
  for (const unit of ["second", "minute", "hour"]) {
    await kind(unit);
    await tab.getByLabel("Every", { exact: true }).fill("7");
    await tab.getByLabel("Counted from").fill("2027-05-01T09:00:00");
    await tab.getByLabel("How often").fill("4");
    await agrees({ plan_type: unit, plan_value: 7, plan_time: "2027-05-01T07:00:00Z", plan_repet: 4 });
  }
  await kind("none");
  await until(async () => (await times()).length === 1, "one run at once");
  await kind("cron");
  await tab.getByLabel("Pattern").fill("0 12 * * ");
  await tab.getByText(/^five fields/).waitFor();
  await tab.getByLabel("Pattern").fill("30 2 L * *");
  await tab.getByLabel("How often").fill("");
  await tab.getByLabel("Time zone").fill("Europe/Nowhere");
  await tab.locator("small.wrong").waitFor();
  await tab.getByLabel("Time zone").fill("Europe/Berlin");
  await preview.getByText("At 02:30 on the last day of the month (Europe/Berlin)").waitFor();
  await agrees({ plan_type: "cron", cron: "30 2 L * *", plan_repet: -1, timezone: "Europe/Berlin" });
  await kind("day");
  await tab.getByLabel("Counted from").fill("2027-03-26T09:00:00");
  await agrees({ plan_type: "day", plan_value: 1, plan_time: "2027-03-26T08:00:00Z", plan_repet: -1, timezone: "Europe/Berlin" });
  await preview.getByText("Clocks go forward 1h").first().waitFor();

  await tab.getByLabel("Station").fill("no such name!");
  await tab.getByRole("button", { name: "Save" }).click();
  await tab.locator(".field", { has: tab.getByLabel("Station") }).locator(".wrong").waitFor();
  await tab.getByLabel("Station").fill("made");
  await tab.getByLabel("Id", { exact: true }).fill("made-here");
  await tab.getByLabel("Description").fill(HOSTILE);
  await tab.getByLabel("Payload", { exact: true }).fill('{"n": 12345678901234567890}');
  await tab.getByLabel("Hold").fill("5m");
  await tab.getByLabel("Tags").fill("a, b");
  await tab.getByLabel("Make up for runs that were missed").check();
  await tab.getByRole("button", { name: "Save" }).click();
  await tab.getByRole("heading", { name: "made-here", level: 1 }).waitFor();
  const made = await plan("made-here");
  assert.deepEqual([made.plan_type, made.plan_time, made.hold, made.tags, made.no_keep, made.description], ["day", "2027-03-26T08:00:00.000Z", 300, ["a", "b"], true, HOSTILE]);
  assert.equal(made.on_error, "continue");
  assert.match(await (await fetch(`${server.address}/v1/plans/made-here`)).text(), /12345678901234567890/);

  await tab.getByRole("link", { name: "Edit", exact: true }).click();
  assert.equal(await tab.getByLabel("Counted from").inputValue(), "2027-03-26T09:00");
  await kind("week");
  await tab.getByLabel("How often").fill("3");
  await tab.getByLabel("After a failed run").selectOption("stop_after");
  await tab.getByLabel("Failures in a row").fill("5");
  await tab.getByLabel("Hold").fill("");
  await tab.getByRole("button", { name: "Save" }).click();
  await tab.getByRole("heading", { name: "made-here", level: 1 }).waitFor();
  const edited = await plan("made-here");
  assert.deepEqual([edited.plan_type, edited.plan_value, edited.plan_time, edited.plan_repet, edited.hold, edited.station], ["week", 1, "09:00:00", 3, null, "made"]);
  assert.deepEqual(edited.on_error, { stop_after: 5 });
  assert.match(await (await fetch(`${server.address}/v1/plans/made-here`)).text(), /12345678901234567890/);
  await server.api("DELETE", "/v1/plans/made-here");
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
});

test("without the right to change nothing can be changed", async () => {
  const locked = await startServer({ config: '[[tokens]]\ntoken = "a-token-that-reads"\nrights = ["read"]\n[[tokens]]\ntoken = "a-token-for-all-rights"\nrights = ["read", "produce", "consume", "admin"]\n' });
  await locked.apiWith("a-token-for-all-rights")("POST", "/v1/plans", { plan_id: "seen", station: "s", plan_type: "hour", plan_value: 1, plan_repet: -1 });
  const { tab, faults, close } = await openTab(browser, locked, { path: "plans", token: "a-token-that-reads" });
  await tab.getByRole("link", { name: "seen" }).waitFor();
  assert.equal(await tab.getByRole("main").getByRole("button").count(), 0);
  await tab.getByRole("link", { name: "seen" }).click();
  await tab.getByRole("region", { name: "Calendar" }).waitFor();
  assert.equal(await tab.locator(".page-header button").count(), 0);
  assert.deepEqual(faults, []);
  await close();
  await locked.stop();
});

test("pictures", async () => {
  await looks(browser, server, "plans", "plans", "tbody tr");
  await looks(browser, server, "plan", "plans/nightly", ".month .busy");
  await looks(browser, server, "plan-form", "new-plan", ".plan-preview .next-runs");
});
