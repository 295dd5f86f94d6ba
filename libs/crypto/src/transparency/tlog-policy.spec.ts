import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { keyFrom } from '../testing/given-chain.js';
import { bytesOf, logKey, ORIGIN, pqWitness, reasonOf, vkeyText, witness } from '../testing/given-witnessed.js';
import { quorumOf } from './checkpoint-judgement.js';
import { ed25519Cosigner, ed25519NoteSigner } from './note-key.js';
import { octetsOfWord, wordOfOctets } from './policy-octets.js';
import { encodePolicy, MAX_POLICY_BYTES, MAX_POLICY_ENTRIES, parsePolicy, TlogPolicyError } from './tlog-policy.js';

const LOG = vkeyText(logKey());
const KEYS = Array.from({ length: 6 }, (_, index) => vkeyText(witness(`witness.example/w${index}`)));
const [A = '', B = '', C = ''] = KEYS;

/** The example policy of the text, with keys. */
const EXAMPLE = `log ${LOG}

witness X1 ${KEYS[0]}
witness X2 ${KEYS[1]}
witness X3 ${KEYS[2]}
group X-witnesses 2 X1 X2 X3

witness Y1 ${KEYS[3]}
witness Y2 ${KEYS[4]}
witness Y3 ${KEYS[5]}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
`;

const refusal = (text: string | Uint8Array): string => {
  try {
    parsePolicy(typeof text === 'string' ? bytesOf(text) : text);
  } catch (error) {
    if (error instanceof TlogPolicyError) return `${error.reason} ${error.line}`;
    throw error;
  }
  return 'accepted';
};

describe('the example policy of tlog-policy', () => {
  const policy = parsePolicy(bytesOf(EXAMPLE));

  it('is read', () => {
    expect(policy.logs.map(({ vkey }) => vkey.keyName)).toEqual([ORIGIN]);
    expect(policy.witnesses.map(({ name }) => name)).toEqual(['X1', 'X2', 'X3', 'Y1', 'Y2', 'Y3']);
    expect(policy.groups).toEqual([
      { name: 'X-witnesses', threshold: 2, members: ['X1', 'X2', 'X3'] },
      { name: 'Y-witnesses', threshold: 1, members: ['Y1', 'Y2', 'Y3'] },
      { name: 'X-and-Y', threshold: 2, members: ['X-witnesses', 'Y-witnesses'] },
    ]);
    expect(policy.quorum).toBe('X-and-Y');
  });

  it.each([
    [['X1', 'X2', 'Y1'], 'met'],
    [['X2', 'X3', 'Y3'], 'met'],
    [['X1', 'X2', 'X3', 'Y1', 'Y2', 'Y3'], 'met'],
    [['X1', 'Y1', 'Y2', 'Y3'], 'not_met'],
    [['X1', 'X2', 'X3'], 'not_met'],
    [[], 'not_met'],
  ])('%j is %s', (cosigned, quorum) => {
    expect(quorumOf(policy, new Set(cosigned))).toBe(quorum);
  });

  it('is what the words say, for every subset of witnesses', () => {
    const names = policy.witnesses.map(({ name }) => name);
    for (let bits = 0; bits < 64; bits += 1) {
      const cosigned = new Set(names.filter((_, index) => (bits >> index) % 2 === 1));
      const count = (letter: string): number => [...cosigned].filter((name) => name.startsWith(letter)).length;
      const expected = count('X') >= 2 && count('Y') >= 1;
      expect(quorumOf(policy, cosigned)).toBe(expected ? 'met' : 'not_met');
    }
  });

  it('is written and read back', () => {
    expect(parsePolicy(encodePolicy(policy))).toEqual(policy);
  });
});

