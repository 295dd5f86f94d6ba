import pg from 'pg';
import type { CheckFinding, LiveConnector, TestedConnector } from '#libs/domain/connectors';
import { quotedName, setUpSql, type SetUpTable, type SetUpTerms } from '#libs/infra/database-set-up';
import {
  databaseChecks,
  type ReadinessTerms,
  type Session,
  SessionFailed,
} from '../../libs/infra/src/connectors/database/readiness/index.js';
import { type OwnServer, startOwnServer } from './own-server.js';

const TESTED: TestedConnector = {
  connector: {} as LiveConnector,
  deadlineMonotonicMs: 0,
  mayStillSend: () => Promise.resolve(null),
};
const PASSWORD = 'a-password-of-a-spec';

/** A PostgreSQL that writes a logical log, with a database, and the roles and names of a connector to it. */
export class ReadinessBench {
  readonly database = 'shop';
  readonly agentRole = 'ags_agent';
  readonly witnessRole = 'ags_witness';
  readonly slot = 'ags_slot';
  readonly publication = 'ags_publication';
  schemas: readonly string[] = ['public'];
  ssl: ReadinessTerms['ssl'] = 'disable';
  /** Sessions that were opened and not closed. */
  open = 0;

  private constructor(
    private readonly server: OwnServer,
    readonly owner: pg.Client,
  ) {}

  static async start(): Promise<ReadinessBench> {
    const server = await startOwnServer();
    const admin = new pg.Client({ connectionString: server.connectionString('postgres') });
    await admin.connect();
    await admin.query('create database shop template template0');
    await admin.end();
    const owner = new pg.Client({ connectionString: server.connectionString('shop') });
    await owner.connect();
    return new ReadinessBench(server, owner);
  }

  async close(): Promise<void> {
    await this.owner.end();
    await this.server.dispose();
  }

  get terms(): ReadinessTerms {
    const { database, ssl, schemas, slot, publication } = this;
    return { database, ssl, schemas, witness: { slot, publication }, namedTables: [] };
  }

  setUpTerms(tables: readonly SetUpTable[] = []): SetUpTerms {
    const { database, schemas, slot, publication, agentRole, witnessRole } = this;
    return { database, schemas, witness: { slot, publication }, tables, agentRole, witnessRole };
  }

  get ownerAddress(): string {
    return this.server.connectionString(this.database);
  }

  /** Runs the set-up, and gives both roles a password. */
  async setUp(tables: readonly SetUpTable[] = []): Promise<void> {
    for (const { sql } of setUpSql(this.setUpTerms(tables))) await this.owner.query(sql);
    for (const role of [this.agentRole, this.witnessRole]) await this.givePassword(role);
  }

  async givePassword(role: string): Promise<void> {
    await this.owner.query(`alter role ${quotedName(role)} password '${PASSWORD}'`);
  }

  session(role: string): Promise<Session> {
    const address = new URL(this.ownerAddress);
    address.username = encodeURIComponent(role);
    address.password = PASSWORD;
    return this.sessionAt(address.href);
  }

  ownerSession(): Promise<Session> {
    return this.sessionAt(this.ownerAddress);
  }

  private async sessionAt(connectionString: string): Promise<Session> {
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
    } catch (error) {
      const code = (error as { code?: string }).code;
      throw new SessionFailed(code === '28P01' ? 'auth_failed' : 'failed');
    }
    this.open += 1;
    return {
      query: (text, params = []) => client.query(text, [...params]),
      close: async () => {
        this.open -= 1;
        await client.end();
      },
    };
  }

  /** What one check finds now. */
  async finding(name: string, changes: Partial<ReadinessTerms> = {}): Promise<CheckFinding> {
    const found = (await this.findings(changes)).get(name);
    if (found === undefined) throw new Error(`There is no check ${name}.`);
    return found;
  }

  async findings(changes: Partial<ReadinessTerms> = {}): Promise<ReadonlyMap<string, CheckFinding>> {
    const checks = databaseChecks({
      termsOf: () => ({ ...this.terms, ...changes }),
      openAgent: () => this.session(this.agentRole),
      openWitness: () => this.session(this.witnessRole),
    });
    const found = new Map<string, CheckFinding>();
    for (const { name, run } of checks) found.set(name, await run(TESTED));
    return found;
  }

  /** Runs what a finding says, as the owner. */
  async mend({ fix }: CheckFinding): Promise<void> {
    const [first, ...statements] = (fix ?? '').split('\n');
    if (first !== 'Have the owner of the database run:') throw new Error(`No SQL: ${fix}`);
    for (const statement of statements) await this.owner.query(statement);
  }
}
