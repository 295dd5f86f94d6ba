import { Session } from 'node:inspector';

/**
 * For a process that serves, once it does: half of what its heap takes is then what the start has read and thrown away, and
 * V8 would keep it, and the room for young objects that the start needed, until it has a reason to collect. Nothing else runs
 * for a tenth of a second. V8's inspector is the one way to ask for it that needs no flag of Node's; nobody can connect to it.
 */
export const giveBackWhatStartUsed = (): Promise<void> =>
  new Promise((resolve) => {
    const session = new Session();
    session.connect();
    session.post('HeapProfiler.collectGarbage', () => {
      // Not within its own answer: Node 20 then stands still for good.
      setImmediate(() => {
        session.disconnect();
        resolve();
      });
    });
  });
