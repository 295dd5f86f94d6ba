import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';

/**
 * A deployment that version 0.1.0 made before its schemas were steps: the scenes of `npm run demo` (calls that ran, were
 * denied, were approved by two people, were lost at a kill -9; an edge call, an export), then two calls of a budget of two
 * and a third that is refused, a call that waits for an approval, an export by the API, a replay of a policy, and a test of
 * the connector. The dump is of `pg_dump --inserts`, without the settings at its beginning; its keys open nothing else.
 */
const FOLDER = join(import.meta.dirname, 'from-0.1.0');

interface MadeDeployment {
  readonly org: string;
  readonly admin_key: string;
  readonly agent_key: string;
  /** Base64. */
  readonly pepper: string;
  readonly vault_key: string;
  /** The file of this name in the state directory. */
  readonly sealed_heads: string;
}

export const MADE = JSON.parse(readFileSync(join(FOLDER, 'deployment.json'), 'utf8')) as MadeDeployment;

/** Puts it into an empty database, as it was when 0.1.0 had stopped. */
export const restoreMadeDatabase = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(gunzipSync(readFileSync(join(FOLDER, 'database.sql.gz'))).toString('utf8'));
  } finally {
    await client.end();
  }
};

/** Its keys, in an empty state directory. */
export const restoreMadeKeys = async (stateDir: string): Promise<void> => {
  const keys = join(stateDir, 'keys');
  await mkdir(keys, { recursive: true, mode: 0o700 });
  const write = (file: string, content: string | Buffer): Promise<void> => writeFile(file, content, { mode: 0o600 });
  await write(join(keys, 'pepper.key'), Buffer.from(MADE.pepper, 'base64'));
  await write(join(keys, 'vault.key'), Buffer.from(MADE.vault_key, 'base64'));
  await write(join(stateDir, 'sealed-heads'), MADE.sealed_heads);
};
