import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Ids, names and codes are bytes (COLLATE "C"). Keysets walk their index backwards, so no index needs a DESC.
 * Rows come back from the log: a later migration may drop and create a table anew, and the projection whose version it
 * raises fills it.
 */
const UP = [
  `CREATE TABLE read_models.projection_checkpoints (
    name text COLLATE "C" PRIMARY KEY,
    store_id text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    position bigint NOT NULL
  )`,

  `CREATE TABLE read_models.actions (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    decision text COLLATE "C",
    verdict text COLLATE "C",
    level text COLLATE "C",
    error_code text COLLATE "C",
    on_behalf_of text COLLATE "C",
    created_at timestamptz(3) NOT NULL,
    deed text COLLATE "C",
    sealed_at timestamptz(3),
    folded text NOT NULL
  )`,
  `CREATE INDEX actions_by_time ON read_models.actions (org, created_at, id)`,
  `CREATE INDEX actions_by_agent ON read_models.actions (org, agent, created_at, id)`,
  `CREATE INDEX actions_by_tool ON read_models.actions (org, tool, created_at, id)`,
  `CREATE INDEX actions_on_behalf_of ON read_models.actions (org, on_behalf_of, created_at, id)
    WHERE on_behalf_of IS NOT NULL`,
  `CREATE INDEX actions_unsealed ON read_models.actions (org, created_at, id) WHERE state <> 'sealed'`,

  `CREATE TABLE read_models.deeds (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    action text COLLATE "C",
    agent text COLLATE "C",
    issued_at timestamptz(3) NOT NULL,
    body_hash text COLLATE "C" NOT NULL,
    prev_hash text COLLATE "C",
    kid text COLLATE "C" NOT NULL,
    signature text COLLATE "C" NOT NULL
  )`,
  `CREATE INDEX deeds_by_seq ON read_models.deeds (org, seq)`,
  `CREATE INDEX deeds_by_kind ON read_models.deeds (org, kind, seq)`,
  `CREATE INDEX deeds_by_action ON read_models.deeds (org, action, seq) WHERE action IS NOT NULL`,
  `CREATE INDEX deeds_by_agent ON read_models.deeds (org, agent, seq) WHERE agent IS NOT NULL`,
  `CREATE INDEX deeds_by_time ON read_models.deeds (org, issued_at, seq)`,

  `CREATE TABLE read_models.connectors (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    created_at timestamptz(3) NOT NULL,
    folded text NOT NULL
  )`,
  `CREATE INDEX connectors_by_time ON read_models.connectors (org, created_at, id)`,

  `CREATE TABLE read_models.policies (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    created_at timestamptz(3) NOT NULL,
    latest_version_id text COLLATE "C"
  )`,
  `CREATE INDEX policies_by_time ON read_models.policies (org, created_at, id)`,

  `CREATE TABLE read_models.policy_versions (
    id text COLLATE "C" PRIMARY KEY,
    org text COLLATE "C" NOT NULL,
    policy text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    source text COLLATE "C" NOT NULL,
    source_bytes integer NOT NULL,
    source_hash text COLLATE "C" NOT NULL,
    version_hash text COLLATE "C" NOT NULL,
    notes text COLLATE "C",
    author text NOT NULL,
    origin text COLLATE "C" NOT NULL,
    created_at timestamptz(3) NOT NULL
  )`,
  `CREATE INDEX policy_versions_by_number ON read_models.policy_versions (org, policy, version)`,

  `CREATE TABLE read_models.policy_slots (
    org text COLLATE "C" NOT NULL,
    mode text COLLATE "C" NOT NULL,
    policy text COLLATE "C",
    version_id text COLLATE "C",
    changed_at timestamptz(3) NOT NULL,
    PRIMARY KEY (org, mode)
  )`,
];

const TABLES = [
  'policy_slots',
  'policy_versions',
  'policies',
  'connectors',
  'deeds',
  'actions',
  'projection_checkpoints',
];

export class CreateReadModels1764000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`DROP TABLE read_models.${table}`);
  }
}
