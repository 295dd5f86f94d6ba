/** Attacks on the checkpoint of a bundle and on its evidence. The Python verifier is judged by the same list. */
import { intentAttacks } from './intent-attacks.js';
import { signedAttacks } from './signed-attacks.js';
import { digestOf } from '../digest.js';
import {
  type DocumentLine,
  encodePayloadLine,
  type OpenedLine,
  type PayloadLine,
  type TakenLine,
  type ToldLine,
} from '../payload-line.js';
import { parsePolicy, type TlogPolicy } from '../transparency/tlog-policy.js';
import { broken, type BundleAttack, incomplete } from './attacked-bundle.js';
import { approvalAt, at, givenChain, OTHER_ORG, packed, rawOf } from './given-chain.js';
import { bytesOf, logKey, vkeyText, witness } from './given-witnessed.js';
import {
  anna,
  ben,
  BOTH,
  encoded,
  HELD,
  honestNote,
  LEDGER_ORIGIN,
  ledgerKey,
  linesOf,
  noteText,
  rangeOf,
  saltAt,
  textOf,
  TREE,
  treeText,
  UNPROVEN,
  valueAt,
  witnessed,
  witnessedBundle,
  type WitnessedChoices,
} from './witnessed-bundle.js';

const witnesses = { options: { witnesses: BOTH } };

const made =
  (choices: WitnessedChoices = {}) =>
  async (): Promise<Buffer> =>
    packed(await witnessedBundle(choices));

const held = witnessed.slice(0, HELD);
const text = treeText(witnessed);

/** Another chain of as many deeds, written by the holder of the real seal key. */
const rewritten = givenChain(TREE, { changeAt: (seq) => (seq === 2 ? approvalAt(2, 'approved') : {}) });

const policy = (...lines: readonly string[]): TlogPolicy =>
  parsePolicy(bytesOf([`log ${vkeyText(ledgerKey)}`, ...lines, ''].join('\n')));

const emptyLines = { lines: [] };
const whole = { first: 1, last: HELD, size: TREE };

/** The signature line of a witness over another checkpoint, in the place of its line over this one. */
const movedCosignature = (): string => {
  const [ofOther = ''] = noteText(treeText(witnessed.slice(0, HELD)), anna)
    .split('\n')
    .slice(-2);
  const [ofThis = ''] = noteText(text, anna).split('\n').slice(-2);
  return honestNote.replace(ofThis, ofOther);
};

const otherOrigin = LEDGER_ORIGIN.replace(/org_.*/, OTHER_ORG);
const otherLog = logKey(otherOrigin);
const impostor = logKey(LEDGER_ORIGIN, 'the checkpoint key of another service');

const noted = (note: string): (() => Promise<Buffer>) => made({ note });

