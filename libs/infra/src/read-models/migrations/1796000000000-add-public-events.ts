import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Ids and types are bytes (COLLATE "C"). The projection fills its tables from the start of the log. No index but the keys:
 * rows are read by `seq`, and every recorded action writes five of them.
 */
const UP = [
  `CREATE TABLE read_models.public_events (
    seq bigint PRIMARY KEY,
    evt text COLLATE "C" NOT NULL,
    org text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    agent text COLLATE "C",
    livemode boolean NOT NULL,
    trace text,
    thin text NOT NULL,
    at timestamptz(3) NOT NULL
  )`,
  `CREATE TABLE read_models.briefed_actions (
    id text COLLATE "C" PRIMARY KEY,
    brief text NOT NULL
  )`,
  `CREATE TABLE read_models.public_event_floors (
    store_id text COLLATE "C" PRIMARY KEY,
    seq bigint NOT NULL
  )`,
];

const TABLES = ['public_events', 'briefed_actions', 'public_event_floors'];

export class AddPublicEvents1796000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`DROP TABLE read_models.${table}`);
  }
}
