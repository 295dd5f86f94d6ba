import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { constants, gunzipSync } from 'node:zlib';
import pg from 'pg';
import { verifyBundle } from '#libs/crypto';
import { UPSTREAM_TOKEN } from '../support/crm.js';
import { runAgs } from '../support/run-ags.js';
import type { ChaosTarget, EndedProcess } from './chaos-target.js';
import type { Caller, ClientLog, Received } from './client-log.js';
import { LAG_HEADER } from './dossier.js';
import type { AccessLine, ClientCall, Evidence, ExportedBundle, Members } from './evidence.js';

export type Query = <Row extends pg.QueryResultRow>(text: string) => Promise<readonly Row[]>;

/** One connection for one question. */
export const asking =
  (connectionString: string): Query =>
  async <Row extends pg.QueryResultRow>(text: string) => {
    const client = new pg.Client({ connectionString, application_name: 'ags chaos' });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };

const TABLES = `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
  where schemaname not in ('pg_catalog', 'information_schema')`;

const LISTS: Readonly<Record<string, string>> = {
  actions: '/v1/actions',
  deeds: '/v1/deeds',
  connectors: '/v1/connectors',
  policies: '/v1/policies',
};
const PAGE_ROWS = 100;
const CURRENT_DEADLINE_MS = 10_000;
const POLL_MS = 50;

/** A page that says that it is behind is asked for again, for a while: its rows come from a process that may have to catch up. */
const currentPage = async (log: ClientLog, caller: Caller, path: string): Promise<Received> => {
  const deadlineMs = performance.now() + CURRENT_DEADLINE_MS;
  for (;;) {
    const received = await log.call('GET', path, { caller });
    const isBehind = LAG_HEADER in (received.answer?.headers ?? {});
    if (!isBehind || performance.now() > deadlineMs) return received;
    await delay(POLL_MS);
  }
};

const listed = async (log: ClientLog, caller: Caller, path: string): Promise<readonly Members[]> => {
  const rows: Members[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const next = cursor === '' ? '' : `&cursor=${cursor}`;
    const { answer }: Received = await currentPage(log, caller, `${path}?limit=${PAGE_ROWS}${next}`);
    if (answer?.status !== 200)
      throw new Error(`${path} was answered with ${answer?.status ?? 'nothing'}: ${answer?.body ?? ''}`);
    rows.push(...(answer.json['data'] as Members[]));
    cursor = answer.json['next_cursor'] as string | null;
  }
  return rows;
};

const allRows = async (log: ClientLog, caller: Caller): Promise<ReadonlyMap<string, readonly Members[]>> => {
  const lists = new Map<string, readonly Members[]>();
  for (const [name, path] of Object.entries(LISTS)) lists.set(name, await listed(log, caller, path));
  return lists;
};

/** Lists as they are. */
export const rowsOnce = async (log: ClientLog, caller: Caller): Promise<Pick<Evidence, 'rows' | 'rebuildFault'>> => {
  const rows = [...(await allRows(log, caller))].map(([name, before]) => [name, { before, after: before }] as const);
  return { rows: Object.fromEntries(rows), rebuildFault: null };
};

/** Lists as they are, and as they are when every projection has been made anew. */
export const rowsBothWays = async (
  service: ChaosTarget,
  log: ClientLog,
  caller: Caller,
): Promise<Pick<Evidence, 'rows' | 'rebuildFault'>> => {
  const before = await allRows(log, caller);
  const rebuilt = await runAgs(['projections', 'rebuild', '--json'], { env: service.environment });
  const after = await allRows(log, caller);
  const rows = Object.keys(LISTS).map(
    (name) => [name, { before: before.get(name) ?? [], after: after.get(name) ?? [] }] as const,
  );
  return { rows: Object.fromEntries(rows), rebuildFault: rebuilt.code === 0 ? null : rebuilt.stderr.trim() };
};

export const judgedBundles = (
  bundles: readonly { readonly bytes: Buffer; readonly isCut: boolean }[],
  { org, pin }: ChaosTarget,
): Promise<readonly ExportedBundle[]> =>
  Promise.all(
    bundles.map(async ({ bytes, isCut }, index) => ({
      name: `export ${index + 1} of ${bundles.length}`,
      bytes,
      isCut,
      isLast: index === bundles.length - 1,
      verdict: await verifyBundle(inOnePiece(bytes), { org, pins: [pin] }),
    })),
  );

