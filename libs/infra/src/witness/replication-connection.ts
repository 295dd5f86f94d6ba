import type { Duplex } from 'node:stream';
import type pg from 'pg';
import { ChangeLogFault, changeLogFaultOf } from './change-log-fault.js';
import { type DialledConnection, dialledClient, impatient, type WireConnection, wireOf } from './dialled-client.js';
import { MessageCursor } from './message-cursor.js';
import { checkedSlot, type LogIdentity, type Questioned, slotStateOf } from './slots.js';

/** What was found at the database before anything is read. */
export interface FoundLog extends LogIdentity {
  /** The server's version as a number: 180004. */
  readonly serverVersion: number;
  /** Where the slot's reader will begin: whatever lies before is acknowledged, or skipped by somebody. */
  readonly confirmedLsn: string;
}

/** What a server says on the stream. `within`: the message is good only during the call. */
export interface LogListener {
  onMessage(message: Buffer): void;
  /** Everything that commits before this place was sent. */
  onPosition(lsn: bigint, isReplyWanted: boolean): void;
}

const [WAL_DATA, KEEPALIVE, STATUS] = [0x77, 0x6b, 0x72];
/** Two places in the log and a time, which the keepalives say better. */
const WAL_DATA_HEADER_BYTES = 25;
const STATUS_BYTES = 34;
const EPOCH_MS = 946_684_800_000;
const MICROSECONDS = 1_000n;

/** One connection in replication mode: it looks at what is there, and then streams one slot. */
export class ReplicationConnection {
  private readonly questions: Questioned;
  private streaming: Promise<unknown> | null = null;

  private constructor(private readonly client: pg.Client) {
    this.questions = impatient(client);
  }

  /** @throws {ChangeLogFault} */
  static async open(connection: DialledConnection): Promise<ReplicationConnection> {
    let stream: Duplex | null = null;
    const connect = async () => (stream = await connection.connect());
    try {
      return new ReplicationConnection(await dialledClient({ ...connection, connect }));
    } catch (error) {
      if (stream === null) throw new ChangeLogFault('unreachable', { cause: error });
      throw changeLogFaultOf(error, 'before');
    }
  }

  /** Left unread, it makes the server wait. */
  get socket(): Pick<Duplex, 'pause' | 'resume'> {
    return wireOf(this.client).stream;
  }

  /** @throws {ChangeLogFault} where the slot or the publication cannot be read */
  async look(slot: string, publication: string): Promise<FoundLog> {
    try {
      const { rows } = await this.questions.query<{ systemid: string; timeline: string; dbname: string }>(
        'IDENTIFY_SYSTEM',
      );
      const [system] = rows;
      if (system === undefined) throw new ChangeLogFault('malformed');
      const confirmedLsn = await this.readableSlot(slot, system.dbname);
      const quoted = quote(publication);
      const known = await this.questions.query<{ version: string }>(
        `select current_setting('server_version_num') as version from pg_publication where pubname = ${quoted}`,
      );
      // Before version 18 the stream itself says so, and from there on it passes over a publication that is missing.
      if (known.rows[0] === undefined) throw new ChangeLogFault('publication_missing');
      const serverVersion = Number(known.rows[0].version);
      return { systemId: system.systemid, timeline: Number(system.timeline), confirmedLsn, serverVersion };
    } catch (error) {
      throw changeLogFaultOf(error, 'before');
    }
  }

  /**
   * PostgreSQL's own types by their numbers: the log names only the others.
   * @throws {ChangeLogFault}
   */
  async builtInTypes(): Promise<ReadonlyMap<number, string>> {
    try {
      const { rows } = await this.questions.query<{ oid: string; typname: string }>(
        `select oid::text, typname::text from pg_type where typnamespace = 'pg_catalog'::regnamespace and typtype <> 'c'`,
      );
      return new Map(rows.map(({ oid, typname }) => [Number(oid), typname]));
    } catch (error) {
      throw changeLogFaultOf(error, 'before');
    }
  }

  /**
   * Streams from where the slot's reader has acknowledged. Resolves when the server has ended the stream of itself.
   * @throws {ChangeLogFault}
   */
  async stream(slot: string, publication: string, listener: LogListener): Promise<void> {
    const wire = wireOf(this.client);
    let phase: 'before' | 'flowing' = 'before';
    wire.once('replicationStart', () => (phase = 'flowing'));
    wire.on('copyData', ({ chunk }) => heard(chunk, listener));
    const names = quote(`"${publication.replaceAll('"', '""')}"`);
    try {
      this.streaming = this.client.query(
        `START_REPLICATION SLOT ${checkedSlot(slot)} LOGICAL 0/0 ` +
          `(proto_version '1', publication_names ${names}, messages 'true')`,
      );
      await this.streaming;
    } catch (error) {
      throw changeLogFaultOf(error, phase);
    }
  }

  /**
   * Says how far the log was read and kept. What commits before this place is not sent again: it is the end of the last
   * transaction that was handled, and not one byte more, because the next commit may stand right there.
   */
  acknowledge(lsn: bigint, isReplyWanted: boolean, nowMs: number): void {
    const status = Buffer.allocUnsafe(STATUS_BYTES);
    status.writeUInt8(STATUS, 0);
    // Written, on disk, applied: for us the same.
    for (const at of [1, 9, 17]) status.writeBigUInt64BE(lsn, at);
    status.writeBigInt64BE(BigInt(Math.trunc(nowMs - EPOCH_MS)) * MICROSECONDS, 25);
    status.writeUInt8(Number(isReplyWanted), 33);
    wireOf(this.client).sendCopyFromChunk(status);
  }

  /** Ends it, however far it came. What was acknowledged before is still read by the server, if it lives. */
  async close(): Promise<void> {
    const wire = wireOf(this.client);
    // One that is paused would never hear the farewell.
    wire.stream.resume();
    await Promise.race([this.farewell(wire), afterAll(CLOSE_TIMEOUT_MS)]);
    wire.stream.destroy();
  }

  private async farewell(wire: WireConnection): Promise<void> {
    if (this.streaming !== null) {
      wire.endCopyFrom();
      // Its error was told where it was asked for.
      await this.streaming.catch(() => undefined);
    }
    await this.client.end();
  }

  private async readableSlot(slot: string, database: string): Promise<string> {
    const state = await slotStateOf(this.questions, slot);
    if (state === null) throw new ChangeLogFault('slot_missing');
    if (state.plugin !== 'pgoutput' || state.database !== database) throw new ChangeLogFault('slot_foreign');
    if (state.walStatus === 'lost' || state.confirmedLsn === null) throw new ChangeLogFault('slot_invalidated');
    if (state.isActive) throw new ChangeLogFault('slot_in_use');
    return state.confirmedLsn;
  }
}

const CLOSE_TIMEOUT_MS = 2_000;

const afterAll = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

const heard = (chunk: Buffer, listener: LogListener): void => {
  if (chunk[0] === WAL_DATA) {
    listener.onMessage(chunk.subarray(WAL_DATA_HEADER_BYTES));
    return;
  }
  if (chunk[0] !== KEEPALIVE) return;
  const message = new MessageCursor(chunk.subarray(1));
  const lsn = message.uint64();
  message.int64();
  listener.onPosition(lsn, message.uint8() === 1);
};

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
