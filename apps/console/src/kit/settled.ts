import { useEffect, useState } from 'react';

/**
 * Whether what a button says has stood for a moment. The second press of a double click, or of somebody who saw nothing
 * happen, is meant for what the button said before: until this is true a press is none.
 * @param meaning what it says by now
 * @param first what it may be pressed for at once, where it took no other one's place
 */
export const useSettled = (meaning: string, afterMs = 1_000, first: string | null = null): boolean => {
  const [settled, setSettled] = useState(first);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(meaning), afterMs);
    return () => clearTimeout(timer);
  }, [meaning, afterMs]);
  return settled === meaning;
};
