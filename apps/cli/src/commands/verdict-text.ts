import type { BundleVerdict, VerdictReason } from '#libs/crypto';
import { endInWords, fileSentence, notGivenSentence, reasonSentence, visible } from '#libs/evidence';
import { facts } from '../terminal.js';
import { layoutFault } from './layout-fault.js';

/**
 * The verdict as a person reads it. `keys` is the file whose key set it was judged by, if one was given; `beginning` is
 * what the file of the bundle begins with, a block of tar or as much as there is.
 */
export const verdictText = (verdict: BundleVerdict, keys: string | undefined, beginning: Buffer): string => {
  const { result, reason, first_bad_seq: seq } = verdict;
  const lines = [headline(verdict)];
  if (result !== 'intact' && reason !== null) lines.push(sentenceOf(reason, beginning));
  if (result === 'broken' && seq !== null && verdict.links_intact) {
    lines.push('Every hash and link holds: what is in doubt is a key.');
  }
  lines.push('', facts(factsOf(verdict, keys)));
  const unproven = unprovenBy(verdict);
  if (unproven.length > 0) lines.push('', 'Not proven:', ...unproven);
  return lines.join('\n');
};

/** What an intact bundle leaves open, each with what would close it. */
const unprovenBy = (verdict: BundleVerdict): string[] => {
  const { result, keys_from, end_from, first_seq, last_seq, prev_hash, evidence } = verdict;
  const lines: string[] = [];
  if (result !== 'intact') return lines;
  if (keys_from === 'bundle') {
    lines.push(
      '- when its seal keys were active, and that none was revoked, before or after the export: give --keys with the',
      '  answer of GET /.well-known/service/keys.json',
    );
  }
  if (end_from === 'bundle') {
    lines.push(
      `- that the chain ends at seq ${last_seq ?? 0} and was not cut there: give --head with a head that you noted earlier, or that`,
      '  another reader has; or --witnesses, which also shows that nobody was shown another chain',
    );
  }
  if (end_from === 'witnesses') {
    lines.push(
      `- what was sealed behind seq ${last_seq ?? 0} since, or before somebody had it witnessed: the end is that of ${endInWords(verdict)},`,
      '  and no later one. A newer bundle, or --head, may show a later end',
    );
  }
  if (prev_hash !== null) {
    lines.push(`- what stands before seq ${first_seq ?? 0}: this bundle is a part of the chain, and links to it`);
  }
  const absent = evidence === null ? null : notGivenSentence(evidence.not_given);
  if (absent !== null) lines.push(`- ${absent}`);
  return lines;
};

const headline = ({ result, org, deeds, first_seq, last_seq, first_bad_seq }: BundleVerdict): string => {
  const at = first_bad_seq === null ? '' : ` at seq ${first_bad_seq}`;
  if (result !== 'intact') return `${result === 'broken' ? 'Broken' : 'Incomplete'}${at}.`;
  return `Intact: ${deedsInWords(deeds)} of ${org}, seq ${first_seq ?? 0} to ${last_seq ?? 0}.`;
};

const deedsInWords = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'deed' : 'deeds'}`;

const factsOf = (verdict: BundleVerdict, keys: string | undefined): [string, string][] => {
  const { head, prev_hash: previous, deeds, first_seq: first, last_seq: last } = verdict;
  const held: [string, string] = [
    'hashes and links hold',
    head === null ? 'for no deed' : `for ${deedsInWords(deeds)}, seq ${first ?? 0} to ${last ?? 0}`,
  ];
  const pairs: [string, string][] = verdict.result === 'intact' ? [] : [held];
  if (previous !== null) pairs.push(['follows', previous]);
  if (head !== null) pairs.push(['head', `${head.seq}:${head.body_hash}`]);
  for (const key of verdict.keys) {
    pairs.push([
      'seal key',
      `${key.fingerprint} (${key.pinned ? 'pinned' : 'not pinned'}, ${deedsInWords(key.deeds)})`,
    ]);
  }
  // Until a deed holds, no window and no revocation has decided anything.
  if (head === null) return pairs;
  pairs.push([
    'keys judged by',
    `the windows and revocations of ${keys === undefined ? 'the bundle itself' : `--keys ${visible(keys)}`}`,
  ]);
  return [...pairs, ...checkpointFacts(verdict), ...evidenceFacts(verdict)];
};

const QUORUM = {
  met: 'as many witnesses as you ask for',
  not_met: 'too few witnesses',
  none: 'you ask for no witness',
} as const;

const checkpointFacts = ({ checkpoint, witnesses, quorum, exists_since: since }: BundleVerdict): [string, string][] => {
  if (checkpoint === null) return [];
  const { made_by: origin, size, root, signed } = checkpoint;
  const pairs: [string, string][] = [
    [
      'checkpoint',
      `of ${deedsInWords(size)} by ${origin}, ${signed ? 'signed by a key you trust' : 'signed by no key you gave'}`,
    ],
    ['root', root],
  ];
  for (const { name, at, counts } of witnesses) {
    pairs.push(['witnessed', `by ${name}${at === null ? '' : `, ${at}`}${counts ? '' : ' (not asked for)'}`]);
  }
  if (quorum !== null) pairs.push(['quorum', QUORUM[quorum]]);
  if (since !== null) pairs.push(['exists since', since]);
  return pairs;
};

const evidenceFacts = ({ evidence, approvals, intents }: BundleVerdict): [string, string][] => {
  if (evidence === null) return [];
  const { given, removed, missing, unproven, not_given: notGiven } = evidence;
  const said = [
    `${given} given`,
    `${removed} removed by retention`,
    `${missing} missing`,
    `${notGiven} not given`,
    `${unproven} by the service’s word`,
  ];
  return [
    ['evidence', said.join(', ')],
    ...signatureFacts('decisions of people', 'a device of theirs', approvals),
    ...signatureFacts('calls of agents', 'a key of the agent', intents),
  ];
};

const signatureFacts = (label: string, signer: string, counts: BundleVerdict['intents']): [string, string][] => {
  if (counts === null) return [];
  const { signed, unsigned, unchecked } = counts;
  const said = [`${signed} signed by ${signer}`, `${unsigned} by the service’s word`];
  if (unchecked > 0) said.push(`${unchecked} not checked: what to check them with is not in this bundle`);
  return [[label, said.join(', ')]];
};

/** What stands in the place of a bundle is named where it can be told: most such files come of unpacking one. */
export const sentenceOf = (reason: VerdictReason, beginning: Buffer): string =>
  reason === 'bad_tar' ? `${layoutFault(beginning)} ${reasonSentence('bad_tar')}` : fileSentence(reason, beginning);

/** The verdict on a bundle that is not intact, in a line. */
export const verdictLine = (verdict: BundleVerdict, beginning: Buffer): string =>
  [headline(verdict), ...(verdict.reason === null ? [] : [sentenceOf(verdict.reason, beginning)])].join(' ');