const checkpointAttacks: readonly BundleAttack[] = [
  broken(
    'root_mismatch',
    null,
    'a chain written anew with the real seal key, under the checkpoint of the old one',
    async () => packed(await witnessedBundle({ deeds: rewritten.slice(0, HELD), ...emptyLines })),
    witnesses,
  ),
  broken(
    'root_mismatch',
    null,
    'a fork that begins behind the bundle, with hashes of its own',
    async () => {
      const fork = [...held, ...givenChain(TREE).slice(HELD)];
      return packed(await witnessedBundle({ range: await rangeOf(fork, whole) }));
    },
    witnesses,
  ),
  incomplete(
    'not_witnessed',
    null,
    'a fork whose checkpoint the log signed, and no witness',
    async () => {
      const note = noteText(treeText(rewritten), ledgerKey);
      const range = await rangeOf(rewritten, whole);
      return packed(await witnessedBundle({ deeds: rewritten.slice(0, HELD), note, range, ...emptyLines }));
    },
    witnesses,
  ),
  incomplete('not_witnessed', null, 'a bundle without a checkpoint', () => packed(rawOf(held)), witnesses),
  incomplete(
    'not_witnessed',
    null,
    'a bundle without a checkpoint, where only the log is trusted',
    () => packed(rawOf(held)),
    {
      options: { checkpointKeys: [ledgerKey.vkey] },
    },
  ),
  incomplete('not_witnessed', null, 'one witness of two', noted(noteText(text, ledgerKey, anna)), witnesses),
  incomplete(
    'not_witnessed',
    null,
    'one witness under two names',
    noted(noteText(text, ledgerKey, anna, witness('ben.example/w', 'anna'))),
    witnesses,
  ),
  incomplete(
    'not_witnessed',
    null,
    'one witness twice',
    noted(noteText(text, ledgerKey, anna, witness('anna.example/w', 'anna'))),
    witnesses,
  ),
  broken(
    'bad_checkpoint',
    null,
    'a tail that was cut, with a manifest and a range mended, under a tree that is smaller than the bundle',
    async () =>
      packed(await witnessedBundle({ note: noteText(treeText(witnessed.slice(0, 5)), ledgerKey, anna, ben) })),
    witnesses,
  ),
  broken(
    'bad_checkpoint',
    null,
    'a range of another size',
    async () => packed(await witnessedBundle({ range: await rangeOf(witnessed.slice(0, 10), { ...whole, size: 10 }) })),
    witnesses,
  ),
  broken(
    'bad_checkpoint',
    null,
    'a range of other deeds',
    async () => packed(await witnessedBundle({ range: await rangeOf(witnessed, { ...whole, last: HELD - 1 }) })),
    witnesses,
  ),
  broken(
    'bad_checkpoint',
    null,
    'a range with a hash too many',
    made({ range: textOf({ ...whole, left: ['A'.repeat(43) + '='], right: [] }) }),
    witnesses,
  ),
  broken('bad_checkpoint', null, 'a range that is none', made({ range: bytesOf('{}') }), witnesses),
  broken('bad_checkpoint', null, 'a note that is none', noted('no note\n'), witnesses),
  broken('bad_checkpoint', null, 'a note of another text', noted(noteText('one line\n', ledgerKey)), witnesses),
  broken(
    'bad_checkpoint',
    null,
    'a signature of the log that does not hold',
    noted(honestNote.replace(`${TREE}\n`, `${TREE + 1}\n`)),
    witnesses,
  ),
  broken('root_mismatch', null, 'a note without a trusted key, over another root', async () =>
    packed(await witnessedBundle({ note: noteText(treeText(rewritten), impostor) })),
  ),
  broken(
    'wrong_origin',
    null,
    'the checkpoint of another organization, whose key the reader took',
    noted(noteText(treeText(witnessed, otherOrigin), otherLog)),
    {
      options: { checkpointKeys: [otherLog.vkey] },
    },
  ),
  broken(
    'wrong_origin',
    null,
    'a checkpoint of a tree that was begun anew for the 01st time',
    noted(noteText(treeText(witnessed, `${LEDGER_ORIGIN}/01`), logKey(`${LEDGER_ORIGIN}/01`))),
  ),
  broken('wrong_origin', null, 'a checkpoint of another service', noted(honestNote), {
    options: { checkpointKeys: [logKey(LEDGER_ORIGIN.replace('governance', 'elsewhere')).vkey] },
  }),
  broken(
    'checkpoint_not_signed',
    null,
    'a checkpoint of another service under the same name',
    noted(noteText(text, impostor, anna, ben)),
    witnesses,
  ),
  broken('bad_cosignature', null, 'a cosignature of another note', noted(movedCosignature()), witnesses),
  incomplete(
    'not_witnessed',
    null,
    'a quorum that the cosigned witnesses are no part of',
    noted(noteText(text, ledgerKey, anna)),
    {
      options: { witnesses: policy(`witness anna ${vkeyText(anna)}`, `witness ben ${vkeyText(ben)}`, 'quorum ben') },
    },
  ),
  broken('bad_manifest', null, 'a checkpoint without a range', made({ manifest: { files: ['checkpoint.txt'] } })),
  broken(
    'bad_manifest',
    null,
    'files in another order',
    made({ manifest: { files: ['range.json', 'checkpoint.txt'] } }),
  ),
  broken('bad_manifest', null, 'a file twice', made({ manifest: { files: ['payloads.ndjson', 'payloads.ndjson'] } })),
  broken(
    'bad_manifest',
    null,
    'a file of a name that is reserved',
    made({ manifest: { files: ['assertions.ndjson'] } }),
  ),
  broken('bad_manifest', null, 'files in the first format', made({ manifest: { v: 'service.bundle/1' } })),
  broken('bad_tar', null, 'a file that is not listed', made({ manifest: { files: [] } })),
  broken('bad_tar', null, 'a file that is listed and not there', async () => {
    const raw = await witnessedBundle();
    return packed({ ...raw, more: (raw.more ?? []).slice(0, 2) });
  }),
];

