import type { BundleVerdict } from '#libs/crypto';
import { fact, type Page, type Part, type Section } from './page.js';
import { fileSentence } from './file-sentence.js';

/**
 * Whether what stands in the bundle may be shown: nothing in it is wrong, and all of it was judged. Deeds that the reader knows of
 * and the bundle lacks do not make those wrong that it has.
 */
export const isReadable = ({ result, reason }: BundleVerdict): boolean =>
  result === 'intact' || (result === 'incomplete' && reason !== 'truncated' && reason !== 'missing_deeds');

/**
 * A verdict on a bundle as a page to be read: what holds, whose word it rests on, and what it leaves open.
 * @param beginning what the file begins with
 */
export const pageOfVerdict = (verdict: BundleVerdict, beginning: Uint8Array): Page => {
  const unproven = unprovenBy(verdict);
  return {
    title: headline(verdict),
    subtitle: verdict.reason === null ? '' : fileSentence(verdict.reason, beginning),
    sections: [
      { heading: '', parts: chainOf(verdict) },
      ...(verdict.checkpoint === null ? [] : [witnessesOf(verdict)]),
      ...(verdict.evidence === null ? [] : [evidenceOf(verdict.evidence)]),
      ...(verdict.approvals === null ? [] : [signaturesOf(PEOPLE, verdict.approvals)]),
      ...(verdict.intents === null ? [] : [signaturesOf(AGENTS, verdict.intents)]),
      ...(unproven.length === 0 ? [] : [{ heading: 'Not proven', parts: unproven }]),
    ],
  };
};

const headline = ({ result, org, deeds, first_seq, last_seq, first_bad_seq }: BundleVerdict): string => {
  const at = first_bad_seq === null ? '' : ` at seq ${first_bad_seq}`;
  if (result !== 'intact') return `${result === 'broken' ? 'Broken' : 'Incomplete'}${at}`;
  return `Intact: ${deedsInWords(deeds)} of ${org}, seq ${first_seq ?? 0} to ${last_seq ?? 0}`;
};

const deedsInWords = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'deed' : 'deeds'}`;

const chainOf = ({ result, deeds, first_seq, last_seq, prev_hash, head, keys }: BundleVerdict): Part[] => [
  ...fact(
    'hashes and links hold',
    result === 'intact' ? null : head === null ? 'for no deed' : `for seq ${first_seq ?? 0} to ${last_seq ?? 0}`,
  ),
  ...fact('follows', prev_hash),
  ...fact('head', head === null ? null : `${head.seq}:${head.body_hash}`),
  ...keys.flatMap(({ fingerprint, pinned, deeds: under }) =>
    fact('seal key', `${fingerprint} (${pinned ? 'trusted by you' : 'not trusted by you'}, ${deedsInWords(under)})`),
  ),
  ...(deeds === 0 ? fact('deeds', 'none') : []),
];

const QUORUM = {
  met: 'as many as you ask for',
  not_met: 'fewer than you ask for',
  none: 'you ask for none',
} as const;

const witnessesOf = ({ checkpoint, witnesses, quorum, exists_since }: BundleVerdict): Section => ({
  heading: 'Who else has seen it',
  parts:
    checkpoint === null
      ? []
      : [
          ...fact('checkpoint', `${checkpoint.size.toLocaleString('en')} deeds, root ${checkpoint.root}`),
          ...fact('of the log', checkpoint.made_by),
          ...fact(
            'signed',
            checkpoint.signed ? 'by a checkpoint key that you trust' : 'not compared with a key of yours',
          ),
          ...witnesses.flatMap(({ name, at, counts }) =>
            fact('witness', `${name}, ${at ?? 'at no time that it says'}${counts ? '' : ': counts for nothing'}`),
          ),
          ...fact('witnesses', quorum === null ? null : QUORUM[quorum]),
          ...fact('exists since', exists_since),
        ],
});

/**
 * Of a bundle whose deeds stand for so many values that it neither gives nor calls removed or missing; null where there is
 * none: a verdict alone does not say that somebody took them out.
 */
export const notGivenSentence = (count: number): string | null => {
  if (count === 0) return null;
  const what =
    count === 1 ? '1 value that a deed stands for is' : `${count.toLocaleString('en')} values that deeds stand for are`;
  return (
    `${what} not given, and not called removed or missing: the service would say so of each. Somebody may have taken them out: ` +
    'ask for the whole export (?evidence=true), and why they are not there.'
  );
};

const evidenceOf = ({
  given,
  removed,
  missing,
  unproven,
  not_given,
}: NonNullable<BundleVerdict['evidence']>): Section => ({
  heading: 'What people and tools said',
  parts: [
    ...fact('given, and as sealed', given.toLocaleString('en')),
    ...fact('removed by retention', removed.toLocaleString('en')),
    ...fact('missing', missing === 0 ? null : missing.toLocaleString('en')),
    ...fact('not given', not_given === 0 ? null : not_given.toLocaleString('en')),
    ...fact('the service’s word', unproven === 0 ? null : unproven.toLocaleString('en')),
  ],
});

const PEOPLE = { heading: 'Decisions of people', signer: 'a device of theirs' } as const;
const AGENTS = { heading: 'Calls of agents', signer: 'a key of the agent' } as const;

const signaturesOf = (
  { heading, signer }: typeof PEOPLE | typeof AGENTS,
  { signed, unsigned, unchecked }: NonNullable<BundleVerdict['approvals']>,
): Section => ({
  heading,
  parts: [
    ...fact(`signed by ${signer}`, signed.toLocaleString('en')),
    ...fact('the service’s word', unsigned.toLocaleString('en')),
    ...fact(
      'not checked',
      unchecked === 0 ? null : `${unchecked.toLocaleString('en')}: what to check them with is not in this bundle`,
    ),
  ],
});

/** What an end by the word of witnesses is: of the checkpoint in the bundle, which need not be the newest that there is. */
export const endInWords = ({ checkpoint, exists_since }: BundleVerdict): string =>
  `the witnessed checkpoint in this bundle, over ${(checkpoint?.size ?? 0).toLocaleString('en')} deeds, as the witnesses saw it ` +
  (exists_since === null ? 'at no time that they say' : `at ${exists_since}`);

const unprovenBy = (verdict: BundleVerdict): Part[] => {
  const { result, keys_from, end_from, last_seq, prev_hash, evidence } = verdict;
  if (result !== 'intact') return [];
  return [
    ...fact(
      'keys',
      keys_from === 'bundle'
        ? 'When its seal keys were active, and that none was revoked, before or after the export: give the key set that the ' +
            'service publishes at /.well-known/service/keys.json.'
        : null,
    ),
    ...fact(
      'end',
      end_from === 'bundle'
        ? `That the chain ends at seq ${last_seq ?? 0} and was not cut there: give a head that you noted earlier or that another ` +
            'reader has, or a policy of witnesses that you trust.'
        : null,
    ),
    ...fact(
      'end',
      end_from === 'witnesses'
        ? `What was sealed behind seq ${last_seq ?? 0} since, or before somebody had it witnessed: the end is that of ` +
            `${endInWords(verdict)}, and no later one. A newer bundle may show a later end.`
        : null,
    ),
    ...fact(
      'beginning',
      prev_hash === null
        ? null
        : 'What stands before its first deed: this bundle is a part of the chain, and links to it.',
    ),
    ...fact('what was said', evidence === null ? null : notGivenSentence(evidence.not_given)),
  ];
};
