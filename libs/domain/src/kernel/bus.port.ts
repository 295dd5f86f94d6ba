/**
 * Wake-ups between processes: a bell, never a source of truth. Whoever waits on a channel subscribes first, then reads
 * the store, then reads again every second: a lost message costs latency and nothing else.
 */
export abstract class Bus {
  abstract publish(channel: string, message: string): void;
  /** Returns how to leave. A listener that throws is reported and does not disturb the others. */
  abstract subscribe(channel: string, listener: (message: string) => void): () => void;
}

/**
 * Rung when a process has appended to a log whose server tells nobody. The message names the process, so that each
 * passes over its own.
 */
export const LOG_CHANNEL = 'log';

/** Rung when an action reached a new state: sealed, waiting for a person, executing. The message is empty. */
export const actionChannel = (actionId: string): string => `action:${actionId}`;

/** Rung when the deed of a change was sealed. Whoever waits for an action's deed waits for the action. */
export const deedChannel = (deedId: string): string => `deed:${deedId}`;

/** Rung when an agent, an organization or a key changed in a way that ends waits: a Stop, a revoke. */
export const orgChannel = (orgId: string): string => `org:${orgId}`;

/** Rung when a session of the person ended: what is open in its name asks again at once. */
export const userChannel = (userId: string): string => `user:${userId}`;

/** Rung when a version was put into the shadow slot. The message: organization, policy and version, by spaces. */
export const SHADOW_CHANNEL = 'shadow';

/** Rung when a mail is to be written or sent. */
export const MAIL_CHANNEL = 'mail';

/** Rung when rows of public events may have been written. The message is empty. */
export const PUBLIC_EVENTS_CHANNEL = 'public_events';

/** Rung when a delivery to a webhook endpoint was made due by hand. The message is the endpoint's id. */
export const WEBHOOKS_CHANNEL = 'webhooks';