const all = linesOf(held);
const isOpened = (line: PayloadLine): line is OpenedLine => line.kind === 'opened';

const indexOf = (seq: number, member: string): number =>
  all.findIndex((line) => isOpened(line) && line.seq === seq && line.member === member);

/** The opened line of a member. */
const lineAt = (seq: number, member = 'action.args_digest'): OpenedLine => {
  const line = all[indexOf(seq, member)];
  if (line === undefined || !isOpened(line)) throw new RangeError('no such line');
  return line;
};

const given = (lines: readonly PayloadLine[]): (() => Promise<Buffer>) => made({ lines: encoded(lines) });

/** The lines with the opened one of a member in another form. */
const changed = (seq: number, change: Partial<OpenedLine>, member = 'action.args_digest') =>
  given(all.with(indexOf(seq, member), { ...lineAt(seq, member), ...change }));

const wrong = (seq: number | null, name: string, bytes: () => Promise<Buffer>): BundleAttack =>
  broken('bad_evidence', seq, name, bytes);

const raw =
  (...lines: readonly string[]) =>
  (): Promise<Buffer> =>
    made({ lines: lines.map((line) => Buffer.from(line)) })();

/** The document of a deed. */
const documentAt = (seq: number): DocumentLine => {
  const line = all.find((one) => one.kind === 'document' && one.seq === seq);
  if (line?.kind !== 'document') throw new RangeError('no such document');
  return line;
};

const intent = documentAt(8);
const source = documentAt(3);
const [, told] = UNPROVEN as readonly [ToldLine, ToldLine];
const toldOf = (json: string): ToldLine => ({
  ...told,
  document: 'connector_config',
  digest: digestOf(json),
  value: bytesOf(json),
});
/** A document of so many containers inside each other. */
const deep = (levels: number): ToldLine => toldOf('['.repeat(levels) + ']'.repeat(levels));
const data = lineAt(3, 'admin.data_digest');

