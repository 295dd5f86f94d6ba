import { createContext, Script } from 'node:vm';

/** The most attempts of a run that never gets its share of the processor: a second of waiting, then it is ended. */
const ATTEMPTS_MAX = 20;

export type TimedResult<Value> = { readonly hasEnded: true; readonly value: Value } | { readonly hasEnded: false };

/**
 * Runs synchronous work and ends it, wherever it is, when it has used its time. The time is the work's own: nothing
 * else of this process can run meanwhile, and a run that was ended while the machine gave the processor to others is
 * made again until it has had its time (rule POLICY-1). The work must be free of effects: it may be cut off at any
 * point and repeated.
 *
 * @param clock what the work has used of the processor, in milliseconds from any moment
 */
export const runWithin = <Value>(limitMs: number, work: () => Value, clock = processorTimeMs): TimedResult<Value> => {
  const started = clock();
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const result = attemptWithin(limitMs, work);
    if (result.hasEnded || clock() - started >= limitMs) return result;
  }
  return { hasEnded: false };
};

// A context of its own holds the call and nothing of it afterwards; making one costs a millisecond, so it is made once.
const sandbox: { work: () => void } = createContext({ work: () => undefined }) as { work: () => void };
const call = new Script('work()', { filename: 'policy-evaluation' });

const attemptWithin = <Value>(limitMs: number, work: () => Value): TimedResult<Value> => {
  let result: TimedResult<Value> = { hasEnded: false };
  sandbox.work = () => {
    result = { hasEnded: true, value: work() };
  };
  try {
    call.runInContext(sandbox, { timeout: limitMs });
  } catch (error) {
    if (!isTimeout(error)) throw error;
    // The work may have ended in the same moment as its time: an answer that is there is an answer.
    return result;
  } finally {
    sandbox.work = () => undefined;
  }
  return result;
};

const isTimeout = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/**
 * Of this thread where Node can tell (22.19, 23.9), else of the process: that is never less, so a run that was ended
 * with less than its limit on this clock has surely not had its time.
 */
const processorTimeMs = (): number => {
  const { user, system } = processorUsage();
  return (user + system) / 1_000;
};

const threadUsage = (process as { threadCpuUsage?: () => NodeJS.CpuUsage }).threadCpuUsage?.bind(process);
const processorUsage = threadUsage ?? (() => process.cpuUsage());
