/** Starts `work` so many times a second, on time and without waiting for the one before; resolves when all have ended. */
export const paced = async (perSecond: number, seconds: number, work: () => Promise<void>): Promise<void> => {
  const intervalMs = 1000 / perSecond;
  const begun = performance.now();
  const running: Promise<void>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const waitMs = begun + index * intervalMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    running.push(work());
  }
  await Promise.all(running);
};

/** The value below which this share of the samples lies. */
export const quantile = (samples: readonly number[], share: number): number => {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};
