import type { Payload } from '#libs/domain/kernel';
import type { PayloadsBesideLog } from '#libs/infra/event-store';
import { HeldPayloads } from './held-payloads.js';

interface HeldBesideLog extends PayloadsBesideLog {
  readonly storedBody: (payload: Payload) => Promise<string | null>;
}

/** Payloads of one process beside a log of one process. */
export const heldBesideLog = (): HeldBesideLog => {
  const held = new HeldPayloads();
  return {
    put: (payload) => held.put(payload),
    noteStored: () => undefined,
    storedBody: ({ owner, kind, digest }) => held.get(owner, kind, digest),
  };
};
