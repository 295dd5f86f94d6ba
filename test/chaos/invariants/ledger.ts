import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { isRecorded, textOf, type Dossier } from '../dossier.js';
import type { ExportedBundle } from '../evidence.js';

/**
 * INV-04. Each action that ended has one deed, and one for each amendment of its witness, in the ledger and in the bundle;
 * each deed has an action that ended.
 */
export const oneDeedEach = ({ evidence, actions, deeds }: Dossier): readonly string[] => {
  const faults: string[] = [];
  for (const file of actions.values()) {
    const due = isRecorded(file) ? 1 : 0;
    if (file.deeds.length !== due) {
      const seqs = file.deeds.map(({ data }) => String(data['seq'])).join(', ');
      faults.push(
        due === 1 && seqs === ''
          ? `${file.id} ended (${file.events.at(-1)?.type ?? ''}) and has no deed`
          : `${file.id} has ${file.deeds.length} deeds (seq ${seqs}), and ${due} is due`,
      );
    }
    const [amended, sealed] = [file.amendments.length, file.amendmentDeeds.length];
    if (amended !== sealed) faults.push(`${file.id} was amended ${amended} times and has ${sealed} deeds of that`);
  }
  for (const { data } of deeds) {
    if (data['kind'] !== 'admin' && !actions.has(textOf(data['action']))) {
      faults.push(`deed ${textOf(data['deed'])} seals ${textOf(data['action'])}, which the log does not know`);
    }
  }
  const last = evidence.exports.find(({ isLast }) => isLast);
  const exported = new Set(last ? linesOf(last).map(({ body_hash }) => body_hash) : []);
  for (const { data } of deeds) {
    if (!exported.has(textOf(data['body_hash']))) faults.push(`deed ${textOf(data['deed'])} is not in the last export`);
  }
  return faults;
};

/** INV-05. From 1 to the end each seq once; each deed links to the one before it; computed here from the stored bytes. */
export const chainIsGapless = ({ evidence, deeds }: Dossier): readonly string[] => {
  const logged = deeds.map(({ data }) => ({
    seq: Number(data['seq']),
    body: Buffer.from(textOf(data['body'])),
    body_hash: textOf(data['body_hash']),
  }));
  const last = evidence.exports.find(({ isLast }) => isLast);
  return [
    ...chainFaults('the ledger', logged),
    ...(last ? chainFaults(last.name, linesOf(last)) : ['there is no export']),
  ];
};

interface DeedLine {
  readonly seq: number;
  readonly body: Buffer;
  readonly body_hash: string;
}

const chainFaults = (place: string, lines: readonly DeedLine[]): readonly string[] => {
  const faults: string[] = [];
  const links = new Map<string, number>();
  for (const [index, { seq, body, body_hash }] of lines.entries()) {
    if (seq !== index + 1) faults.push(`in ${place}, seq ${seq} stands where ${index + 1} is due`);
    const hash = `sha256:${createHash('sha256').update(body).digest('hex')}`;
    if (hash !== body_hash) faults.push(`in ${place}, seq ${seq} has not the hash of its body`);
    const { chain, seq: bodySeq } = JSON.parse(body.toString()) as { chain: { prev_hash: string | null }; seq: number };
    if (bodySeq !== seq) faults.push(`in ${place}, seq ${seq} calls itself ${bodySeq}`);
    const before = lines[index - 1]?.body_hash ?? null;
    if (chain.prev_hash !== before) faults.push(`in ${place}, seq ${seq} does not link to the deed before it`);
    const twin = links.get(chain.prev_hash ?? '');
    if (twin !== undefined)
      faults.push(`in ${place}, seq ${seq} and seq ${twin} link to the same deed: the chain forks`);
    links.set(chain.prev_hash ?? '', seq);
  }
  return faults;
};

/** INV-06. Every whole export is intact under the pinned key, a cut one is never called broken, and the service agrees. */
export const sealsVerify = ({ evidence }: Dossier): readonly string[] => {
  const faults = evidence.exports.flatMap(({ name, isCut, verdict }) => {
    const isFine = verdict.result === 'intact' || (isCut && verdict.result === 'incomplete');
    const place = verdict.first_bad_seq === null ? '' : ` at seq ${verdict.first_bad_seq}`;
    return isFine ? [] : [`${name} is ${verdict.result} (${verdict.reason ?? ''}${place})`];
  });
  const { ledgerCheck } = evidence;
  if (ledgerCheck['result'] !== 'intact') faults.push(`the ledger check says ${JSON.stringify(ledgerCheck)}`);
  return faults;
};

const DEED_LINE = /\{"body":"[^\n]*\}\n/g;

/** The deeds of a whole bundle, read here without the reader under test. */
const linesOf = ({ bytes, isCut }: ExportedBundle): readonly DeedLine[] => {
  if (isCut) return [];
  const text = gunzipSync(bytes).toString('latin1');
  return [...text.matchAll(DEED_LINE)].map(([line]) => {
    const { seq, body, body_hash } = JSON.parse(line) as { seq: number; body: string; body_hash: string };
    return { seq, body: Buffer.from(body, 'base64url'), body_hash };
  });
};
