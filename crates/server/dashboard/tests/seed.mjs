// A server that has been in use: queues of several kinds, tasks in every state, plans.

const STEPS = 340;

/** An hour of traffic in four queues, on a server whose clock can be moved (`--dev`). */
export async function seedHour(api) {
  for (let step = 0; step < STEPS; step += 1) {
    await api("POST", "/v1/dev/clock", { advance: "10s" });
    for (const [index, queue] of ["mail", "thumbnails", "invoices", "reports"].entries()) {
      if (index > 1 && step % (index * 4) !== 0) continue;
      const wave = 2 + Math.sin((step + index * 70) / 40) + 0.4 * Math.sin((step * (index + 2)) / 11);
      const n = Math.max(1, Math.round((wave * 30) / (index + 1)));
      await api("POST", `/v1/queues/${queue}/tasks`, { tasks: Array.from({ length: n }, () => ({})) });
      const { tasks } = await api("POST", `/v1/queues/${queue}/take`, { n });
      const failed = tasks.slice(0, step % 37 < 5 + index ? Math.ceil(n / 12) : 0);
      const done = tasks.slice(failed.length);
      await api("POST", `/v1/queues/${queue}/commit`, { tasks: done.map(({ id, token }) => ({ id, token })) });
      if (failed.length > 0) await api("POST", `/v1/queues/${queue}/fail`, { tasks: failed.map(({ id, token }) => ({ id, token, error: "upstream answered 503", permanent: true })) });
    }
  }
  for (const queue of ["mail", "thumbnails", "invoices", "reports"]) await api("POST", `/v1/queues/${queue}/reset`);
}

/** Fills a server through its API. */
export async function seed(api) {
  await api("PUT", "/v1/queues/mail", { tag: "production", keep: { done: "1h", cancelled: "1h" }, max_attempts: 3 });
  await api("PUT", "/v1/queues/thumbnails", { concurrency: 4, keep: { done: "1h" }, retry: { intervals: ["10s", "1m", "10m"] } });
  await api("PUT", "/v1/queues/invoices", { tag: "production", rate: { limit: 20, per: "1s" } });
  await api("PUT", "/v1/queues/reports", {});
  const people = ["ada", "grace", "edsger", "barbara", "donald", "margaret", "alan", "radia"];
  await api("POST", "/v1/queues/mail/tasks", { tasks: Array.from({ length: 40 }, (_, n) => ({ id: `welcome-${n + 1}`, payload: { to: `${people[n % 8]}@example.com`, template: "welcome", order: 9007199254740993 + n }, tags: n % 3 ? ["welcome"] : ["welcome", "vip"], priority: n % 5 })) });
  await api("POST", "/v1/queues/mail/tasks", { tasks: Array.from({ length: 12 }, (_, n) => ({ id: `digest-${n + 1}`, payload: { to: `${people[n % 8]}@example.com`, template: "digest" }, delay: `${n + 1}h`, tags: ["digest"] })) });
  const { tasks } = await api("POST", "/v1/queues/mail/take", { worker: "mailer-1", n: 24, hold: "10m" });
  for (const [n, { id, token }] of tasks.entries()) {
    if (n < 14) await api("POST", `/v1/queues/mail/tasks/${id}/commit`, { token, result: { message_id: `<${id}@example.com>`, accepted: true } });
    else if (n < 18) await api("POST", `/v1/queues/mail/tasks/${id}/fail`, { token, error: "smtp: 550 mailbox unavailable", permanent: true });
    else if (n < 20) await api("POST", `/v1/queues/mail/tasks/${id}/fail`, { token, error: "smtp: connection timed out after 30 s" });
    else await api("POST", `/v1/queues/mail/tasks/${id}/extend`, { token, progress: (n - 19) / 5, message: "rendering the template" });
  }
  await api("POST", "/v1/queues/thumbnails/tasks", { tasks: Array.from({ length: 25 }, (_, n) => ({ payload: { image: `s3://photos/${1000 + n}.jpg`, sizes: [64, 256, 1024] } })) });
  const taken = await api("POST", "/v1/queues/thumbnails/take", { worker: "gpu-2", n: 4, hold: "5m" });
  for (const { id, token } of taken.tasks.slice(0, 2)) await api("POST", `/v1/queues/thumbnails/tasks/${id}/fail`, { token, error: "out of memory while decoding a 12,000 × 9,000 image", permanent: true });
  await api("POST", "/v1/queues/invoices/tasks", { tasks: Array.from({ length: 6 }, (_, n) => ({ payload: { customer: 4100 + n } })) });
  await api("POST", "/v1/queues/invoices/pause");
  const cron = (/** @type {string} */ pattern) => ({ plan_type: "cron", cron: pattern, timezone: "Europe/Berlin" });
  // From now on, not by the clock: nothing falls due while a test looks.
  const often = { plan_type: "minute", plan_value: 15 };
  for (const [id, description, rule] of [["nightly", "Nightly report", cron("0 3 * * *")], ["sweep", "Sweep expired sessions", often], ["invoices", "Invoices of the month", cron("0 6 1 * *")]]) {
    await api("POST", "/v1/plans", { plan_id: id, description, station: "reports", ...rule, plan_repet: -1, message: { job: id } });
  }
}
