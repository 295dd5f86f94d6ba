/**
 * Policies in two languages: what tlog.py, written from tlog-policy alone, reads and refuses is what ours does, and the same
 * witnesses are enough.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { encodePolicy, parsePolicy, quorumOf, TlogPolicyError, type TlogPolicyReason } from '#libs/crypto';

import { flipped } from '../../libs/crypto/src/testing/attacked-bundle.js';
import {
  bytesOf,
  logKey,
  ORIGIN,
  pqWitness,
  reasonOf,
  vkeyText,
  witness,
} from '../../libs/crypto/src/testing/given-witnessed.js';
import { drawer, LOG, OTHER_ORIGIN, policyOf, witnessLine } from './given-tlog.js';
import { HAS_PYTHON, TlogProcess } from './tlog-process.js';

const TWO_OF_THREE = policyOf(
  `log ${LOG}`,
  witnessLine(0),
  witnessLine(1),
  witnessLine(2),
  'group g 2 W0 W1 W2',
  'quorum g',
);

describe.skipIf(!HAS_PYTHON)('policies in Python (needs python3 with cryptography)', () => {
  let python: TlogProcess;
  beforeAll(() => {
    python = new TlogProcess();
  });
  afterAll(() => python.end());

  const reason = (policy: Uint8Array): string => reasonOf(TlogPolicyError, () => parsePolicy(policy));

  const octetsOf = (policy: string | Uint8Array): Uint8Array => (typeof policy === 'string' ? bytesOf(policy) : policy);
  const witnesses = (count: number) => Array.from({ length: count }, (_, index) => `W${index}`);
  const many = witnesses(32).map((name, index) => witnessLine(index, name));
  /** Each with the reason that we give; the first ones are policies. */
  const policies: readonly (readonly [string | Uint8Array, TlogPolicyReason | 'accepted'])[] = [
    [TWO_OF_THREE, 'accepted'],
    ['quorum none\n', 'accepted'],
    [policyOf(`log ${LOG} https://log.example`, 'quorum none'), 'accepted'],
    [policyOf('', '# a comment', ' \t # another', '\t log  ' + LOG, 'quorum none '), 'accepted'],
    [policyOf('quorum none', `log ${LOG}`, witnessLine(0)), 'accepted'],
    [policyOf(witnessLine(0), 'quorum W0', witnessLine(1), 'group late any W1'), 'accepted'],
    [policyOf(witnessLine(0), witnessLine(1), 'group all all W0 W1', 'group any any all', 'quorum any'), 'accepted'],
    [policyOf(`${witnessLine(0)} https://w.example/prefix`, 'quorum W0'), 'accepted'],
    [policyOf(witnessLine(0), 'group g 1 W0', 'quorum W0'), 'accepted'],
    [policyOf(witnessLine(0, 'ключ'), 'quorum ключ'), 'accepted'],
    [Buffer.from(policyOf(witnessLine(0, 'n\u00e4me'), 'quorum n\u00e4me'), 'latin1'), 'accepted'],
    [policyOf(witnessLine(0, 'K'), witnessLine(1, '\u212a'), 'quorum \u212a'), 'accepted'],
    [policyOf(witnessLine(0, 'a+b'), 'quorum a+b'), 'accepted'],
    [policyOf(witnessLine(0, '#w'), 'quorum #w'), 'accepted'],
    [policyOf(witnessLine(0, 'None'), 'quorum None'), 'accepted'],
    [policyOf(...many, `group g 32 ${witnesses(32).join(' ')}`, 'quorum g'), 'accepted'],
    [policyOf(`log ${vkeyText(pqWitness(ORIGIN))}`, 'quorum none'), 'accepted'],
    [policyOf(`log ${LOG}`, `witness w ${vkeyText(witness('w', 'log'))}`, 'quorum w'), 'accepted'],
    ['', 'no_quorum'],
    ['quorum none', 'unterminated'],
    [policyOf(`log ${LOG}`), 'no_quorum'],
    [policyOf('quorum none', 'quorum none'), 'second_quorum'],
    [policyOf('quorum W0', witnessLine(0)), 'undefined_name'],
    [policyOf('quorum g', witnessLine(0), 'group g any W0'), 'undefined_name'],
    [policyOf('quorum'), 'words'],
    [policyOf('quorum none none'), 'words'],
    [policyOf('log', 'quorum none'), 'words'],
    [policyOf(`log ${LOG} url more`, 'quorum none'), 'words'],
    [policyOf('witness W0', 'quorum none'), 'words'],
    [policyOf(`${witnessLine(0)} url # comment`, 'quorum none'), 'words'],
    [policyOf('quorum none # comment'), 'words'],
    [policyOf('Quorum none'), 'keyword'],
    [policyOf('threshold 2', 'quorum none'), 'keyword'],
    [policyOf(`log ${LOG}`, `log ${LOG}`, 'quorum none'), 'duplicate_key'],
    [policyOf(`log ${LOG}`, `log ${vkeyText(logKey(OTHER_ORIGIN, 'log'))}`, 'quorum none'), 'duplicate_key'],
    [policyOf(witnessLine(0), witnessLine(0, 'W1'), 'group g all W0 W1', 'quorum g'), 'duplicate_key'],
    [policyOf(witnessLine(0), `witness W1 ${vkeyText(witness('x', 'w0.example'))}`, 'quorum W0'), 'duplicate_key'],
    [policyOf(witnessLine(0), witnessLine(1, 'W0'), 'quorum W0'), 'duplicate_name'],
    [policyOf(witnessLine(0), witnessLine(1), 'group W0 any W1', 'quorum W0'), 'duplicate_name'],
    [policyOf(witnessLine(0, 'none'), 'quorum none'), 'reserved_name'],
    [policyOf(witnessLine(0), 'group none any W0', 'quorum none'), 'reserved_name'],
    [policyOf('group g any none', 'quorum g'), 'reserved_name'],
    [policyOf('group g any W0', witnessLine(0), 'quorum g'), 'undefined_name'],
    [policyOf('group g any g', 'quorum g'), 'undefined_name'],
    [policyOf(witnessLine(0), 'group g any W0 W0', 'quorum g'), 'member_twice'],
    [policyOf(witnessLine(0), witnessLine(1), 'group g any W0', 'group h all W0 W1', 'quorum h'), 'member_twice'],
    [policyOf(witnessLine(0), 'group g any', 'quorum g'), 'words'],
    [policyOf(witnessLine(0), 'group g W0', 'quorum g'), 'words'],
    ...['0', '3', '-1', '+1', '01', '1.0', '1e0', 'Any', '٢'].map(
      (count) => [policyOf(witnessLine(0), witnessLine(1), `group g ${count} W0 W1`, 'quorum g'), 'threshold'] as const,
    ),
    [policyOf(`witness w ${LOG}`, 'quorum w'), 'signature_type'],
    [policyOf(`log ${LOG.slice(0, -1)}`, 'quorum none'), 'vkey'],
    [policyOf(`log ${LOG.replace('governance', 'governanze')}`, 'quorum none'), 'vkey'],
    ['quorum none\r\n', 'octet'],
    ['quorum\u000bnone\n', 'octet'],
    ['# \u007f\nquorum none\n', 'octet'],
    ['# \u0000\nquorum none\n', 'octet'],
    ['quorum\u00a0none\n', 'keyword'],
    ['\ufeffquorum none\n', 'keyword'],
  ];

  it('are read, or refused, alike', async () => {
    const octets = policies.map(([policy]) => octetsOf(policy));
    const theirs = await python.askEach('policies', { policies: octets });
    const words = policies.map(([policy, expected], index) => ({
      policy: policy.toString(),
      ours: reason(octets[index]!),
      theirs: theirs[index] === null ? 'accepted' : 'refused',
      expected,
    }));
    expect(words.filter(({ ours, expected }) => ours !== expected)).toEqual([]);
    const differing = words.filter((word) => (word.ours === 'accepted') !== (word.theirs === 'accepted'));
    expect(differing).toEqual([]);
  });

  it('with any bit turned, or cut anywhere, are read or refused alike', async () => {
    const whole = Buffer.from(`# c\n${policyOf(witnessLine(0), witnessLine(1), 'group g all W0 W1', 'quorum g')}`);
    const octets = [
      ...Array.from({ length: whole.length * 8 }, (_, bit) => flipped(whole, bit)),
      ...Array.from({ length: whole.length }, (_, end) => whole.subarray(0, end)),
    ];
    const theirs = await python.askEach('policies', { policies: octets });
    expect(
      octets.filter((policy, at) => (reason(policy) === 'accepted') !== (theirs[at] === null)).map(String),
    ).toEqual([]);
  });

  it('with a cosigning Ed25519 key for a log are refused here and read by the letter', async () => {
    // tlog-checkpoint lets a log sign with any algorithm of notes; signed-note asks to support no more than a design needs.
    const policy = bytesOf(policyOf(`log ${vkeyText(witness(ORIGIN))}`, 'quorum none'));
    expect(reason(policy)).toBe('signature_type');
    expect(await python.askEach('policies', { policies: [policy] })).toEqual([null]);
  });

  it('that ours writes again are read, and mean the same', async () => {
    const read = policies
      .filter(([, expected]) => expected === 'accepted')
      .map(([policy]) => parsePolicy(octetsOf(policy)));
    const written = read.map(encodePolicy);
    const theirs = await python.askEach('policies', { policies: written });
    expect(theirs).toEqual(written.map(() => null));
    expect(written.map(parsePolicy)).toEqual(read);
  });

  it('of groups in groups are met by the same witnesses', async () => {
    const draw = drawer('quorums');
    const cases = Array.from({ length: 300 }, () => {
      const names = witnesses(5);
      const free = [...names];
      const lines = names.map((_, index) => witnessLine(index));
      for (let group = 0; group < 3 && free.length > 0; group += 1) {
        const own = free.splice(draw(free.length), 1 + draw(3));
        const count = ['any', 'all', String(1 + draw(own.length))][draw(3)] ?? 'any';
        lines.push(`group g${group} ${count} ${own.join(' ')}`);
        free.push(`g${group}`);
        names.push(`g${group}`);
      }
      lines.push(`quorum ${[...names, 'none', 'g0', 'g0'][draw(names.length + 3)] ?? 'none'}`);
      const cosigned = witnesses(5).filter(() => draw(2) === 1);
      return { policy: bytesOf(policyOf(...lines)), cosigned };
    });
    const ours = cases.map(({ policy, cosigned }) => quorumOf(parsePolicy(policy), new Set(cosigned)) !== 'not_met');
    expect(await python.askEach('quorums', { cases })).toEqual(ours);
    const rewritten = cases.map((item) => ({ ...item, policy: encodePolicy(parsePolicy(item.policy)) }));
    expect(await python.askEach('quorums', { cases: rewritten })).toEqual(ours);
    expect(new Set(ours).size).toBe(2);
  });
});
