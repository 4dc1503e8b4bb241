// An action that is under way is not begun a second time by another click.

import { useCallback, useEffect, useRef, useState } from "./html.js";

/**
 * Runs one action at a time: what is asked for while another is under way is left out. Says also whether one is.
 * @returns {[once: (action: () => unknown) => Promise<void>, busy: boolean]}
 */
export function useOnce() {
  const under = useRef(false);
  const [busy, setBusy] = useState(false);
  const once = useCallback(async (/** @type {() => unknown} */ action) => {
    if (under.current) return;
    under.current = true;
    setBusy(true);
    try {
      await action();
    } finally {
      under.current = false;
      setBusy(false);
    }
  }, []);
  return [once, busy];
}

/** Whether the component is still on screen, for an answer that comes later. @returns {() => boolean} */
export function useShown() {
  const shown = useRef(true);
  useEffect(
    () => () => {
      shown.current = false;
    },
    [],
  );
  return useCallback(() => shown.current, []);
}
