/**
 * Places at which a fault can be asked for, so that tests meet each moment of a crash and not only those that a timer hits.
 * Compiled into every program; until somebody places {@link Failpoints}, hitting one is a single branch.
 */

/**
 * In the order of an action's life. A name that ends with `.ack` is the moment after an append was written, its answer
 * lost; the same name without it is the moment before the append. Both are hit by the event store itself.
 */
export const FAILPOINTS = [
  /** A call has been read; nothing is stored. */
  'gate.received',
  /** The append that accepts or refuses a call; where the accepting process executes, it claims too. */
  'gate.t1',
  'gate.t1.ack',
  /** The call is accepted; whoever executes has not heard of it. */
  'gate.enqueue',
  /** The agent may run the call itself, and has not heard of it. */
  'proxy.authorized',
  /** Claimed; the credential is not open. */
  'exec.claimed',
  /** The append of a further claim: of the next attempt, or of whoever takes over. */
  'exec.t3',
  'exec.t3.ack',
  /** Allowed to send; not a byte has left. */
  'exec.before_send',
  /** Half of the request's body has left; requests without one do not meet it. */
  'exec.mid_send',
  /** The whole request has left. */
  'exec.sent',
  /** The answer is in memory and nowhere else. */
  'exec.answered',
  /** Another attempt is due; it is not claimed. */
  'exec.retry',
  /** The append of an outcome. */
  'exec.t4',
  'exec.t4.ack',
  /** The outcome stands in the log; nothing was read of what the call has changed. */
  'exec.read_back',
  /** The append of what a read-back has seen. */
  'exec.t5',
  'exec.t5.ack',
  /** An action waits for people, and no mail about it is written. */
  'apr.mail',
  /** A person's last yes stands in the log; nobody has been told that the call may run. */
  'apr.resume',
  /** The action is as far as the client asked for; the client has not been answered. */
  'gate.reply',
  /** Deeds are due; nothing is signed. */
  'seal.before',
  /** The append of signed deeds. */
  'seal.signed',
  'seal.ack',
  /** The checkpoint has moved and the rows have not, in one transaction. */
  'proj.mid',
  /** Rows say what is to be sent to webhooks; nobody has been told. */
  'hook.enqueue',
  /** A delivery is claimed and signed; the egress door has not been asked. */
  'hook.before_send',
  /** A receiver has answered; the answer is in memory and nowhere else. */
  'hook.answered',
  /** A webhook endpoint is to be disabled; nothing says so. */
  'hook.disable',
  /** The next deed of an export is read; it is not written. */
  'export.mid',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

export interface Failpoints {
  /** Whether the next hits may do anything at all. It is for a place in the code that must prepare its moment. */
  isArmed(name: Failpoint): boolean;
  /** Resolves when the work may go on. Rejects as the call at this place does when it fails. */
  hit(name: Failpoint): Promise<void>;
}

let placed: Failpoints | null = null;

/** For the whole process. Null: every point is inert again. */
export const placeFailpoints = (failpoints: Failpoints | null): void => {
  placed = failpoints;
};

/** To be awaited. */
export const failpoint = (name: Failpoint): Promise<void> | undefined => placed?.hit(name);

export const isFailpointArmed = (name: Failpoint): boolean => placed?.isArmed(name) ?? false;
