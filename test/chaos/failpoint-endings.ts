import type { Failpoint } from '#libs/domain/kernel';

export const FAULTS = ['kill', 'error', 'delay'] as const;
export type Fault = (typeof FAULTS)[number];

/**
 * How a call ends that meets the point, and how many requests of it reach the upstream whole. `may`: the point is not the
 * call's own, so the call may be anywhere when it acts.
 */
export type Ending = `${'succeeded' | 'failed' | 'unknown'} ${0 | 1 | 2}` | 'succeeded 1 VERIFIED' | 'may';

interface Row {
  /**
   * What is met: a write unless said. `busy`: a read whose first attempt the upstream refuses. `edge`: a call that the
   * agent runs itself, and reports once it hears that it may. `read`: a write that is read back, whose verdict is told, too.
   */
  readonly by?: 'busy' | 'export' | 'edge' | 'read';
  readonly kill: Ending;
  readonly error: Ending;
  /** Past every deadline that the call at this place has: see failpoint-lane.ts. */
  readonly delay: Ending;
}

/**
 * The others are met by what a person does (test/e2e/approvals.long.spec.ts), by what is sent to webhooks
 * (test/webhooks/crashes.spec.ts) and where checkpoints are made and cosigned (test/ledger).
 */
export type PointOfCall = Exclude<
  Failpoint,
  `apr.${string}` | `ckpt.${string}` | `con.${string}` | `wit.${string}` | `hook.${string}`
>;

const READ = 'succeeded 1 VERIFIED' as const;

/** Once the fault is over and the same key was sent again. */
export const ENDINGS: Readonly<Record<PointOfCall, Row>> = {
  // Nothing was stored: the same key runs as the first.
  'gate.received': { kill: 'succeeded 1', error: 'succeeded 1', delay: 'succeeded 1' },
  // Written late, it is claimed by an executor that was told that it is not: nothing of it is sent.
  'gate.t1': { kill: 'succeeded 1', error: 'succeeded 1', delay: 'failed 0' },
  // Claimed by a process that never began: a `once` tool is not begun by another.
  'gate.t1.ack': { kill: 'unknown 0', error: 'failed 0', delay: 'unknown 0' },
  // Whoever could not begin says so; nobody knows it of one that is gone.
  'gate.enqueue': { kill: 'unknown 0', error: 'failed 0', delay: 'unknown 0' },
  // Authorized once: the same key is told the same deadline, whoever has answered it.
  'proxy.authorized': { by: 'edge', kill: 'succeeded 0', error: 'succeeded 0', delay: 'succeeded 0' },
  'exec.claimed': { kill: 'unknown 0', error: 'failed 0', delay: 'failed 0' },
  // The second attempt of a read: whoever does not know whether he may make it does not.
  'exec.t3': { by: 'busy', kill: 'succeeded 2', error: 'unknown 1', delay: 'unknown 1' },
  'exec.t3.ack': { by: 'busy', kill: 'succeeded 2', error: 'unknown 1', delay: 'unknown 1' },
  'exec.before_send': { kill: 'unknown 0', error: 'failed 0', delay: 'failed 0' },
  'exec.mid_send': { kill: 'unknown 0', error: 'unknown 0', delay: 'unknown 0' },
  // An answer that was there in time counts, however late it is read.
  'exec.sent': { kill: 'unknown 1', error: 'unknown 1', delay: 'succeeded 1' },
  'exec.answered': { kill: 'unknown 1', error: 'unknown 1', delay: 'succeeded 1' },
  'exec.retry': { by: 'busy', kill: 'succeeded 2', error: 'unknown 1', delay: 'unknown 1' },
  'exec.t4': { kill: 'unknown 1', error: 'succeeded 1', delay: 'succeeded 1' },
  'exec.t4.ack': { kill: 'succeeded 1', error: 'succeeded 1', delay: 'succeeded 1' },
  // Whatever was read and not recorded is read again: a read may be repeated, and one verdict stands.
  'exec.read_back': { by: 'read', kill: READ, error: READ, delay: READ },
  'exec.t5': { by: 'read', kill: READ, error: READ, delay: READ },
  'exec.t5.ack': { by: 'read', kill: READ, error: READ, delay: READ },
  'gate.reply': { kill: 'succeeded 1', error: 'succeeded 1', delay: 'succeeded 1' },
  'seal.before': { kill: 'succeeded 1', error: 'succeeded 1', delay: 'succeeded 1' },
  'seal.signed': { kill: 'succeeded 1', error: 'succeeded 1', delay: 'succeeded 1' },
  'seal.ack': { kill: 'succeeded 1', error: 'succeeded 1', delay: 'succeeded 1' },
  'proj.mid': { kill: 'may', error: 'succeeded 1', delay: 'succeeded 1' },
  'export.mid': { by: 'export', kill: 'may', error: 'may', delay: 'may' },
};

export const POINTS_OF_CALLS = Object.keys(ENDINGS) as readonly PointOfCall[];
