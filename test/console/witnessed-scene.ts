import { vi } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';
import { WitnessedShop } from '../support/witnessed-shop.js';
import type { ConsoleScene } from './console-scene.js';

/** A statement of several lines, of which an agent says two values. */
export const RENAME_SQL = 'UPDATE customers\n   SET name = $2\n WHERE id = $1';

const TOOLS = [
  {
    name: 'rename',
    title: 'rename a customer',
    description: 'Gives one customer another name',
    sql: RENAME_SQL,
    args: [
      { name: 'id', type: 'integer' },
      { name: 'name', type: 'string', required: false },
    ],
  },
  {
    name: 'spread',
    description: 'Takes a cent off many orders',
    sql: 'UPDATE orders SET cents = cents - 1 WHERE id <= $1',
    args: [{ name: 'last', type: 'integer' }],
    postcondition: 'row_count == 1',
  },
];

const POLICY = `version: 1
default: deny
rules:
  - id: destruction-is-asked
    description: Rows that are gone do not come back
    match:
      tools:
        - shop.*
      side_effect: destructive
    decision: require_approval
  - id: names-are-asked
    match:
      tools:
        - shop.rename
    decision: require_approval
  - id: shop
    match:
      tools:
        - shop.*
    decision: allow
`;

/** A scene of the Console with a database whose change log is followed. */
export class WitnessedScene {
  private constructor(
    private readonly scene: ConsoleScene,
    private readonly database: TestDatabase,
    readonly shop: WitnessedShop,
  ) {}

  static async open(scene: ConsoleScene): Promise<WitnessedScene> {
    const database = await createEmptyDatabase();
    const shop = await WitnessedShop.open(scene.service, database.connectionString);
    await shop.connect({ tools: TOOLS });
    const policy = await scene.make('POST', '/v1/policies', { name: 'asked', source: POLICY });
    await scene.make('POST', `/v1/policies/${policy['id'] as string}/versions/1/activate`, { mode: 'enforce' });
    return new WitnessedScene(scene, database, shop);
  }

  get page(): string {
    return this.scene.url(`/app/connectors/${this.shop.connector}`);
  }

  /**
   * A call that is executed and has its verdict.
   * @returns the address of its page
   */
  async acted(tool: string, args: JsonObject): Promise<string> {
    const { json, text } = await this.shop.call(tool, args);
    if (json['status'] !== 'executed') throw new Error(text);
    return this.scene.url(`/app/actions/${json['id'] as string}`);
  }

  /**
   * A call that waits for people.
   * @returns the address of its card
   */
  async asked(tool: string, args: JsonObject): Promise<string> {
    const { json } = await this.shop.call(tool, args, 0);
    return this.scene.url(`/app/approvals/${(json['approval'] as JsonObject)['id'] as string}`);
  }

  /** Takes the slot away, as a restore of the database would. */
  async lose(): Promise<void> {
    const { owner, publication } = this.shop;
    const leave = 'select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = $1 and active';
    const drop = async (): Promise<void> => {
      // Its reader comes back at once, so that both are tried until the slot stands free for a moment.
      await owner.query(leave, [publication]);
      await owner.query('select pg_drop_replication_slot($1)', [publication]);
    };
    await vi.waitFor(drop, { timeout: 20_000, interval: 20 });
  }

  async close(): Promise<void> {
    await this.shop.close();
    await this.database.drop();
  }
}
