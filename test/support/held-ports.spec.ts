import type { KeyHolder } from '#libs/domain/agents';
import type { Payload } from '#libs/domain/kernel';
import { approvalPlacesContract } from '../contracts/approval-places.contract.js';
import { budgetReservationsContract } from '../contracts/budget-reservations.contract.js';
import { intentNoncesContract } from '../contracts/intent-nonces.contract.js';
import { keyDirectoryContract } from '../contracts/key-directory.contract.js';
import { livenessContract } from '../contracts/liveness.contract.js';
import { payloadStoreContract } from '../contracts/payload-store.contract.js';
import type { RowsUnderTest } from '../contracts/rows-under-test.js';
import { HeldBeats } from './held-beats.js';
import { HeldBudgets } from './held-budgets.js';
import { HeldDirectory } from './held-directory.js';
import { HeldNonces } from './held-nonces.js';
import { HeldPayloads } from './held-payloads.js';
import { HeldPlaces } from './held-places.js';

/** Rows in memory: what is emptied is thrown away. */
class Held<Port> implements RowsUnderTest<Port> {
  port: Port;

  constructor(private readonly make: () => Port) {
    this.port = make();
  }
  open(): Port {
    return this.port;
  }
  empty(): Promise<void> {
    this.port = this.make();
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

class HeldReservations extends Held<HeldBudgets> {
  confirm(action: Parameters<HeldBudgets['confirm']>[0]): Promise<void> {
    return Promise.resolve(this.port.confirm(action));
  }
}

class DamageablePayloads extends Held<HeldPayloads> {
  damage(payload: Payload, body: string): Promise<void> {
    return Promise.resolve(this.port.damage(payload, body));
  }
}

class AgingBeats extends Held<HeldBeats> {
  setBack(executor: string, byMs: number): Promise<void> {
    return Promise.resolve(this.port.setBack(executor, byMs));
  }
}

/** Each directory is a process: it remembers what it has noted. */
const directories = (): RowsUnderTest<HeldDirectory> => {
  let rows = new Map<string, { readonly holder: KeyHolder; readonly lastUsedMs: number | null }>();
  return {
    open: () => new HeldDirectory(rows),
    empty: () => Promise.resolve(void (rows = new Map())),
    close: () => Promise.resolve(),
  };
};

approvalPlacesContract('memory', () => Promise.resolve(new Held(() => new HeldPlaces())));
budgetReservationsContract('memory', () => Promise.resolve(new HeldReservations(() => new HeldBudgets())));
intentNoncesContract('memory', () => Promise.resolve(new Held(() => new HeldNonces())));
keyDirectoryContract('memory', () => Promise.resolve(directories()));
livenessContract('memory', () => Promise.resolve(new AgingBeats(() => new HeldBeats())));
payloadStoreContract('memory', () => Promise.resolve(new DamageablePayloads(() => new HeldPayloads())));
