/**
 * The service's clock, since a phone's may be hours off: what runs out is counted by this one. Learnt from the `Date` of
 * answers, which is whole seconds, and from `hello` of the event stream, which is exact.
 */
let ahead: number | null = null;
let isExact = false;

const monotonic = (): number => performance.now();

export const learnFromAnswer = (date: string | null): void => {
  const at = date === null ? NaN : Date.parse(date);
  // The header cuts its milliseconds off: in the middle half a second is lost.
  if (!isExact && !Number.isNaN(at)) ahead = at + 500 - monotonic();
};

export const learnFromStream = (serverTime: string): void => {
  const at = Date.parse(serverTime);
  if (Number.isNaN(at)) return;
  ahead = at - monotonic();
  isExact = true;
};

/** Milliseconds since the epoch, as the service counts them. */
export const serverNow = (): number => (ahead === null ? Date.now() : ahead + monotonic());
