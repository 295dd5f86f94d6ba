import type pg from 'pg';

import type { EndSignal } from '#libs/domain/kernel';
import type { EgressDoor } from '#libs/infra/egress';
import { allowOnlyScram, DatabaseClient } from '#libs/infra/postgres';

import { GuardedStream } from './guarded-stream.js';
import { isLastWord } from './sql-fault.js';
import { readInSteps, type RunOptions, runStatements, type StatementAnswer, StatementFailed } from './statement-run.js';

/** Where a session leads and who speaks on it. Strings that hold a secret are kept no longer than the session opens. */
export interface SessionAddress {
  /** `postgres://host:port/?sslmode=`, as the egress door takes it. */
  readonly url: string;
  readonly database: string;
  readonly username: string;
  readonly password: string;
}

/** The server refused the session: wrong password, no such database, too many connections. */
export class SessionRefused extends Error {
  override readonly name = 'SessionRefused';

  constructor(override readonly cause: Error) {
    super('the database refused the session', { cause });
  }
}

/** Longer than any row that a result could keep; a description of 1,600 columns fits, too. */
const MAX_MESSAGE_BYTES = 4_194_304;

/** One connection to a customer's database, on which the password was given and nothing was asked yet. */
export class DatabaseSession {
  /** Whether the connection has ended, by whichever side. */
  hasEnded = false;

  private constructor(private readonly client: pg.Client) {
    client.on('error', () => this.destroy());
    client.on('end', () => (this.hasEnded = true));
  }

  /**
   * @throws {EgressFailure} no connection; nothing was sent
   * @throws {SessionRefused}
   */
  static async open(door: Pick<EgressDoor, 'connect'>, address: SessionAddress, signal: EndSignal) {
    const stream = new GuardedStream(await door.connect(address.url, signal), MAX_MESSAGE_BYTES);
    const session = new DatabaseSession(clientOf(stream, address));
    const end = (): void => void stream.destroy();
    signal.addEventListener('abort', end);
    try {
      if (signal.aborted) end();
      await session.client.connect();
      return session;
    } catch (error) {
      session.destroy();
      throw new SessionRefused(error as Error);
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  /**
   * Several statements in one message, without parameters and with few small answers.
   * @throws {StatementFailed}
   */
  script(text: string): Promise<readonly StatementAnswer[]> {
    return this.run({ text, parameters: null, maxRows: 10_000, maxBytes: MAX_MESSAGE_BYTES });
  }

  /** One statement. @throws {StatementFailed} */
  async statement(options: RunOptions): Promise<StatementAnswer> {
    const [answer] = await this.run(options);
    return answer ?? { tag: '', columns: [], rows: [], isCut: false, bytes: 0 };
  }

  /** One statement that reads, within a transaction. @throws {StatementFailed} */
  read(options: RunOptions): Promise<StatementAnswer> {
    return this.heeded(readInSteps(this.client, options));
  }

  /** @throws {StatementFailed} */
  run(options: RunOptions): Promise<readonly StatementAnswer[]> {
    return this.heeded(runStatements(this.client, options));
  }

  /** The server's last word comes before the end of the connection, and means it. */
  private async heeded<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof StatementFailed && isLastWord(error.cause)) this.destroy();
      throw error;
    }
  }

  /** Ends the connection at once. What was not committed is rolled back by the server. */
  destroy(): void {
    this.hasEnded = true;
    streamOf(this.client).destroy();
  }
}

const streamOf = (client: pg.Client): GuardedStream =>
  (client as unknown as { connection: { stream: GuardedStream } }).connection.stream;

/** Everything that `pg` would else take from the environment of this process is given. */
const clientOf = (stream: GuardedStream, { database, username, password }: SessionAddress): pg.Client => {
  const client = new DatabaseClient({
    stream: () => stream,
    host: 'connected',
    port: 1,
    database,
    user: username,
    password,
    ssl: false,
    application_name: 'ags',
    keepAlive: true,
    connectionTimeoutMillis: 0,
  });
  // `options` would come from PGOPTIONS, and a pooler between takes none.
  (client as unknown as { connectionParameters: { options?: string } }).connectionParameters.options = '';
  allowOnlyScram(client);
  return client;
};
