import { describe, expect, it } from 'vitest';

import { sha256 } from '../digest.js';
import {
  AT,
  bytesOf,
  checkpointOf,
  logKey,
  noteOf,
  ORIGIN,
  pqWitness,
  vkeyText,
  witness,
} from '../testing/given-witnessed.js';
import { encodeCheckpoint, parseCheckpoint } from './checkpoint.js';
import { type CheckpointJudgement, judgeCheckpoint } from './checkpoint-judgement.js';
import { mlDsa44CosignedMessage } from './cosignature.js';
import { MlDsa44SigningKey } from './ml-dsa-44.js';
import type { SigningNoteKey } from './note-key.js';
import { formatNote, type NoteSigner, parseSignedNote } from './signed-note.js';
import { parsePolicy, type TlogPolicy } from './tlog-policy.js';

const log = logKey();
const [w1, w2, w3] = [witness('w1.example'), witness('w2.example'), pqWitness('w3.example')];

const policyOf = (quorum: string, ...witnesses: readonly SigningNoteKey[]): TlogPolicy => {
  const lines = witnesses.map((signer, index) => `witness ${'abcdef'[index]} ${vkeyText(signer)}\n`);
  return parsePolicy(bytesOf(`log ${vkeyText(log)}\n${lines.join('')}${quorum}\n`));
};
const twoOfThree = policyOf('group g 2 a b c\nquorum g', w1, w2, w3);
const text = checkpointOf(7);

const judged = (signers: readonly NoteSigner[], policy = twoOfThree): CheckpointJudgement =>
  judgeCheckpoint(noteOf(text, ...signers), policy);
const reasonFor = (judgement: CheckpointJudgement): string =>
  judgement.result === 'refused' ? judgement.reason : judgement.quorum;
const forged = (signer: NoteSigner): NoteSigner => ({
  ...signer,
  sign: (any) => signer.sign(any).map((byte) => byte ^ 1),
});

describe('a checkpoint by a policy', () => {
  it('signed by its log and cosigned by enough witnesses', () => {
    expect(judged([log, w1, w3])).toMatchObject({
      result: 'signed',
      checkpoint: { origin: ORIGIN, size: 7 },
      logs: [log.vkey],
      witnesses: [
        { name: 'a', at: AT, counts: true },
        { name: 'c', at: AT, counts: true },
      ],
      quorum: 'met',
    });
  });

  it.each([
    ['by no witness', [log], 'not_met'],
    ['by one of two', [log, w2], 'not_met'],
    ['by all', [log, w1, w2, w3], 'met'],
    ['in another order', [w3, w1, log], 'met'],
    ['by an unknown witness beside one', [log, w1, witness('other.example')], 'not_met'],
    ['by one witness twice', [log, w1, witness('w1.example', 'w1.example', AT + 1)], 'not_met'],
  ])('%s', (_, signers, quorum) => {
    expect(reasonFor(judged(signers))).toBe(quorum);
  });

  it('a policy without quorum asks for none, and tells who cosigned', () => {
    const judgement = judged([log, w1], policyOf('quorum none', w1));
    expect(judgement).toMatchObject({ quorum: 'none', witnesses: [{ name: 'a', at: AT, counts: false }] });
  });

  it('a witness that the quorum does not ask for is told, and does not count', () => {
    const policy = policyOf('group g all a b\nquorum g', w1, w2, w3);
    expect(judged([log, w1, w3], policy)).toMatchObject({
      quorum: 'not_met',
      witnesses: [
        { name: 'a', counts: true },
        { name: 'c', counts: false },
      ],
    });
  });

  it('two times of one witness are its earliest', () => {
    const later = witness('w1.example', 'w1.example', AT + 60);
    expect(judged([log, later, w1])).toMatchObject({ witnesses: [{ name: 'a', at: AT }] });
  });

  it('a cosignature at 0 counts, and is a word without a time', () => {
    const key = new MlDsa44SigningKey(sha256('w3.example'));
    const message = mlDsa44CosignedMessage('w3.example', parseCheckpoint(text), 0);
    const timeless = { ...w3, sign: () => Uint8Array.of(...new Uint8Array(8), ...key.sign(message)) };
    expect(judged([log, w1, timeless])).toMatchObject({
      quorum: 'met',
      witnesses: [{ at: AT }, { name: 'c', at: null }],
    });
    expect(judged([log, timeless, w3])).toMatchObject({ witnesses: [{ name: 'c', at: AT }] });
  });

  it('may come with log keys that the reader knows from elsewhere, and then from nowhere else', () => {
    const policy = policyOf('quorum none');
    const other = logKey(ORIGIN, 'another key');
    expect(reasonFor(judgeCheckpoint(noteOf(text, other), policy))).toBe('checkpoint_not_signed');
    expect(reasonFor(judgeCheckpoint(noteOf(text, other), policy, [other.vkey]))).toBe('none');
    expect(reasonFor(judgeCheckpoint(noteOf(text, log), policy, [other.vkey]))).toBe('checkpoint_not_signed');
    expect(reasonFor(judgeCheckpoint(noteOf(text, log), policy, []))).toBe('wrong_origin');
  });

  it('while a log changes its key, both lines count and either is enough', () => {
    const next = logKey(ORIGIN, 'next key');
    const keys = [log.vkey, next.vkey];
    const policy = policyOf('quorum none');
    expect(judgeCheckpoint(noteOf(text, log, next), policy, keys)).toMatchObject({ logs: keys });
    expect(judgeCheckpoint(noteOf(text, next), policy, keys)).toMatchObject({ logs: [next.vkey] });
    expect(reasonFor(judgeCheckpoint(noteOf(text, log, forged(next)), policy, keys))).toBe('bad_log_signature');
  });

  it('a log may sign with ML-DSA-44', () => {
    const pqLog = pqWitness(ORIGIN);
    const policy = policyOf('quorum a', w1);
    expect(reasonFor(judgeCheckpoint(noteOf(text, pqLog, w1), policy, [pqLog.vkey]))).toBe('met');
  });
});

