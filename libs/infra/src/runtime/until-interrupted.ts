/** SIGHUP: its terminal was closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A ctrl-C comes twice under npm, which hands on what the terminal has sent already: within this time it is the same one. */
const ECHO_MS = 500;

/**
 * Runs `work` until it ends by itself or is told to by Ctrl-C, SIGTERM or SIGHUP; from then on it is for the work to end soon, and a
 * second signal ends the process at once.
 */
export const untilInterrupted = async <Result>(
  work: (interrupted: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController();
  const ignoreNothing = (): void => {
    for (const signal of SIGNALS) process.removeListener(signal, interrupt);
  };
  const interrupt = (): void => {
    if (controller.signal.aborted) return;
    controller.abort();
    setTimeout(ignoreNothing, ECHO_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    return await work(controller.signal);
  } finally {
    // An echo may come after the end: how the process ends is for the work to say.
    if (!controller.signal.aborted) ignoreNothing();
  }
};
