/** What somebody finds who has a bundle without evidence, knows the shape of the arguments, and tries ten million of them. */
import { expect, it } from 'vitest';
import {
  canonicalize,
  commitUnder,
  DEED_VERSION,
  type DeedBody,
  digestOf,
  digestOfJson,
  FIRST_DEED_VERSION,
  newSalt,
  readBundle,
} from '#libs/crypto';
import { bundleOf, contentOf, givenChain, streamOf } from '../../libs/crypto/src/testing/given-chain.js';

const GUESSES = 10_000_000;
/** Near the end, so that a guesser who stops early finds it in neither format. */
const ARGS = { amount: 9_999_321, order: 'ord_7' };
const TEN_MINUTES_MS = 600_000;

/** Calls with these arguments, in both formats: three deeds in the newest one, then one in the first. */
const chain = givenChain(4, {
  changeAt: (seq) => {
    const body = JSON.parse(Buffer.from(givenChain(seq).at(-1)?.body ?? []).toString()) as DeedBody;
    if (body.action === null) return {};
    const isSalted = body.v === DEED_VERSION;
    const args_digest = isSalted ? commitUnder(newSalt(), 'args', canonicalize(ARGS)) : digestOfJson(ARGS);
    return { action: { ...body.action, args_digest } };
  },
});

it(
  'a guess is found out to be right in a deed of the first format alone',
  async () => {
    const heldBy = new Map<string, string>();
    for await (const part of readBundle(streamOf([await bundleOf(contentOf(chain))]))) {
      if (part.part !== 'deed') continue;
      const text = Buffer.from(part.deed.body).toString();
      const { v } = JSON.parse(text) as DeedBody;
      for (const digest of text.match(/sha256:[0-9a-f]{64}/g) ?? []) heldBy.set(digest, v);
    }
    const found: (string | undefined)[] = [];
    for (let amount = 0; amount < GUESSES; amount += 1) {
      const digest = digestOf(`{"amount":${amount},"order":"ord_7"}`);
      if (heldBy.has(digest)) found.push(heldBy.get(digest));
    }
    expect(new Set(heldBy.values())).toEqual(new Set([DEED_VERSION, FIRST_DEED_VERSION]));
    expect(found).toEqual([FIRST_DEED_VERSION]);
  },
  TEN_MINUTES_MS,
);
