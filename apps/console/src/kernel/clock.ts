/**
 * The service's clock. A device's clock may be hours off, so deadlines are counted down by this one. It is learnt from
 * the `Date` header of answers, in whole seconds, and from the event stream's `hello`, which is exact.
 */
let ahead: number | null = null;
let isExact = false;

const monotonic = (): number => performance.now();

export const learnFromAnswer = (date: string | null): void => {
  const at = date === null ? NaN : Date.parse(date);
  // The header drops the milliseconds: adding half a second keeps the error within half a second either way.
  if (!isExact && !Number.isNaN(at)) ahead = at + 500 - monotonic();
};

export const learnFromStream = (serverTime: string): void => {
  const at = Date.parse(serverTime);
  if (Number.isNaN(at)) return;
  ahead = at - monotonic();
  isExact = true;
};

/** The time by the service's clock, in milliseconds since the epoch. Before the first answer, by the device's. */
export const serverNow = (): number => (ahead === null ? Date.now() : ahead + monotonic());
