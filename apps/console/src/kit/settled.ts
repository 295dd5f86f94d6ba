import { useEffect, useState } from 'react';

/**
 * Whether a button has had its present meaning for a moment. Until then a press must be ignored: it may be the second
 * press of a double click, or of somebody who saw no effect, and is meant for what the button did before.
 * @param meaning names what the button does now; a change of it starts the wait
 * @param first a meaning that may be pressed at once when the component is mounted, because the button did not replace
 * another
 */
export const useSettled = (meaning: string, afterMs = 1_000, first: string | null = null): boolean => {
  const [settled, setSettled] = useState(first);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(meaning), afterMs);
    return () => clearTimeout(timer);
  }, [meaning, afterMs]);
  return settled === meaning;
};
