// Waits for conditions.

/**
 * @template T
 * @param {() => T | Promise<T>} condition
 * @returns {Promise<T>}
 */
export async function until(condition, timeout = 20) {
  const end = Date.now() + timeout * 1000;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > end) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const KEEP = { done: "1h", failed: "1h", cancelled: "1h" };
