// Where the steps of a flow stand in a drawing: in layers from left to right, each after all it waits for, and in
// an order in which few lines cross.

/** @typedef {{name: string, after: string[]}} Step */
/** @typedef {{x: number, y: number, layer: number, row: number}} Place */

const SWEEPS = 4;

/**
 * The layer of each step: one more than the last of those before it. Names that are not there are passed over.
 * @param {Step[]} steps
 * @returns {Map<string, number>}
 */
function layersOf(steps) {
  const waits = new Map(steps.map((step) => [step.name, 0]));
  /** @type {Map<string, string[]>} */
  const then = new Map();
  for (const { name, after } of steps) {
    for (const before of after) {
      if (!waits.has(before)) continue;
      waits.set(name, (waits.get(name) ?? 0) + 1);
      then.set(before, [...(then.get(before) ?? []), name]);
    }
  }
  /** @type {Map<string, number>} */
  const layers = new Map();
  let ready = steps.filter((step) => !waits.get(step.name)).map((step) => step.name);
  for (let layer = 0; ready.length > 0; layer += 1) {
    /** @type {string[]} */
    const following = [];
    for (const name of ready) {
      layers.set(name, layer);
      for (const next of then.get(name) ?? []) {
        const left = (waits.get(next) ?? 0) - 1;
        waits.set(next, left);
        if (left === 0) following.push(next);
      }
    }
    ready = following;
  }
  return layers;
}

/**
 * Places all steps.
 * @param {Step[]} steps
 * @param {{width: number, height: number}} cell
 * @returns {{places: Map<string, Place>, width: number, height: number}}
 */
export function layout(steps, cell) {
  const layers = layersOf(steps);
  /** @type {Step[][]} */
  const columns = [];
  for (const step of steps) (columns[layers.get(step.name) ?? 0] ??= []).push(step);
  /** @type {Map<string, string[]>} */
  const then = new Map();
  for (const step of steps) for (const before of step.after) then.set(before, [...(then.get(before) ?? []), step.name]);

  const tallest = Math.max(1, ...columns.map((column) => column.length));
  /** @type {Map<string, number>} */
  const rows = new Map();
  const settle = (/** @type {Step[]} */ column) => column.forEach((step, index) => rows.set(step.name, index + (tallest - column.length) / 2));
  columns.forEach(settle);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : [...columns].reverse()) {
      const wish = new Map(column.map((step) => {
        const near = (forward ? step.after : then.get(step.name) ?? []).map((name) => rows.get(name)).filter((row) => row !== undefined);
        return [step.name, near.length > 0 ? near.reduce((sum, row) => sum + row, 0) / near.length : rows.get(step.name) ?? 0];
      }));
      column.sort((a, b) => (wish.get(a.name) ?? 0) - (wish.get(b.name) ?? 0));
      settle(column);
    }
  }
  const places = new Map(steps.map(({ name }) => {
    const [layer, row] = [layers.get(name) ?? 0, rows.get(name) ?? 0];
    return [name, { layer, row, x: layer * cell.width, y: row * cell.height }];
  }));
  return { places, width: columns.length * cell.width, height: tallest * cell.height };
}

/**
 * A step with those before and after it, a few layers far, at most so many.
 * @template {Step} S
 * @param {S[]} steps
 * @param {string} name
 * @param {number} most
 * @returns {S[]}
 */
export function around(steps, name, most) {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const found = new Set(byName.has(name) ? [name] : []);
  let edge = [name];
  for (let far = 0; far < 2 && found.size < most; far += 1) {
    const next = new Set(edge.flatMap((at) => byName.get(at)?.after ?? []));
    for (const step of steps) if (step.after.some((before) => edge.includes(before))) next.add(step.name);
    edge = [...next].filter((at) => !found.has(at)).slice(0, most - found.size);
    for (const at of edge) found.add(at);
  }
  return steps.filter((step) => found.has(step.name));
}
