import { describe, expect, it } from 'vitest';
import {
  ed25519Cosigner,
  ed25519NoteSigner,
  encodeCheckpoint,
  encodeTlogProof,
  encodeVkey,
  formatNote,
  hashesInMemory,
  inclusionProof,
  leafHash,
  type NoteSigner,
  parseSignedNote,
  rootOf,
  sha256,
  SigningKey,
  signNote,
} from '#libs/crypto';
import { checkProof, type GivenProof, vkeyText } from './verifier.ts';

const ORG = 'org_01h2xcejqtf2nbrexx3vqjhp40';
const ORIGIN = `governance.example/ledger/${ORG}`;
const AT = Date.parse('2026-10-01T12:00:00Z') / 1_000;

const [log, stranger] = [SigningKey.generate(), SigningKey.generate()];
const anna = ed25519Cosigner('anna.example', SigningKey.generate(), AT);
const ben = ed25519Cosigner('ben.example', SigningKey.generate(), AT + 60);

const deeds = [1, 2, 3, 4, 5].map((seq) => new TextEncoder().encode(`deed ${seq}`));
const leaves = deeds.map((bytes) => leafHash(sha256(bytes)));

const witnessesNamed = (quorum: string): string =>
  `witness anna ${encodeVkey(anna.vkey)}\nwitness ben ${encodeVkey(ben.vkey)}\ngroup both 2 anna ben\nquorum ${quorum}\n`;

interface Made {
  readonly origin?: string;
  readonly signers?: readonly NoteSigner[];
}

const proofOf = async (index: number, { origin = ORIGIN, signers = [] }: Made = {}): Promise<string> => {
  const text = encodeCheckpoint({ origin, size: leaves.length, root: rootOf(leaves) });
  const note = signNote(text, [ed25519NoteSigner(origin, log), ...signers]);
  const proof = await inclusionProof(hashesInMemory(leaves), index, leaves.length);
  return encodeTlogProof({
    extra: null,
    index,
    proof,
    note: parseSignedNote(new TextEncoder().encode(formatNote(note))),
  });
};

const publicKeyOf = (key: SigningKey): string => key.publicKey.text;

const given = async (changes: Partial<GivenProof> & Made = {}): Promise<GivenProof> => ({
  org: ORG,
  seq: 3,
  bytes: deeds[2] as Uint8Array,
  proof: await proofOf(2, changes),
  keys: [publicKeyOf(log)],
  policy: 'quorum none\n',
  ...changes,
});

const judged = async (changes: Partial<GivenProof> & Made = {}) =>
  checkProof(await given(changes)).map(({ name, holds, says }) => `${name} ${String(holds)}: ${says}`);

describe('the place of a deed', () => {
  it('is under a checkpoint that a published key signed', async () => {
    expect((await judged())[0]).toBe(
      'In a checkpoint true: 3 hashes lead from this deed to the signed root of 5 deeds',
    );
  });

  it('is checked under the origin that follows an accepted break, too', async () => {
    expect((await judged({ origin: `${ORIGIN}/2` }))[0]).toMatch(/^In a checkpoint true/);
  });

  it.each<[string, Partial<GivenProof> & Made, string]>([
    ['of other bytes', { bytes: deeds[3] as Uint8Array }, 'The proof does not lead'],
    ['of another place in the list', { seq: 4 }, 'The proof does not lead'],
    ['of another organization', { org: 'org_other' }, 'The checkpoint is of another ledger'],
    ['of an origin below it', { origin: `${ORIGIN}/x` }, 'The checkpoint is of another ledger'],
    ['under a key that is not published', { keys: [publicKeyOf(stranger)] }, 'No published checkpoint key signed it'],
    ['that is no proof', { proof: '<html>' }, 'The proof cannot be read'],
  ])('does not hold with a proof %s', async (_title, changes, says) => {
    const [first = '', ...others] = await judged(changes);
    expect(first).toMatch(new RegExp(`^In a checkpoint false: ${says}`));
    expect(others.filter((line) => line.startsWith('In a checkpoint'))).toEqual([]);
  });

  it('does not hold where a cosignature was altered', async () => {
    const whole = await proofOf(2, { signers: [anna] });
    const altered = whole.replace(
      /(— anna\.example \S{30})(\S)/,
      (_, before: string, one: string) => `${before}${one === 'A' ? 'B' : 'A'}`,
    );
    expect(await judged({ proof: altered, policy: witnessesNamed('anna') })).toEqual([
      'In a checkpoint false: A cosignature on the checkpoint does not verify, so it may have been altered',
    ]);
  });
});

describe('who has witnessed a deed', () => {
  it('is said by name and time where they are enough', async () => {
    const [, second] = await judged({ signers: [anna, ben], policy: witnessesNamed('both') });
    expect(second).toBe(
      'Witnessed true: Cosigned by anna, 2026-10-01 12:00:00 UTC; ben, 2026-10-01 12:01:00 UTC, by their own clocks',
    );
  });

  it('is open where too few have, or nobody is asked', async () => {
    expect((await judged({ signers: [anna], policy: witnessesNamed('both') }))[1]).toBe(
      'Witnessed null: Cosigned by anna, 2026-10-01 12:00:00 UTC. Your policy asks for more',
    );
    expect((await judged({ policy: witnessesNamed('both') }))[1]).toBe(
      'Witnessed null: No witness of your policy has cosigned it. Your policy asks for more',
    );
    expect((await judged({ signers: [anna] }))[1]).toMatch(/^Witnessed null: Your organization asks no witness/);
  });
});

// As `npm run ags -- ledger vkey` prints them.
it.each([
  ['ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', '4f603baa+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea'],
  ['ed25519:A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg', '9d99d7b2+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4'],
])('the verifier key of a tree is the line that the command line prints: %s', (publicKey, line) => {
  expect(vkeyText(ORIGIN, publicKey)).toBe(`${ORIGIN}+${line}`);
});
