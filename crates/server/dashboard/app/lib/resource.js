// What a view reads from the API, kept fresh by events: `useResource(path, {types, queue})`.
//
// However many events there are, a view is read at most about once a second, never twice at the same time,
// and not while the tab is hidden. Old data stays on screen while new data comes.

import { useCallback, useEffect, useRef, useState } from "./html.js";
import { api, ApiError } from "./api.js";
import { listen } from "./live.js";

const APART_MS = 1000;

/**
 * @template T
 * @typedef {object} Resource
 * @property {T | undefined} data what was read last
 * @property {ApiError | undefined} error why it could not be read
 * @property {boolean} loading whether the first reading is under way
 * @property {T | undefined} last what was read before it vanished: it was there, and now it is not
 * @property {() => void} refresh reads it again at once
 */

/**
 * Reads a path of the API, and again when something has happened to it.
 * @template [T=any]
 * @param {string | null} path nothing is read while it is null
 * @param {object} [options]
 * @param {string[]} [options.types] events that change it, such as `task.*`
 * @param {string | null} [options.queue] the only queue whose events do
 * @param {number} [options.apart] milliseconds between two readings, at least
 * @param {boolean} [options.keep] whether what was read stays on screen until what another path says is there
 * @param {(path: string, signal: AbortSignal) => Promise<T>} [options.read] how it is read
 * @returns {Resource<T>}
 */
export function useResource(path, { types, queue, apart = APART_MS, keep = false, read = api.get } = {}) {
  const [state, setState] = useState(/** @type {{path: string | null, data?: T, last?: T, error?: ApiError}} */ ({ path: null }));
  const reload = useRef(() => {});
  const kinds = types?.join();
  const reading = useRef(read);
  reading.current = read;

  useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    let last = 0;
    let busy = false;
    let dirty = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;

    const load = async () => {
      timer = undefined;
      if (busy) {
        dirty = true;
        return;
      }
      (busy = true), (dirty = false), (last = Date.now());
      try {
        const data = await reading.current(path, abort.signal);
        if (!abort.signal.aborted) setState({ path, data });
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = error instanceof ApiError ? error : new ApiError(0, "broken", String(error));
        setState((old) => {
          const [known, gone] = [old.path === path ? old.data : undefined, problem.status === 404];
          const last = gone ? (known ?? (old.path === path ? old.last : undefined)) : undefined;
          return { path, data: gone ? undefined : known, last, error: problem };
        });
      } finally {
        busy = false;
        if (dirty && !abort.signal.aborted) changed();
      }
    };
    const changed = () => {
      if (document.hidden) return;
      timer ??= setTimeout(due, Math.max(0, last + apart - Date.now()));
    };
    const due = () => {
      timer = undefined;
      // A tab that was hidden meanwhile is told when it is seen again.
      if (!document.hidden) void load();
    };
    reload.current = () => {
      clearTimeout(timer);
      void load();
    };
    void load();
    const off = kinds === undefined ? () => {} : listen({ types: kinds.split(","), queue, changed });
    return () => {
      off();
      clearTimeout(timer);
      abort.abort();
      reload.current = () => {};
    };
  }, [path, kinds, queue, apart]);

  const current = state.path === path;
  return {
    data: current || keep ? state.data : undefined,
    error: current ? state.error : undefined,
    last: current ? state.last : undefined,
    loading: path !== null && !current,
    refresh: useCallback(() => reload.current(), []),
  };
}
