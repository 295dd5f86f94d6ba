import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { runProgram } from '../program.js';
import type { Terminal } from '../terminal.js';
import type { Stage } from './stage.js';

/** The ledger leaves the service, is verified without it, and refused when one bit of it differs. */
export const exportAndVerify = async (stage: Stage, deed: string): Promise<void> => {
  const { story, service, adminKey, agentKey, folder } = stage;
  story.scene('The ledger, exported and verified offline');
  const bundle = await service.download('/v1/deeds/export', adminKey);
  const seq = Number((await service.call('GET', `/v1/deeds/${deed}`, { key: agentKey })).json['seq']);
  await service.stop();
  const path = join(folder, 'deeds.tar.gz');
  await writeFile(path, bundle);
  story.tell('the service is stopped; `npm run ags -- verify deeds.tar.gz --org ... --pin ...` says');
  const good = await verify(stage, path);
  story.claim(`all deeds in ${bundle.length.toLocaleString('en')} bytes are intact`, good.code === 0);

  story.scene(`One bit of one deed flipped: the note of scene 2, seq ${seq}`);
  const forged = join(folder, 'forged.tar.gz');
  await writeFile(forged, withOneBitFlipped(bundle, seq));
  const bad = await verify(stage, forged);
  story.claim(
    `the bundle is refused, and seq ${seq} is named`,
    bad.code === 1 && bad.verdict['reason'] === 'body_hash_mismatch' && bad.verdict['first_bad_seq'] === seq,
  );
};

interface Verification {
  readonly code: number;
  readonly verdict: Readonly<Record<string, unknown>>;
}

/** `ags verify` itself: its text for whoever reads along, its verdict and exit code for the claims. */
const verify = async ({ story, prepared }: Stage, path: string): Promise<Verification> => {
  const command = ['verify', path, '--org', prepared.org, '--pin', prepared.sealKeyFingerprint];
  const text = await captured(command);
  story.tell(text.output.trimEnd().split('\n\n')[0] ?? '');
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
