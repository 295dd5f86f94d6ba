import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { runProgram } from '../program.js';
import type { Terminal } from '../terminal.js';
import { CLOSING_CALL } from './approval-scene.js';
import { member } from './scratch-service.js';
import type { Stage } from './stage.js';

/** What the last scenes look at in the ledger. */
interface Exported {
  /** The deed of the note of scene 2. */
  readonly deed: string;
  /** The action that two people approved. */
  readonly approved: string;
}

/**
 * The ledger leaves the service with what its deeds stand for, is verified and read without it, and refused when one bit of it
 * differs.
 */
export const exportAndVerify = async (stage: Stage, { deed, approved }: Exported): Promise<void> => {
  const { story, service, adminKey, agentKey, folder } = stage;
  story.scene('The ledger, exported with evidence and verified offline');
  const bundle = await service.download('/v1/deeds/export?evidence=true', adminKey);
  const seq = Number((await service.call('GET', `/v1/deeds/${deed}`, { key: agentKey })).json['seq']);
  const checkpointKey = await checkpointKeyOf(stage);
  await service.stop();
  const path = join(folder, 'deeds.tar.gz');
  await writeFile(path, bundle);
  story.tell(
    'the service is stopped; `npm run ags -- verify deeds.tar.gz --org ... --pin ... --checkpoint-key ...` says',
  );
  const good = await verify(stage, path, ['--checkpoint-key', checkpointKey]);
  story.claim(`all deeds in ${bundle.length.toLocaleString('en')} bytes are intact`, good.code === 0);
  story.claim(
    'they lead to the root of the ledger’s tree, which another key signed',
    member(good.verdict, 'checkpoint', 'signed') === true,
  );
  await readOffline(stage, path, approved);

  story.scene(`One bit of one deed flipped: the note of scene 2, seq ${seq}`);
  const forged = join(folder, 'forged.tar.gz');
  await writeFile(forged, withOneBitFlipped(bundle, seq));
  const bad = await verify(stage, forged);
  story.claim(
    `the bundle is refused, and seq ${seq} is named`,
    bad.code === 1 && bad.verdict['reason'] === 'body_hash_mismatch' && bad.verdict['first_bad_seq'] === seq,
  );
};

/** `ags ledger vkey`, of what the service publishes and the name of the tree. */
const checkpointKeyOf = async ({ service, adminKey: key }: Stage): Promise<string> => {
  const [origin = ''] = (await service.download('/v1/ledger/checkpoint', key)).toString().split('\n');
  const { json } = await service.call('GET', '/.well-known/service/checkpoint-keys.json', { key });
  const publicKey = String(member(json, 'keys', '0', 'public_key'));
  return (await captured(['ledger', 'vkey', '--origin', origin, '--public-key', publicKey])).output.trim();
};

/** `ags bundle show`, of which the lines are told that say who and what. */
const readOffline = async (stage: Stage, path: string, action: string): Promise<void> => {
  const { story } = stage;
  story.scene('What an auditor reads in it: the account that two people closed');
  const command = ['bundle', 'show', path, action, ...trustIn(stage)];
  const { output } = await captured(command);
  for (const line of tellingLines(output)) story.tell(line);
  const account = JSON.parse((await captured([...command, '--json'])).output) as unknown;
  const args = member(account, 'asked', 'arguments', 'value');
  story.claim('the arguments that the agent sent', JSON.stringify(args) === JSON.stringify(CLOSING_CALL.args));
  const signatures = member(account, 'approval', 'signatures');
  const isSeen = (one: unknown): boolean => member(one, 'saw', 'value') !== undefined;
  story.claim(
    'who allowed it, and what each of them saw',
    Array.isArray(signatures) && signatures.filter(isSeen).length === 2,
  );
  story.claim(
    'what came back',
    member(account, 'execution', 'status') === 'succeeded' &&
      member(account, 'execution', 'result', 'value') !== undefined,
  );
};

/** Headings, and what stands on one line under them; what is longer is for whoever reads the page itself. */
const tellingLines = (page: string): readonly string[] =>
  page.split('\n').filter((line) => line !== '' && !LONG.test(line));

const LONG = /^ {4}|: *$/;

const trustIn = ({ prepared }: Stage): readonly string[] => [
  ...['--org', prepared.org, '--pin', prepared.sealKeyFingerprint],
];

interface Verification {
  readonly code: number;
  readonly verdict: Readonly<Record<string, unknown>>;
}

/** `ags verify` itself: its text for whoever reads along, its verdict and exit code for the claims. */
const verify = async (stage: Stage, path: string, more: readonly string[] = []): Promise<Verification> => {
  const command = ['verify', path, ...trustIn(stage), ...more];
  const text = await captured(command);
  stage.story.tell(text.output.trimEnd().split('\n\n')[0] ?? '');
  const { code, output } = await captured([...command, '--json']);
  return { code: text.code === code ? code : -1, verdict: JSON.parse(output) as Verification['verdict'] };
};

const captured = async (command: readonly string[]): Promise<{ code: number; output: string }> => {
  let output = '';
  const collect = (text: string): void => {
    output += text;
  };
  const terminal: Terminal = {
    out: collect,
    err: collect,
    taken: () => Promise.resolve(true),
    isWatched: false,
    isShown: false,
  };
  return { code: await runProgram(command, terminal), output };
};

const BODY_START = '{"body":"';

/** The same bundle, whole as a file, with the lowest bit of one byte in the middle of a deed's body flipped. */
const withOneBitFlipped = (bundle: Buffer, seq: number): Buffer => {
  const tar = gunzipSync(bundle);
  const lineEnd = tar.indexOf(`"seq":${seq},"signature"`);
  const start = tar.lastIndexOf(BODY_START, lineEnd) + BODY_START.length;
  const end = tar.indexOf('"', start);
  const body = Buffer.from(tar.toString('latin1', start, end), 'base64url');
  const middle = Math.floor(body.length / 2);
  body.writeUInt8(body.readUInt8(middle) ^ 1, middle);
  tar.write(body.toString('base64url'), start, 'latin1');
  return gzipSync(tar);
};
