import type { LiveConnector, Vault } from '#libs/domain/connectors';
import { databaseConfigOf, publicationOf, slotOf } from '#libs/domain/connectors/database';
import type { EndSignal } from '#libs/domain/kernel';
import type { EgressDoor } from '#libs/infra/egress';

import { type OpenedAddress, openAddress } from './database-credential.js';
import { SessionUnfit } from './database-outcome.js';
import { DatabaseSession, SessionRefused } from './database-session.js';
import { readSessionFacts, type SessionFacts, type WitnessPlace } from './session-facts.js';
import { SessionPool, type TakenSession } from './session-pool.js';
import { StatementFailed } from './statement-run.js';

/** The sessions of one call: its credential is open as long as this is held. */
export interface CallSessions {
  /** What nothing that is kept may repeat. */
  readonly secrets: readonly string[];
  /**
   * A session of a role that may do no more than its grants say, on a server where statements can be run and judged.
   * @throws {EgressFailure} {SessionRefused} {SessionUnfit} nothing was sent
   */
  take(signal: EndSignal): Promise<TakenSession>;
  /** One of its own, which nobody else gets. */
  fresh(signal: EndSignal): Promise<DatabaseSession>;
  /** @throws {SessionUnfit} where the config asks for a witness and the database is not set up for one */
  requireWitness(session: DatabaseSession): Promise<void>;
  /** Whether its server can have the id of a transaction on its disk before COMMIT. */
  keepsIds(session: DatabaseSession): boolean;
  giveBack(session: DatabaseSession): void;
}

/** The sessions that connectors keep with their databases, shared by the calls of one connector under one credential. */
export class DatabaseSessions {
  private readonly pool: SessionPool;
  /** Why a session's database cannot be witnessed, as far as it was asked. */
  private readonly witnessFaults = new WeakMap<DatabaseSession, string | null>();
  private readonly keepingIds = new WeakSet<DatabaseSession>();

  constructor(private readonly parts: { readonly door: EgressDoor; readonly vault: Pick<Vault, 'open'> }) {
    this.pool = new SessionPool(parts.door);
  }

  /**
   * Null where no credential of the kind is stored.
   * @throws {DomainError} vault_unavailable
   */
  async open(connector: LiveConnector): Promise<CallSessions | null> {
    const address = await openAddress(this.parts.vault, connector, 'agent');
    if (address === null) return null;
    const key = `${connector.org}/${connector.id}/${connector.configHash}/${connector.credential?.version ?? ''}`;
    const place = witnessPlaceOf(connector);
    return {
      secrets: address.secrets,
      take: (signal) => this.pool.take(key, address, signal, (session) => this.requireFit(session, place)),
      fresh: (signal) => this.fresh(address, signal),
      requireWitness: (session) => this.requireWitness(session, place),
      keepsIds: (session) => this.keepingIds.has(session),
      giveBack: (session) => this.pool.give(key, session),
    };
  }

  private fresh(address: OpenedAddress, signal: EndSignal): Promise<DatabaseSession> {
    return DatabaseSession.open(this.parts.door, address, signal);
  }

  private async requireFit(session: DatabaseSession, place: WitnessPlace | null): Promise<void> {
    const { roleFault, serverFault, witnessFault, keepsIds } = await factsOf(session, place);
    if (roleFault !== null) throw new SessionUnfit('database_role_unsafe', roleFault);
    if (serverFault !== null) throw new SessionUnfit('database_not_ready', serverFault);
    this.witnessFaults.set(session, witnessFault);
    if (keepsIds) this.keepingIds.add(session);
  }

  /** A fault that was found earlier may have been mended since. */
  private async requireWitness(session: DatabaseSession, place: WitnessPlace | null): Promise<void> {
    if (place === null || this.witnessFaults.get(session) === null) return;
    const { witnessFault } = await factsOf(session, place);
    this.witnessFaults.set(session, witnessFault);
    if (witnessFault !== null) throw new SessionUnfit('database_not_ready', witnessFault);
  }
}

/** A server that goes away while it is asked has given no session: nothing of the call was sent. @throws {SessionRefused} */
const factsOf = async (session: DatabaseSession, place: WitnessPlace | null): Promise<SessionFacts> => {
  try {
    return await readSessionFacts(session, place);
  } catch (error) {
    throw error instanceof StatementFailed ? new SessionRefused(error.cause) : error;
  }
};

const witnessPlaceOf = ({ config, id }: LiveConnector): WitnessPlace | null => {
  const database = databaseConfigOf(config);
  if (!database.witness.enabled) return null;
  return { slot: slotOf(database, id), publication: publicationOf(database, id) };
};
