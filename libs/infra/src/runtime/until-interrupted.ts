/** SIGHUP comes when the terminal was closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/**
 * Under npm a Ctrl-C arrives twice, because npm passes on the signal that the terminal has already sent. A second
 * signal within this time is taken for the same one.
 */
const ECHO_MS = 500;

/**
 * Runs `work` until it ends by itself. Ctrl-C, SIGTERM or SIGHUP aborts its signal, and then the work has to end soon;
 * a second signal ends the process at once.
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
    // After an interrupt the listeners stay for the echo, which would otherwise end the process; the work decides how
    // it ends.
    if (!controller.signal.aborted) ignoreNothing();
  }
};