async function* inOnePiece(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const REQUEST_LINE = /\brequest_id=(?<requestId>\S+) method=.*? status=(?<status>\d{3}) .* message=request$/;

export const accessLinesIn = (output: string): readonly AccessLine[] =>
  output.split('\n').flatMap((line) => {
    const { requestId = '', status = '' } = REQUEST_LINE.exec(line)?.groups ?? {};
    return requestId === '' ? [] : [{ requestId, status: Number(status) }];
  });

/** The keys are shown once, to whoever starts the service first, and by nobody else. */
const SHOWN_ONCE = /^ {2}(?:admin|agent) key .*$|^ {4}-H 'Authorization: Bearer .*$/gm;

export const canariesOf = async (
  callers: readonly Caller[],
  webhooks: Evidence['told']['webhooks'],
  { environment }: Pick<ChaosTarget, 'environment'>,
): Promise<Evidence['canaries']> => [
  { name: 'the credential of the connector', text: UPSTREAM_TOKEN },
  ...callers.map(({ name, key }) => ({ name: `the key of ${name}`, text: key })),
  ...webhooks.map(({ id, secret }) => ({ name: `the secret of ${id}`, text: secret })),
  ...(await keyFile('the vault key', environment['SERVICE_VAULT_KEY_FILE'], environment, 'vault.key')),
  ...(await keyFile('the pepper', environment['SERVICE_PEPPER_FILE'], environment, 'pepper.key')),
];

/** As it is, and as text: a row of the database shows bytes in hexadecimal. */
const keyFile = async (
  name: string,
  path: string | undefined,
  { SERVICE_STATE_DIR: stateDir = '' }: NodeJS.ProcessEnv,
  file: string,
): Promise<Evidence['canaries']> => {
  const key = await readFile(path ?? join(stateDir, 'keys', file));
  return [key, ...(['hex', 'base64', 'base64url'] as const).map((form) => key.toString(form))].map((text) => ({
    name,
    text,
  }));
};

interface Found {
  readonly canaries: Evidence['canaries'];
  readonly output: string;
  readonly calls: readonly ClientCall[];
  readonly bundles: readonly ExportedBundle[];
  readonly events: Evidence['events'];
  /** By webhooks and the event stream. */
  readonly heard: string;
}

/** As far as it came. */
const unzipped = (bytes: Buffer): Buffer => gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });

/** What stands in a bundle as base64url: bodies and signatures. */
const decoded = (text: Buffer): Buffer =>
  Buffer.concat(
    [...text.toString('latin1').matchAll(/"([A-Za-z0-9_-]{80,})"/g)].map(([, word = '']) =>
      Buffer.from(`${Buffer.from(word, 'base64url').toString('latin1')}\n`, 'latin1'),
    ),
  );

/** Everything that was written or answered: outputs, files, the log, rows of the database, answers. */
export const placesOf = async (found: Found, folders: readonly string[], ask: Query): Promise<Evidence['places']> => {
  const tables = await ask<{ name: string }>(TABLES);
  const dumps = tables.map(async ({ name }) => {
    const rows = await ask<{ row: string }>(`select row::text as row from ${name} as row`);
    return { name: `the table ${name}`, bytes: Buffer.from(rows.map(({ row }) => row).join('\n')) };
  });
  const answers = found.calls.map(({ answer }) => `${JSON.stringify(answer?.headers ?? {})} ${answer?.body ?? ''}`);
  const events = found.events.map((event) => JSON.stringify(event));
  const files = folders.map((folder) => filesWith(found.canaries, folder));
  return [
    { name: 'what the service printed', bytes: Buffer.from(found.output.replaceAll(SHOWN_ONCE, '')) },
    { name: 'the answers', bytes: Buffer.from(answers.join('\n')) },
    { name: 'the log', bytes: Buffer.from(events.join('\n')) },
    { name: 'what was told', bytes: Buffer.from(found.heard) },
    ...found.bundles.flatMap(({ name, bytes }) => {
      const text = unzipped(bytes);
      return [
        { name, bytes: text },
        { name: `the deeds of ${name}`, bytes: decoded(text) },
      ];
    }),
    ...(await Promise.all(dumps)),
    ...(await Promise.all(files)).flat(),
  ];
};

/**
 * The database's own files too: what was deleted, and what the write-ahead log keeps. They may be large, so only those that
 * hold something are kept.
 */
const filesWith = async (canaries: Evidence['canaries'], folder: string): Promise<Evidence['places']> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const places: { name: string; bytes: Buffer }[] = [];
  for (const entry of entries.filter((found) => found.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const bytes = await readIfThere(path);
    // A key stands in its own file.
    if (canaries.some(({ text }) => bytes.includes(text) && !(Buffer.isBuffer(text) && bytes.equals(text))))
      places.push({ name: `the file ${relative(folder, path)}`, bytes });
  }
  return places;
};

/** A running database removes files of its own. */
const readIfThere = async (path: string): Promise<Buffer> => {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
};

/** As many ends by SIGKILL as were ordered are expected. What else kills a process, such as a machine without memory, is none of them. */
export const judgedEnds = (ends: readonly EndedProcess[], ordered: number): Evidence['processEnds'] => {
  let kills = 0;
  return ends.map(({ code, signal }) => {
    if (signal === 'SIGKILL') kills += 1;
    return { code, signal, isExpected: signal === 'SIGKILL' && kills <= ordered };
  });
};
