import type { Duplex } from 'node:stream';
import type pg from 'pg';
import type { Clock } from '#libs/domain/kernel';
import {
  ChangeLogSource,
  type FollowedLog,
  type FollowEnd,
  type LogFacts,
  LogUnreachable,
  type WitnessLogin,
} from '#libs/domain/witness';
import { GuardedStream } from '#libs/infra/connectors';
import { type EgressDoor, EgressFailure } from '#libs/infra/egress';
import { ChangeLogFault, type ChangeLogFaultReason } from './change-log-fault.js';
import { ChangeLogReader } from './change-log-reader.js';
import { type DialledConnection, dialledClient, impatient } from './dialled-client.js';
import { LongMessages } from './long-messages.js';
import { createSlot, dropSlot, logIdentityOf, type Questioned, slotStateOf } from './slots.js';

/** One row of a customer may be this long in the log. Of a longer one only its table is heard, and that it was changed. */
const LONG_MESSAGE_BYTES = 67_108_864;
/** What is no message of the log has an end, too. */
const MAX_MESSAGE_BYTES = 268_435_456;
const DIAL_TIMEOUT_MS = 10_000;
/** Each waits for an append, and appends that come together are one commit: one by one, a slow store would hold up all behind. */
const HANDLED_AT_ONCE = 16;
/** A connection that nobody asks anything is closed: the next question opens another. */
const UNASKED_MS = 15_000;
/** A slot is made when every transaction that runs and has written has ended. */
const CREATE_SLOT_TIMEOUT_MS = 600_000;

/** The ends that a decoder can do something about. All others are {@link LogUnreachable}. */
const ENDS: Readonly<Partial<Record<ChangeLogFaultReason, FollowEnd>>> = {
  connection_lost: 'connection_lost',
  slot_in_use: 'slot_in_use',
  slot_invalidated: 'slot_invalidated',
  slot_missing: 'slot_missing',
};

interface Asked {
  readonly client: pg.Client;
  timer: NodeJS.Timeout | undefined;
}

/** Change logs of customers' databases, reached by the egress door as every other destination. */
export class EgressChangeLogSource extends ChangeLogSource {
  private readonly asked = new Map<string, Asked>();
  private readonly closing = new AbortController();
  private readonly reader: ChangeLogReader;

  constructor(
    private readonly door: Pick<EgressDoor, 'connect'>,
    clock: Clock,
  ) {
    super();
    this.reader = new ChangeLogReader(clock);
  }

  override inspect(login: WitnessLogin): Promise<LogFacts> {
    return this.ask(login, async (client) => {
      const { systemId, timeline } = await logIdentityOf(client);
      const slot = await slotStateOf(client, login.terms.slot);
      const { rows } = await client.query<{ head: string }>('select pg_current_wal_lsn()::text as head');
      const facts = slot === null ? null : { isLost: slot.walStatus === 'lost', confirmed: slot.confirmedLsn };
      return { systemId, timeline, head: rows[0]?.head ?? '0/0', slot: facts };
    });
  }

  override async createSlot(login: WitnessLogin): Promise<void> {
    await this.ask(login, (client) => createSlot(client, login.terms.slot), CREATE_SLOT_TIMEOUT_MS);
  }

  override dropSlot(login: WitnessLogin): Promise<'dropped' | 'in_use'> {
    return this.ask(login, async (client) => {
      try {
        await dropSlot(client, login.terms.slot);
        return 'dropped';
      } catch (error) {
        if (error instanceof ChangeLogFault && error.reason === 'slot_in_use') return 'in_use';
        throw error;
      }
    });
  }

  override async follow(log: FollowedLog): Promise<FollowEnd> {
    const { slot, publication } = log.terms;
    try {
      await this.reader.follow({
        connection: this.connectionOf(log, log.signal),
        slot,
        publication,
        signal: log.signal,
        atOnce: HANDLED_AT_ONCE,
        onFound: () => log.onStarted(),
        onTransaction: (transaction) => log.onTransaction(transaction),
        onPosition: (position) => log.onPosition(position),
      });
      return 'aborted';
    } catch (error) {
      if (!(error instanceof ChangeLogFault)) throw error;
      const end = ENDS[error.reason];
      if (end === undefined) throw unreachable(error);
      return end;
    }
  }

  override close(): void {
    this.closing.abort();
    for (const [key, asked] of this.asked) this.forget(key, asked);
  }

  private async ask<Answer>(
    login: WitnessLogin,
    question: (client: Questioned) => Promise<Answer>,
    answerMs?: number,
  ): Promise<Answer> {
    const key = keyOf(login);
    try {
      const asked = this.asked.get(key) ?? (await this.open(key, login));
      clearTimeout(asked.timer);
      const answer = await question(impatient(asked.client, answerMs));
      asked.timer = setTimeout(() => this.forget(key, asked), UNASKED_MS);
      asked.timer.unref();
      return answer;
    } catch (error) {
      const asked = this.asked.get(key);
      if (asked !== undefined) this.forget(key, asked);
      throw unreachable(error);
    }
  }

  private async open(key: string, login: WitnessLogin): Promise<Asked> {
    const { signal } = this.closing;
    const client = await dialledClient({ ...this.connectionOf(login, signal), signal }, 'ordinary');
    const asked: Asked = { client, timer: undefined };
    asked.client.on('end', () => this.forget(key, asked));
    this.asked.set(key, asked);
    return asked;
  }

  private forget(key: string, asked: Asked): void {
    clearTimeout(asked.timer);
    if (this.asked.get(key) === asked) this.asked.delete(key);
    asked.client.end().catch(() => undefined);
  }

  private connectionOf({ terms, username, password }: WitnessLogin, ended: AbortSignal): DialledConnection {
    const connect = async (): Promise<Duplex> => {
      const long = new LongMessages(LONG_MESSAGE_BYTES);
      const signal = AbortSignal.any([ended, AbortSignal.timeout(DIAL_TIMEOUT_MS)]);
      const socket = await this.door.connect(terms.destination, signal);
      return new GuardedStream(socket, MAX_MESSAGE_BYTES, (chunk) => long.take(chunk));
    };
    const [user, secret] = [Buffer.from(username).toString(), Buffer.from(password).toString()];
    return { connect, user, password: secret, database: terms.database };
  }
}

/** A connection is shared by nobody but the connector, its config and its credential. */
const keyOf = ({ connector }: WitnessLogin): string =>
  `${connector.id}/${connector.configHash}/${connector.credential?.version ?? ''}`;

const unreachable = (error: unknown): LogUnreachable => {
  const why = error instanceof ChangeLogFault || error instanceof EgressFailure ? error.reason : 'failed';
  return new LogUnreachable(`the change log cannot be reached: ${why}`, { cause: error });
};