describe('the syntax of a policy', () => {
  it('white space, comments and empty lines', () => {
    const text = ` # comment\n#quorum x\n\t\n\n \tlog\t ${LOG} \t https://log.example/ \n\twitness a ${A}\nquorum\ta \n`;
    const policy = parsePolicy(bytesOf(text));
    expect(policy.logs[0]?.url).toBe('https://log.example/');
    expect(policy.witnesses[0]).toMatchObject({ name: 'a', url: null });
    expect(policy.quorum).toBe('a');
  });

  it('without logs and witnesses: quorum none', () => {
    const policy = parsePolicy(bytesOf('quorum none\n'));
    expect(policy).toEqual({ logs: [], witnesses: [], groups: [], quorum: 'none' });
    expect(quorumOf(policy, new Set())).toBe('none');
  });

  it('definitions may stand behind the quorum', () => {
    expect(refusal(`witness a ${A}\nquorum a\nlog ${LOG}\nwitness b ${B}\n`)).toBe('accepted');
  });

  it('words of the syntax may be names', () => {
    expect(refusal(`witness all ${A}\nwitness 2 ${B}\ngroup any any all 2\nquorum any\n`)).toBe('accepted');
  });

  const THREE = `witness a ${A}\nwitness b ${B}\nwitness c ${C}\n`;
  const cosigner = (name: string, seed: string): string => vkeyText(ed25519Cosigner(name, keyFrom(seed), 1));

  it.each([
    ['nothing', '', 'no_quorum 0'],
    ['no quorum', THREE, 'no_quorum 0'],
    ['two quorums', 'quorum none\nquorum none\n', 'second_quorum 2'],
    ['no newline at the end', 'quorum none', 'unterminated 0'],
    ['a policy cut in its last name', EXAMPLE.slice(0, -5), 'unterminated 0'],
    ['carriage returns', 'quorum none\r\n', 'octet 0'],
    ['NUL', 'quorum none\0\n', 'octet 0'],
    ['U+007F', '# \u007f\nquorum none\n', 'octet 0'],
    ['another keyword', 'policy x\nquorum none\n', 'keyword 1'],
    ['a keyword in upper case', 'Quorum none\n', 'keyword 1'],
    ['a byte order mark', '\ufeffquorum none\n', 'keyword 1'],
    ['a space that is not ASCII', `log\u00a0${LOG}\nquorum none\n`, 'keyword 1'],
    ['a log without key', 'log\nquorum none\n', 'words 1'],
    ['a log with three words', `log ${LOG} url more\nquorum none\n`, 'words 1'],
    ['a comment behind a line', `log ${LOG} url # comment\nquorum none\n`, 'words 1'],
    ['a witness without key', 'witness a\nquorum none\n', 'words 1'],
    ['a witness with four words', `witness a ${A} url more\nquorum a\n`, 'words 1'],
    ['a quorum of two names', `${THREE}quorum a b\n`, 'words 4'],
    ['a quorum of none', 'quorum\n', 'words 1'],
    ['a group without members', `${THREE}group g any\nquorum g\n`, 'words 4'],
    ['a key that is none', 'log example.com+00000000+AAAA\nquorum none\n', 'vkey 1'],
    ['a log with a cosignature key of Ed25519', `log ${A}\nquorum none\n`, 'signature_type 1'],
    ['a witness with a note key', `witness a ${LOG}\nquorum a\n`, 'signature_type 1'],
    ['one log twice', `log ${LOG}\nlog ${LOG}\nquorum none\n`, 'duplicate_key 2'],
    [
      'one log key under two names',
      `log ${LOG}\nlog ${vkeyText(logKey('other.example'))}\nquorum none\n`,
      'duplicate_key 2',
    ],
    [
      'one witness key under two names',
      `witness a ${cosigner('w1', 'k')}\nwitness b ${cosigner('w2', 'k')}\nquorum a\n`,
      'duplicate_key 2',
    ],
    ['one name for two witnesses', `witness a ${A}\nwitness a ${B}\nquorum a\n`, 'duplicate_name 2'],
    ['one name for a witness and a group', `${THREE}group a any b c\nquorum a\n`, 'duplicate_name 4'],
    ['a witness called none', `witness none ${A}\nquorum none\n`, 'reserved_name 1'],
    ['a group called none', `${THREE}group none any a\nquorum none\n`, 'reserved_name 4'],
    ['none as a member', `${THREE}group g any a none\nquorum g\n`, 'reserved_name 4'],
    ['an unknown member', `${THREE}group g any a d\nquorum g\n`, 'undefined_name 4'],
    ['a member defined later', `group g any a\n${THREE}quorum g\n`, 'undefined_name 1'],
    ['a group of itself', `${THREE}group g any a g\nquorum g\n`, 'undefined_name 4'],
    ['an unknown quorum', `${THREE}quorum d\n`, 'undefined_name 4'],
    ['a quorum defined later', `quorum a\n${THREE}`, 'undefined_name 1'],
    ['a member twice', `${THREE}group g 2 a a b\nquorum g\n`, 'member_twice 4'],
    ['a member of two groups', `${THREE}group g any a b\ngroup h any a c\nquorum h\n`, 'member_twice 5'],
    ['a threshold of 0', `${THREE}group g 0 a b\nquorum g\n`, 'threshold 4'],
    ['a threshold above the members', `${THREE}group g 3 a b\nquorum g\n`, 'threshold 4'],
    ['a threshold with a leading zero', `${THREE}group g 02 a b\nquorum g\n`, 'threshold 4'],
    ['a threshold with a sign', `${THREE}group g +2 a b\nquorum g\n`, 'threshold 4'],
    ['a threshold in hex', `${THREE}group g 0x2 a b\nquorum g\n`, 'threshold 4'],
    ['a threshold in words', `${THREE}group g ALL a b\nquorum g\n`, 'threshold 4'],
  ])('%s: refused', (_, text, reason) => {
    expect(refusal(text)).toBe(reason);
  });

  it('names are octets: a K is no Kelvin sign, and what is no UTF-8 is a name, too', () => {
    expect(refusal(`witness K ${A}\nwitness \u212a ${B}\ngroup g all K \u212a\nquorum g\n`)).toBe('accepted');
    const raw = (octet: number): Uint8Array =>
      Uint8Array.from(
        [...bytesOf('witness ~ '), ...bytesOf(`${A}\nquorum ~\n`)].map((one) => (one === 0x7e ? octet : one)),
      );
    const policy = parsePolicy(raw(0xff));
    expect(policy.quorum).toBe('\udcff');
    expect(encodePolicy(policy)).toEqual(Uint8Array.from(raw(0xff)));
    expect(parsePolicy(raw(0xfe)).quorum).not.toBe(policy.quorum);
  });

  it('64 logs, 64 witnesses and 64 groups are read, and no more, and no larger file', () => {
    const lines = (count: number): string => {
      const numbers = Array.from({ length: count }, (_, index) => index);
      const logs = numbers.map((n) => `log ${vkeyText(ed25519NoteSigner(`l${n}`, keyFrom(`l${n}`)))}\n`);
      const witnesses = numbers.map((n) => `witness w${n} ${cosigner(`w${n}`, `w${n}`)}\n`);
      const groups = numbers.map((n) => `group g${n} any w${n}\n`);
      return [...logs, ...witnesses, ...groups, 'quorum g0\n'].join('');
    };
    expect(refusal(lines(MAX_POLICY_ENTRIES))).toBe('accepted');
    expect(refusal(lines(MAX_POLICY_ENTRIES + 1))).toBe(`too_many ${MAX_POLICY_ENTRIES + 1}`);
    expect(refusal(new Uint8Array(MAX_POLICY_BYTES + 1).fill(0x0a))).toBe('too_large 0');
    const nested = Array.from(
      { length: MAX_POLICY_ENTRIES + 1 },
      (_, n) => `group g${n} any ${n === 0 ? 'a' : `g${n - 1}`}\n`,
    );
    expect(refusal(`witness a ${A}\n${nested.join('')}quorum a\n`)).toBe(`too_many ${MAX_POLICY_ENTRIES + 2}`);
    const deepest = `quorum g${MAX_POLICY_ENTRIES - 1}\n`;
    const policy = parsePolicy(bytesOf(`witness a ${A}\n${nested.slice(0, -1).join('')}${deepest}`));
    expect(quorumOf(policy, new Set(['a']))).toBe('met');
    expect(quorumOf(policy, new Set())).toBe('not_met');
  });
});