describe('a checkpoint that is not believed', () => {
  it.each([
    ['cosigned, but not signed by its log', [w1, w2, w3], 'checkpoint_not_signed'],
    ['signed by another key with the name of the log', [logKey(ORIGIN, 'thief'), w1, w2], 'checkpoint_not_signed'],
    ['with a false line of its log', [forged(log), w1, w2], 'bad_log_signature'],
    ['with a false line of its log beside a good one', [log, forged(log), w1, w2], 'bad_log_signature'],
    ['with a false line of a witness, though enough others are good', [log, w1, w2, forged(w3)], 'bad_cosignature'],
    [
      'with a witness that signed something else',
      [log, { ...w1, sign: () => w1.sign(checkpointOf(8)) }, w2],
      'bad_cosignature',
    ],
  ])('%s', (_, signers, reason) => {
    expect(reasonFor(judged(signers))).toBe(reason);
  });

  it('of another log, even when a key of the policy signed it', () => {
    const other = checkpointOf(7, 'other.example/log');
    expect(reasonFor(judgeCheckpoint(noteOf(other, log, w1, w2), twoOfThree))).toBe('wrong_origin');
    const two = [log.vkey, logKey('other.example/log', 'other').vkey];
    expect(reasonFor(judgeCheckpoint(noteOf(other, log, w1, w2), twoOfThree, two))).toBe('checkpoint_not_signed');
  });

  it('whose cosignature was moved from another checkpoint of the log', () => {
    const moved = parseSignedNote(noteOf(checkpointOf(6), w1)).signatures;
    const note = parseSignedNote(noteOf(text, log, w2));
    const judgement = judgeCheckpoint({ ...note, signatures: [...note.signatures, ...moved] }, twoOfThree);
    expect(reasonFor(judgement)).toBe('bad_cosignature');
  });

  it('that is no note or no checkpoint', () => {
    expect(reasonFor(judgeCheckpoint(bytesOf(text), twoOfThree))).toBe('bad_checkpoint');
    expect(reasonFor(judgeCheckpoint(noteOf('text\n', log), twoOfThree))).toBe('bad_checkpoint');
    expect(
      reasonFor(
        judgeCheckpoint(bytesOf(formatNote(parseSignedNote(noteOf(text, log))).replace('\n', '\r\n')), twoOfThree),
      ),
    ).toBe('bad_checkpoint');
  });

  it('of a tree without leaves that has another root than the empty one', () => {
    const none = policyOf('quorum none');
    const wrong = encodeCheckpoint({ origin: ORIGIN, size: 0, root: new Uint8Array(32) });
    expect(reasonFor(judgeCheckpoint(noteOf(wrong, log), none))).toBe('bad_checkpoint');
    expect(reasonFor(judgeCheckpoint(noteOf(checkpointOf(0), log), none))).toBe('none');
  });

  it('one key under two names is one witness, also where no file was read', () => {
    const [one, two] = [witness('w1.example', 'key'), witness('w2.example', 'key')];
    const policy: TlogPolicy = {
      ...policyOf('quorum none'),
      witnesses: [one, two].map(({ vkey, keyName }) => ({ name: keyName, vkey, url: null })),
      groups: [{ name: 'g', threshold: 2, members: ['w1.example', 'w2.example'] }],
      quorum: 'g',
    };
    expect(judged([log, one, two], policy)).toMatchObject({ quorum: 'not_met', witnesses: [{ name: 'w1.example' }] });
  });
});
