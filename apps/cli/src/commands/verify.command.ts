import { InvalidArgumentError, type Command } from 'commander';
import {
  isDigest,
  verifyBundle,
  type BundleVerdict,
  type ChainHead,
  type Digest,
  type VerdictReason,
} from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import { collected, idArgument } from '../arguments.js';
import { CliError, EXIT, explainFileError } from '../cli-error.js';
import { withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { facts, present, ProgressLine } from '../terminal.js';

interface VerifyOptions extends JsonOption {
  readonly org: OrgId;
  readonly pin: readonly Digest[];
  readonly head?: readonly ChainHead[];
}

const STANDARD_INPUT = '-';

/** `ags verify`: needs no server, no database and no state directory. */
export const registerVerifyCommand = (program: Command, context: CommandContext): void => {
  withExamples(
    program
      .command('verify')
      .description(
        'Checks an export bundle offline: every seal, every link, every key. It trusts nothing that the bundle says of ' +
          'itself: you name the organization, and the fingerprints of the seal keys you trust, from `ags init`, ' +
          '`ags seal-keys list` or a copy of your own. Ends with 0 only when the whole bundle is intact.',
      )
      .summary('check an export bundle offline')
      .argument('<bundle>', `path of the bundle, or ${STANDARD_INPUT} for standard input`)
      .requiredOption('--org <id>', 'whose chain it must be', idArgument('org'))
      .requiredOption(
        '--pin <fingerprint>',
        'sha256:... of a seal key you trust; may be repeated',
        collected(pinArgument),
      )
      .option(
        '--head <seq:hash>',
        'a deed the chain must hold, noted elsewhere; may be repeated',
        collected(headArgument),
      )
      .option('--json', 'the verdict as one JSON object')
      .action(async (bundle: string, options: VerifyOptions) => verify(context, bundle, options)),
    'ags verify deeds.tar.gz --org org_... --pin sha256:...',
    'curl -s .../v1/deeds/export -H "Authorization: Bearer $KEY" | ags verify - --org org_... --pin sha256:...',
  );
};

const pinArgument = (text: string): Digest => {
  if (isDigest(text)) return text;
  throw new InvalidArgumentError('A fingerprint is sha256: and 64 lowercase hex characters.');
};

const HEAD = /^([1-9]\d{0,15}):(.+)$/;

const headArgument = (text: string): ChainHead => {
  const [, seq, hash] = HEAD.exec(text) ?? [];
  if (seq !== undefined && isDigest(hash)) return { seq: Number(seq), body_hash: hash };
  throw new InvalidArgumentError('A head is the seq of a deed, a colon, and its body_hash: 42:sha256:...');
};

const verify = async (
  context: CommandContext,
  bundle: string,
  { org, pin, head = [], json }: VerifyOptions,
): Promise<void> => {
  const { terminal } = context;
  const progress = new ProgressLine(terminal);
  const verdict = await readable(bundle, () =>
    verifyBundle(bundle === STANDARD_INPUT ? (process.stdin as AsyncIterable<Uint8Array>) : bundle, {
      org,
      pins: pin,
      heads: head,
      onProgress: (deeds, total) =>
        progress.show(`Checked ${deeds.toLocaleString('en')} of ${total.toLocaleString('en')} deeds`),
    }),
  );
  progress.clear();
  present(terminal, json === true, { objects: [verdict], text: verdictText(verdict) });
  if (verdict.result !== 'intact') context.exitCode = EXIT.refused;
};

/** The file cannot be read: that says nothing about a bundle. */
const readable = async (bundle: string, check: () => Promise<BundleVerdict>): Promise<BundleVerdict> => {
  try {
    return await check();
  } catch (error) {
    const said = error instanceof Error ? explainFileError(error, bundle) : null;
    throw said === null ? error : new CliError('file_unusable', said.message);
  }
};

/** The verdict as a person reads it. */
const verdictText = (verdict: BundleVerdict): string => {
  const { result, reason, first_bad_seq: seq } = verdict;
  const lines = [headline(verdict)];
  if (result !== 'intact' && reason !== null) lines.push(REASONS[reason]);
  if (result === 'broken' && seq !== null && verdict.links_intact) {
    lines.push('Every hash and link holds: what is in doubt is a key.');
  }
  lines.push('', facts(factsOf(verdict)));
  return lines.join('\n');
};

const headline = ({ result, org, deeds, first_seq, last_seq, first_bad_seq }: BundleVerdict): string => {
  const at = first_bad_seq === null ? '' : ` at seq ${first_bad_seq}`;
  if (result !== 'intact') return `${result === 'broken' ? 'Broken' : 'Incomplete'}${at}.`;
  return `Intact: ${deeds.toLocaleString('en')} ${deeds === 1 ? 'deed' : 'deeds'} of ${org}, seq ${first_seq ?? 0} to ${last_seq ?? 0}.`;
};

const factsOf = (verdict: BundleVerdict): [string, string][] => {
  const { head, prev_hash: previous, deeds, first_seq: first, last_seq: last } = verdict;
  const held: [string, string] = [
    'hashes and links hold',
    head === null ? 'for no deed' : `for ${deeds} deeds, seq ${first ?? 0} to ${last ?? 0}`,
  ];
  const pairs: [string, string][] = verdict.result === 'intact' ? [] : [held];
  if (previous !== null) pairs.push(['follows', previous]);
  if (head !== null) pairs.push(['head', `${head.seq}:${head.body_hash}`]);
  for (const key of verdict.keys) {
    pairs.push(['seal key', `${key.fingerprint} (${key.pinned ? 'pinned' : 'not pinned'}, ${key.deeds} deeds)`]);
  }
  return pairs;
};

/** Closed: a reason without a sentence does not compile. */
const REASONS: Record<VerdictReason, string> = {
  truncated: 'The file ends early. Fetch the bundle again.',
  bad_gzip: 'The file is not one whole gzip member, so it cannot be read as a bundle.',
  bad_tar: 'The archive inside is not laid out as a bundle.',
  bad_manifest: 'manifest.json is not what a bundle holds.',
  bad_keys: 'keys.json is not what a bundle holds, or does not match the manifest.',
  bad_line: 'The line of this deed is not of the form that deeds have.',
  wrong_org: 'It belongs to another organization than the one you named.',
  gap: 'A deed is missing here.',
  duplicate: 'A deed stands here that was there before.',
  extra_deed: 'There are more deeds than the manifest says.',
  body_hash_mismatch: 'The deed was changed: its bytes do not have the hash that it carries.',
  not_canonical: 'The body of the deed is not in canonical form.',
  schema: 'The body of the deed is not of the shape that deeds have.',
  wrong_seq: 'The seq inside the deed is not the one of its place.',
  wrong_kid: 'The deed names another seal key inside than outside.',
  unknown_key: 'The deed is sealed by a key that the bundle does not list.',
  key_not_pinned: 'The deed is sealed by a key that you did not pin.',
  bad_signature: 'The seal does not hold: the signature is not of this deed by this key.',
  seal_key_revoked: 'The deed is sealed by a key that was revoked.',
  outside_key_window: 'The deed was issued when its seal key was not active.',
  broken_link: 'The deed does not link to the one before it.',
  time_went_back: 'The deed says it was issued before the one before it.',
  outside_range: 'The deed was issued outside of the range that the bundle is of.',
  head_mismatch: 'The chain does not hold the deed that was noted elsewhere, or that the manifest names.',
  missing_deeds: 'The bundle promises more deeds than it holds.',
  front_missing: 'The first deeds of the chain are missing.',
  tail_missing: 'The chain goes on after the last deed in the bundle.',
  no_deeds: 'The bundle holds no deeds.',
};