const evidenceAttacks: readonly BundleAttack[] = [
  wrong(2, 'a value that was changed', changed(2, { value: textOf({ amount: 8, seq: 2 }) })),
  wrong(2, 'a value in another spelling', changed(2, { value: bytesOf(` ${lineAt(2).value.toString()}`) })),
  wrong(2, 'a salt that was changed', changed(2, { salt: saltAt(3, 'action.args_digest') })),
  wrong(2, 'a salt that is left out', changed(2, { salt: null })),
  wrong(5, 'a salt where there is none', changed(5, { salt: saltAt(5, 'action.args_digest') })),
  wrong(
    2,
    'a line that was moved to another deed',
    given(all.with(indexOf(2, 'action.args_digest'), { ...lineAt(1), seq: 2 })),
  ),
  wrong(
    2,
    'a line that was moved to another member',
    given(
      all.with(indexOf(2, 'action.args_digest'), {
        ...lineAt(2, 'action.request_digest'),
        member: 'action.args_digest',
      }),
    ),
  ),
  wrong(1, 'a line twice', given([lineAt(1), lineAt(1), ...all.slice(indexOf(1, 'action.args_digest') + 1)])),
  wrong(1, 'lines of two deeds in another order', given([lineAt(2), lineAt(1)])),
  wrong(2, 'lines of one deed in another order', given([lineAt(2, 'action.request_digest'), lineAt(2)])),
  wrong(2, 'a member given and taken', given([lineAt(2), { ...lineAt(2), kind: 'taken', absent: 'removed' }])),
  wrong(
    2,
    'a member taken that has another digest',
    given([{ ...lineAt(2), commitment: digestOf('x'), kind: 'taken', absent: 'missing' }]),
  ),
  wrong(HELD + 1, 'a payload for a deed that is outside', given(linesOf(witnessed.slice(0, HELD + 1)))),
  wrong(1, 'a member that the deed does not have', given([{ ...lineAt(1), member: 'execution.result_digest' }])),
  wrong(
    8,
    'an intent that is opened as a value',
    given([{ ...intent, kind: 'opened', member: 'who.intent_hash', salt: null, commitment: intent.digest }]),
  ),
  wrong(8, 'an intent without its signature', given([{ ...intent, signature: null }])),
  wrong(3, 'an intent of a deed that has none', given([{ ...intent, seq: 3 }])),
  wrong(3, 'a policy whose deed does not say which it is', given([source])),
  wrong(3, 'a document of an unknown word', given([data, { ...source, document: 'policy_text' }])),
  wrong(3, 'a policy of another text', given([data, { ...source, value: textOf('rules: []') }])),
  wrong(3, 'a policy with a signature', given([data, { ...source, signature: 'A'.repeat(86) }])),
  wrong(6, 'a configuration whose data were opened for another deed', given([data, documentAt(6)])),
  wrong(null, 'a told document of another text', given([{ ...told, value: textOf('') }])),
  wrong(null, 'a told document of an unknown word', given([{ ...told, document: 'intent' }])),
  wrong(null, 'a name before a told document', given(UNPROVEN.toReversed())),
  wrong(2, 'a name before a deed', given([...UNPROVEN, lineAt(2)])),
  wrong(null, 'a name twice', given([...UNPROVEN, ...UNPROVEN.slice(-1)])),
  wrong(null, 'a told document that is too deep', given([deep(129)])),
  wrong(null, 'a told document that is no JSON', given([toldOf('{')])),
  wrong(null, 'a told document with a name twice', given([toldOf('{"a":1,"a":1}')])),
  wrong(null, 'a line that is none', raw('no line\n')),
  wrong(null, 'an empty line of evidence', raw('\n')),
  wrong(null, 'a line without its end', raw('{"id":"usr_1","name":"Anna","type":"user"}')),
  wrong(null, 'a name in another spelling', raw('{"id":"usr_1", "name":"Anna","type":"user"}\n')),
  wrong(null, 'a name with more to it', raw('{"id":"usr_1","name":"Anna","nick":"a","type":"user"}\n')),
  wrong(null, 'an id that is none', raw('{"id":"usr 1","name":"Anna","type":"user"}\n')),
  wrong(
    null,
    'a seq beyond 2^53-1',
    raw(`${encodePayloadLine(lineAt(1)).toString().replace('"seq":1,', '"seq":9007199254740992,')}`),
  ),
  wrong(
    1,
    'a value that goes on behind its end',
    changed(1, { value: bytesOf(`${textOf(valueAt(1, 'action.args_digest')).toString()},"x":1`) }),
  ),
  broken('bad_tar', null, 'bytes in the padding of the evidence', async () => {
    const bundle = await witnessedBundle({ manifest: { files: ['payloads.ndjson'] } });
    return packed({
      ...bundle,
      more: [
        ['payloads.ndjson', Buffer.alloc(0)],
        ['x', Buffer.alloc(0)],
      ],
    });
  }),
  incomplete('front_missing', 1, 'a tail, with its evidence', made({ deeds: witnessed.slice(4) })),
  broken('outside_range', 9, 'deeds outside the range, with their evidence', made({ manifest: { to: at(9) } })),
];

const isMember = ({ kind, ...line }: PayloadLine): boolean =>
  kind === 'opened' || kind === 'taken' || ('document' in line && line.document === 'intent');
const taken: TakenLine = {
  ...intent,
  kind: 'taken',
  member: 'who.intent_hash',
  commitment: intent.digest,
  absent: 'missing',
};

/** Evidence out of which so many values were taken. */
export const LESS_EVIDENCE: readonly (readonly [name: string, values: number, bytes: () => Promise<Buffer>])[] = [
  ['everything', all.filter(isMember).length, given([])],
  ['a value', 1, given(all.toSpliced(indexOf(1, 'action.args_digest'), 1))],
  ['a text that a change names', 1, given(all.toSpliced(all.indexOf(source), 1))],
  [
    'nothing, where one is called missing and is there',
    0,
    given(all.toSpliced(indexOf(intent.seq, 'action.args_digest'), 0, taken)),
  ],
];

/** Evidence that is unusual, and right. */
export const UNUSUAL_EVIDENCE: readonly (() => Promise<Buffer>)[] = [
  ...LESS_EVIDENCE.map(([, , bytes]) => bytes),
  given([]),
  given([deep(128)]),
  given([toldOf('{"a":1e300,"__proto__":null}')]),
  // But for the data that documents are named in.
  given(all.filter((line, index) => !isOpened(line) || line === data || line.seq > 4 || index % 2 === 1)),
];

export const WITNESSED_ATTACKS: Readonly<Record<string, readonly BundleAttack[]>> = {
  'the checkpoint': checkpointAttacks,
  'the evidence': evidenceAttacks,
  'what a device signed': signedAttacks,
  'what an agent signed': intentAttacks,
};
