/**
 * Wake-ups between processes: a bell, never a source of truth. A process that waits on a channel subscribes first, then
 * reads the store, and reads it again every second. So a lost message costs latency and nothing else.
 */
export abstract class Bus {
  abstract publish(channel: string, message: string): void;
  /**
   * Returns a function that unsubscribes. If a listener throws, the error is reported and the other listeners still
   * run.
   */
  abstract subscribe(channel: string, listener: (message: string) => void): () => void;
}

/**
 * Rung when a process has appended to an event store whose server sends no notifications. The message names that
 * process, so that it can ignore its own messages.
 */
export const LOG_CHANNEL = 'log';

/** Rung when an action reached a new state. The message says which kind: `decided`, `recorded` or `sealed`. */
export const actionChannel = (actionId: string): string => `action:${actionId}`;

/**
 * Rung when an admin deed was sealed; the message is `sealed`. The deed of an action is announced on {@link
 * actionChannel}.
 */
export const deedChannel = (deedId: string): string => `deed:${deedId}`;

/**
 * Rung when an agent, an organization, its members or a key changed in a way that may end waits, such as a Stop or a
 * revoked key. The message names the kind of object.
 */
export const orgChannel = (orgId: string): string => `org:${orgId}`;

/**
 * Rung when a session of the person ended. The message is the id of that session. Open event streams of the person then
 * check their session again at once.
 */
export const userChannel = (userId: string): string => `user:${userId}`;

/**
 * Rung when a policy version was put into the shadow slot. The message is the ids of organization, policy and version,
 * separated by spaces.
 */
export const SHADOW_CHANNEL = 'shadow';

/** Rung when a mail is to be written or sent. */
export const MAIL_CHANNEL = 'mail';

/** Rung when rows of public events may have been written. The message is empty. */
export const PUBLIC_EVENTS_CHANNEL = 'public_events';

/** Rung when a delivery to a webhook endpoint was made due by hand. The message is the endpoint's id. */
export const WEBHOOKS_CHANNEL = 'webhooks';
