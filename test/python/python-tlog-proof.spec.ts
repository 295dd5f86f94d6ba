/**
 * Proofs in two languages: what tlog.py, written from tlog-proof and tlog-policy alone, says of honest ones and of attacks is
 * what ours says.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  EMPTY_ROOT,
  encodeTlogProof,
  formatNote,
  hashesInMemory,
  inclusionProof,
  judgeTlogProof,
  type NoteSignature,
  type NoteSigner,
  parsePolicy,
  parseTlogProof,
  type ProofRefusal,
  signatureOf,
  type SignedNote,
  signNote,
  TlogPolicyError,
  type TlogPolicyReason,
  TlogProofError,
  type TlogProofReason,
} from '#libs/crypto';

import { flipped } from '../../libs/crypto/src/testing/attacked-bundle.js';
import {
  bytesOf,
  checkpointOf,
  leaves,
  logKey,
  ORIGIN,
  pqWitness,
  vkeyText,
  witness,
} from '../../libs/crypto/src/testing/given-witnessed.js';
import { drawer, LOG, OTHER_LOG, OTHER_ORIGIN, policyOf, witnessAt, witnessLine } from './given-tlog.js';
import { HAS_PYTHON, PYTHON_HAS_ML_DSA, TlogProcess } from './tlog-process.js';

const TWO_OF_THREE = policyOf(
  `log ${LOG}`,
  witnessLine(0),
  witnessLine(1),
  witnessLine(2),
  'group g 2 W0 W1 W2',
  'quorum g',
);

describe.skipIf(!HAS_PYTHON)('proofs in Python (needs python3 with cryptography)', () => {
  let python: TlogProcess;
  beforeAll(() => {
    python = new TlogProcess();
  });
  afterAll(() => python.end());

  const SIZE = 13;
  const INDEX = 6;
  const tree = hashesInMemory(leaves);
  const leaf = (index: number): Uint8Array => Uint8Array.from(leaves[index] ?? EMPTY_ROOT);

  const noteBy = (...signers: readonly NoteSigner[]): SignedNote => signNote(checkpointOf(SIZE), signers);
  const HONEST = noteBy(logKey(), witnessAt(0), witnessAt(1));
  const proofFor = async (note = HONEST, index = INDEX, size = SIZE, extra: Uint8Array | null = null) =>
    encodeTlogProof({ extra, index, proof: await inclusionProof(tree, index, size), note });
  const lineBy = (signer: NoteSigner, over: string, as: Partial<NoteSignature> = {}): NoteSignature => ({
    ...signatureOf(over, signer),
    ...as,
  });
  const withLines = (...lines: readonly NoteSignature[]): SignedNote => ({
    text: HONEST.text,
    signatures: [...noteBy(logKey()).signatures, ...lines],
  });

  interface Case {
    readonly proof: string | Uint8Array;
    readonly leaf?: Uint8Array;
    readonly policy?: string;
  }
  const filled = ({ proof, leaf: own = leaf(INDEX), policy = TWO_OF_THREE }: Case) => ({
    proof: typeof proof === 'string' ? bytesOf(proof) : proof,
    leaf: own,
    policy: bytesOf(policy),
  });
  const byPython = (cases: readonly Case[]) => python.askEach('proofs', { cases: cases.map(filled) });

  type Reason = ProofRefusal | TlogProofReason | `policy_${TlogPolicyReason}`;
  const refusalOf = (error: unknown): { readonly result: 'refused'; readonly reason: Reason } => {
    if (error instanceof TlogProofError) return { result: 'refused', reason: error.reason };
    if (error instanceof TlogPolicyError) return { result: 'refused', reason: `policy_${error.reason}` };
    throw error;
  };
  const byUs = (given: Case) => {
    const { proof, leaf: leafHash, policy } = filled(given);
    try {
      const judged = judgeTlogProof(parseTlogProof(proof), { leafHash, policy: parsePolicy(policy) });
      if (judged.result === 'refused') return judged;
      const { checkpoint, witnesses } = judged.signed;
      const { origin, size } = checkpoint;
      return { result: 'included', index: judged.index, origin, size, witnesses: witnesses.map(({ name }) => name) };
    } catch (error) {
      return refusalOf(error);
    }
  };
  /** Both say the same; ours with its reason. */
  const verdictOf = async (given: Case): Promise<string> => {
    const [ours, [theirs]] = [byUs(given), await byPython([given])];
    if ('reason' in ours) {
      expect(theirs).toEqual({ result: 'refused' });
      return ours.reason;
    }
    expect(theirs).toEqual(ours);
    return ours.result;
  };

  it('for every entry of every tree of up to 20 are believed by both', async () => {
    const cases: Case[] = [];
    for (let size = 1; size <= leaves.length; size += 1) {
      const note = signNote(checkpointOf(size), [logKey(), witnessAt(1), witnessAt(2)]);
      for (let index = 0; index < size; index += 1) {
        cases.push({ proof: await proofFor(note, index, size), leaf: leaf(index) });
      }
    }
    const ours = cases.map(byUs);
    expect(ours.filter(({ result }) => result !== 'included')).toEqual([]);
    expect(await byPython(cases)).toEqual(ours);
  });

  it('that Python makes are believed, and are the same bytes', async () => {
    const [extra, path] = [bytesOf('out of band'), await inclusionProof(tree, INDEX, SIZE)];
    const given = { note: bytesOf(formatNote(HONEST)), index: INDEX, path, extra };
    const theirs = await python.askBytes('proof', given);
    expect(Buffer.from(theirs).toString()).toBe(await proofFor(HONEST, INDEX, SIZE, extra));
    expect(await verdictOf({ proof: theirs })).toBe('included');
  });

  it.skipIf(!PYTHON_HAS_ML_DSA)('cosigned with ML-DSA-44 are believed by both', async () => {
    const pq = [pqWitness('w0.example'), pqWitness('w1.example')];
    const names = pq.map((key, index) => `witness P${index} ${vkeyText(key)}`);
    const policy = policyOf(`log ${LOG}`, ...names, witnessLine(2), 'group g 2 P0 P1 W2', 'quorum g');
    expect(await verdictOf({ proof: await proofFor(noteBy(logKey(), ...pq)), policy })).toBe('included');
    expect(await verdictOf({ proof: await proofFor(noteBy(logKey(), pq[0]!)), policy })).toBe('not_witnessed');
    const moved = signNote(checkpointOf(14), [pq[0]!]).signatures;
    expect(await verdictOf({ proof: await proofFor(withLines(...moved)), policy })).toBe('bad_cosignature');
  });

  const quorumless = policyOf(`log ${LOG}`, witnessLine(0), 'quorum none');
  const twoLogs = policyOf(`log ${LOG}`, `log ${OTHER_LOG}`, 'quorum none');
  const other = signNote(checkpointOf(SIZE, OTHER_ORIGIN), [logKey(OTHER_ORIGIN, 'other')]);
  const asOther = { keyName: OTHER_ORIGIN, keyId: logKey(OTHER_ORIGIN, 'other').keyId };

  const attacks: readonly (readonly [string, Reason | 'included', () => Promise<Case>])[] = [
    ['nothing', 'included', async () => ({ proof: await proofFor() })],
    ['an index beside it', 'not_included', async () => ({ proof: (await proofFor()).replace('index 6', 'index 7') })],
    [
      'an index behind the tree',
      'not_included',
      async () => ({ proof: (await proofFor()).replace('index 6', 'index 13') }),
    ],
    [
      'an index with a zero before it',
      'index',
      async () => ({ proof: (await proofFor()).replace('index 6', 'index 06') }),
    ],
    ['no index', 'index', async () => ({ proof: (await proofFor()).replace('index 6\n', '') })],
    ['the leaf of its neighbour', 'not_included', async () => ({ proof: await proofFor(), leaf: leaf(7) })],
    ['a path of another size', 'not_included', async () => ({ proof: await proofFor(HONEST, INDEX, 12) })],
    [
      'an older checkpoint',
      'not_included',
      async () => ({
        proof: await proofFor(signNote(checkpointOf(6), [logKey(), witnessAt(0), witnessAt(1)])),
      }),
    ],
    ['one witness too few', 'not_witnessed', async () => ({ proof: await proofFor(noteBy(logKey(), witnessAt(0))) })],
    [
      'one witness twice',
      'not_witnessed',
      async () => ({ proof: await proofFor(noteBy(logKey(), witnessAt(0), witnessAt(0))) }),
    ],
    [
      'one witness at two times',
      'not_witnessed',
      async () => ({
        proof: await proofFor(noteBy(logKey(), witnessAt(0), witness('w0.example', 'w0.example', 7))),
      }),
    ],
    [
      'one key under a second name',
      'not_witnessed',
      async () => ({
        proof: await proofFor(noteBy(logKey(), witnessAt(0), witness('w1.example', 'w0.example'))),
      }),
    ],
    [
      'one key under the name and id of another',
      'bad_cosignature',
      async () => ({
        proof: await proofFor(
          withLines(
            lineBy(witnessAt(0), HONEST.text),
            lineBy(witnessAt(0), HONEST.text, { keyName: witnessAt(1).keyName, keyId: witnessAt(1).keyId }),
          ),
        ),
      }),
    ],
    [
      'a policy of one key under two names',
      'policy_duplicate_key',
      async () => ({
        proof: await proofFor(noteBy(logKey(), witnessAt(0), witness('w1.example', 'w0.example'))),
        policy: policyOf(
          `log ${LOG}`,
          witnessLine(0),
          `witness W1 ${vkeyText(witness('w1.example', 'w0.example'))}`,
          'group g all W0 W1',
          'quorum g',
        ),
      }),
    ],
    [
      'a cosignature moved from another size',
      'bad_cosignature',
      async () => ({
        proof: await proofFor(withLines(lineBy(witnessAt(0), HONEST.text), lineBy(witnessAt(1), checkpointOf(14)))),
      }),
    ],
    [
      'a cosignature moved from another log',
      'bad_cosignature',
      async () => ({
        proof: await proofFor(withLines(lineBy(witnessAt(0), HONEST.text), lineBy(witnessAt(1), other.text))),
      }),
    ],
    [
      'a bad cosignature, though none is asked for',
      'bad_cosignature',
      async () => ({
        proof: await proofFor(withLines(lineBy(witnessAt(0), other.text))),
        policy: quorumless,
      }),
    ],
    [
      'witnesses of nobody, though none is asked for',
      'included',
      async () => ({
        proof: await proofFor(withLines(lineBy(witness('nobody.example'), other.text))),
        policy: quorumless,
      }),
    ],
    ['another origin under its own key', 'wrong_origin', async () => ({ proof: await proofFor(other) })],
    [
      'another origin under our key',
      'wrong_origin',
      async () => ({
        proof: await proofFor(signNote(other.text, [logKey(), witnessAt(0), witnessAt(1)])),
      }),
    ],
    ['another known log by its own key', 'included', async () => ({ proof: await proofFor(other), policy: twoLogs })],
    [
      'another known log by our key',
      'checkpoint_not_signed',
      async () => ({
        proof: await proofFor(signNote(other.text, [logKey()])),
        policy: twoLogs,
      }),
    ],
    [
      'our log, and a line of another known log',
      'included',
      async () => ({
        proof: await proofFor(noteBy(logKey(), logKey(OTHER_ORIGIN, 'other'))),
        policy: twoLogs,
      }),
    ],
    [
      'our log, and a false line of another known log',
      'bad_log_signature',
      async () => ({
        proof: await proofFor(withLines(lineBy(logKey(), HONEST.text, asOther))),
        policy: twoLogs,
      }),
    ],
    [
      'a log key that nobody knows',
      'checkpoint_not_signed',
      async () => ({
        proof: await proofFor(noteBy(logKey(ORIGIN, 'stranger'), witnessAt(0), witnessAt(1))),
      }),
    ],
    [
      'the log signature of another size',
      'bad_log_signature',
      async () => ({
        proof: await proofFor({
          text: HONEST.text,
          signatures: [lineBy(logKey(), checkpointOf(14)), ...HONEST.signatures.slice(1)],
        }),
      }),
    ],
    [
      'no log signature',
      'checkpoint_not_signed',
      async () => ({ proof: await proofFor(noteBy(witnessAt(0), witnessAt(1))) }),
    ],
    [
      'the log as its own witness',
      'checkpoint_not_signed',
      async () => ({
        proof: await proofFor(noteBy(witness(ORIGIN, 'log'), witnessAt(0), witnessAt(1))),
      }),
    ],
    ['extra data', 'included', async () => ({ proof: await proofFor(HONEST, INDEX, SIZE, bytesOf('x')) })],
    [
      'an extra line of no data',
      'extra',
      async () => ({ proof: (await proofFor()).replace('index 6', 'extra \nindex 6') }),
    ],
    [
      'an extra line after the index',
      'proof_line',
      async () => ({
        proof: (await proofFor()).replace('index 6', 'index 6\nextra eA=='),
      }),
    ],
    [
      'two extra lines',
      'index',
      async () => ({
        proof: (await proofFor()).replace('index 6', 'extra eA==\nextra eA==\nindex 6'),
      }),
    ],
    ['another version', 'version', async () => ({ proof: (await proofFor()).replace('@v1', '@v2') })],
    [
      '64 proof lines',
      'too_many_proof_lines',
      async () => ({
        proof: (await proofFor()).replace(
          'index 6\n',
          `index 6\n${`${Buffer.from(EMPTY_ROOT).toString('base64')}\n`.repeat(60)}`,
        ),
      }),
    ],
    ['carriage returns', 'control_character', async () => ({ proof: (await proofFor()).replaceAll('\n', '\r\n') })],
    ['no empty line', 'version', async () => ({ proof: formatNote(HONEST) })],
  ];

  it.each(attacks)('with %s: %s', async (_name, expected, given) => {
    expect(await verdictOf(await given())).toBe(expected);
  });

  it('cut anywhere, or with any bit turned, are judged alike', async () => {
    const draw = drawer('proofs');
    const whole = Buffer.from(await proofFor(noteBy(logKey(), witnessAt(0), witnessAt(1), witnessAt(2))));
    const cases: readonly Case[] = [
      ...Array.from({ length: whole.length }, (_, at) => ({ proof: flipped(whole, at * 8 + draw(8)) })),
      ...Array.from({ length: whole.length }, (_, end) => ({ proof: whole.subarray(0, end) })),
    ];
    const theirs = await byPython(cases);
    const ours = cases.map(byUs).map((word) => ('reason' in word ? { result: 'refused' } : word));
    expect(theirs).toEqual(ours);
    // A key's name or id turned leaves two other witnesses, which are enough.
    expect(new Set(ours.map(({ result }) => result))).toEqual(new Set(['included', 'refused']));
  });
});