describe('writing a policy', () => {
  const policy = parsePolicy(
    bytesOf(`log ${LOG} https://log.example\nwitness a ${A}\nwitness b ${B}\ngroup g any a b\nquorum g\n`),
  );
  const writing = (change: object): string => reasonOf(TlogPolicyError, () => encodePolicy({ ...policy, ...change }));

  it('has one form', () => {
    expect(new TextDecoder().decode(encodePolicy(policy))).toBe(
      `log ${LOG} https://log.example\nwitness a ${A}\nwitness b ${B}\ngroup g any a b\nquorum g\n`,
    );
  });

  it('knows the key of every type', () => {
    const pq = pqWitness('witness.example/pq').vkey;
    const given = {
      logs: [{ vkey: pq, url: null }],
      witnesses: [{ name: 'pq', vkey: pq, url: null }],
      groups: [],
      quorum: 'pq',
    };
    expect(parsePolicy(encodePolicy(given))).toEqual(given);
  });

  it('what breaks a rule is not written', () => {
    expect(writing({ quorum: 'h' })).toBe('undefined_name');
    expect(writing({ quorum: 'a\nquorum b' })).toBe('words');
    expect(writing({ quorum: 'a b' })).toBe('words');
    expect(writing({ quorum: '' })).toBe('words');
    expect(writing({ quorum: '\ud800' })).toBe('words');
    expect(writing({ groups: [{ name: 'g', threshold: 3, members: ['a', 'b'] }] })).toBe('threshold');
    expect(writing({ witnesses: [policy.witnesses[0]!, { ...policy.witnesses[0]!, name: 'b' }] })).toBe(
      'duplicate_key',
    );
  });

  it('words are octets, one to one (property)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), fc.uint8Array({ maxLength: 12 }), (one, other) => {
        const word = wordOfOctets(one);
        expect(Uint8Array.from(octetsOfWord(word) ?? [])).toEqual(one);
        expect(word === wordOfOctets(other)).toBe(Buffer.compare(one, other) === 0);
      }),
    );
  });
});
