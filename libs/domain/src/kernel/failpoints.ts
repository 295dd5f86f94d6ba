/**
 * Named places in the code where a test can inject a fault, so that tests reach each moment of a crash and not only
 * those that a timer happens to hit. They are compiled into every program; until {@link placeFailpoints} is called,
 * hitting one costs a single branch.
 */

/**
 * In the order of an action's life. A name that ends with `.ack` is the moment after an append was written and before
 * its answer is given, so a fault there can lose the answer; the same name without `.ack` (for `seal.ack` it is
 * `seal.signed`) is the moment before the append. The event store itself hits both.
 */
export const FAILPOINTS = [
  /** A call has been read; nothing is stored. */
  'gate.received',
  /** The append that accepts or refuses a call. If the same process executes the call, this append claims it too. */
  'gate.t1',
  'gate.t1.ack',
  /** The call is accepted; the executor has not been told. */
  'gate.enqueue',
  /** The agent may run the call itself (proxy mode), and has not been told. */
  'proxy.authorized',
  /** The execution is claimed; the credential is not open. */
  'exec.claimed',
  /** The append of a further claim: for the next attempt, or by a process that takes the execution over. */
  'exec.t3',
  'exec.t3.ack',
  /** The call may be sent; no byte has left. */
  'exec.before_send',
  /** Half of the request's body has left. Never hit for a request without a body. */
  'exec.mid_send',
  /** The whole request has left. */
  'exec.sent',
  /** The answer is in memory and nowhere else. */
  'exec.answered',
  /** Another attempt is due and not yet claimed. */
  'exec.retry',
  /** The append of an outcome. */
  'exec.t4',
  'exec.t4.ack',
  /** A connector has tripped a breaker; no event says that it is disabled. */
  'con.breaker',
  /** The outcome is in the log; the read-back of what the call changed has not begun. */
  'exec.read_back',
  /** The append of the result of a read-back. */
  'exec.t5',
  'exec.t5.ack',
  /** What a person's passkey signed is stored; no event names it. */
  'apr.assertion',
  /** An action waits for an approval; no mail about it is written. */
  'apr.mail',
  /** The last needed approval is in the log; nobody has been told that the call may run. */
  'apr.resume',
  /** The action is as far as the client asked for; the client has not been answered. */
  'gate.reply',
  /** Deeds are due; nothing is signed. */
  'seal.before',
  /** The append of signed deeds. */
  'seal.signed',
  'seal.ack',
  /** A new checkpoint key is stored; no event names it. */
  'ckpt.key',
  /** The hashes of a ledger's tree are stored; nothing is signed. */
  'ckpt.tiles',
  /** A signed tree is remembered outside of the database; the append of its checkpoint has not begun. */
  'ckpt.kept',
  /** The number of another origin is remembered outside of the database; no event names it. */
  'ckpt.begun',
  /** The append of a signed checkpoint. */
  'ckpt.made',
  'ckpt.made.ack',
  /** A witness has answered; the answer is in memory and nowhere else. */
  'wit.answered',
  /** The append of a cosignature. */
  'wit.cosigned',
  'wit.cosigned.ack',
  /** What a witness holds against a ledger is kept; nothing says yet that the ledger is broken. */
  'wit.disputed',
  /** The checkpoint has moved and the rows have not, in one transaction. */
  'proj.mid',
  /** The rows of deliveries to webhooks are written; the dispatcher has not been told. */
  'hook.enqueue',
  /** A delivery is claimed and signed; the egress door has not been asked. */
  'hook.before_send',
  /** A receiver has answered; the answer is in memory and nowhere else. */
  'hook.answered',
  /** A webhook endpoint is about to be disabled; no event says so yet. */
  'hook.disable',
  /** The next deed of an export has been read and not yet written to the response. */
  'export.mid',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

export interface Failpoints {
  /**
   * Whether a hit of this point may have an effect. For code that has to prepare something before it reaches the point.
   */
  isArmed(name: Failpoint): boolean;
  /** Resolves when the work may go on. Rejects with the error that the operation at this place would fail with. */
  hit(name: Failpoint): Promise<void>;
}

let placed: Failpoints | null = null;

/** Sets the failpoints of the whole process; null makes every point inert again. */
export const placeFailpoints = (failpoints: Failpoints | null): void => {
  placed = failpoints;
};

/** Hits a point. The result must be awaited; undefined if no failpoints are placed. */
export const failpoint = (name: Failpoint): Promise<void> | undefined => placed?.hit(name);

export const isFailpointArmed = (name: Failpoint): boolean => placed?.isArmed(name) ?? false;
