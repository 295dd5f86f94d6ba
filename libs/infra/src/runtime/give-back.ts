import { Session } from 'node:inspector';

/**
 * Collects garbage once a process has started to serve. Half of its heap then is what the start has read and thrown
 * away; V8 would keep that, and the space for young objects that the start needed, until it has a reason to collect.
 * The process stands still for a tenth of a second. V8's inspector is the only way to request this without a flag of
 * Node's; nobody can connect to it from outside.
 */
export const giveBackWhatStartUsed = (): Promise<void> =>
  new Promise((resolve) => {
    const session = new Session();
    session.connect();
    session.post('HeapProfiler.collectGarbage', () => {
      // Disconnecting inside the callback makes Node 20 hang for ever.
      setImmediate(() => {
        session.disconnect();
        resolve();
      });
    });
  });
