// An action that is under way is not begun a second time by another click.

import { useCallback, useEffect, useRef } from "./html.js";

/**
 * Runs one action at a time: what is asked for while another is under way is left out.
 * @returns {(action: () => unknown) => Promise<void>}
 */
export function useOnce() {
  const busy = useRef(false);
  return useCallback(async (action) => {
    if (busy.current) return;
    busy.current = true;
    try {
      await action();
    } finally {
      busy.current = false;
    }
  }, []);
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
