import { createReadStream } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import {
  BundleFormatError,
  type BundleManifest,
  type BundlePart,
  type BundleVerdict,
  type Digest,
  readBundle,
  verifyBundle,
} from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import { isReadable, notGivenSentence, reasonSentence } from '#libs/evidence';
import { collected, fileArgument, idArgument, STANDARD_INPUT } from '../arguments.js';
import { CliError, EXIT, explainFileError, usage } from '../cli-error.js';
import type { CommandContext, JsonOption } from '../command-context.js';
import { pinArgument } from '../commands/pin-argument.js';
import { verdictText } from '../commands/verdict-text.js';
import { ProgressLine } from '../terminal.js';

export interface BundleOptions extends JsonOption {
  readonly org?: OrgId;
  readonly pin?: readonly Digest[];
}

/** A path: a bundle is read twice, so it cannot come through a pipe. */
export const bundleArgument = (text: string): string => {
  if (text !== STANDARD_INPUT) return fileArgument(text);
  throw new InvalidArgumentError('The bundle is read twice. Save it to a file and name that.');
};

/** What every command on a bundle takes. */
export const withBundleOptions = (command: Command): Command =>
  command
    .option('--org <id>', 'whose chain it must be, as for verify', idArgument('org'))
    .option('--pin <fingerprint>', 'sha256:... of a seal key you trust; may be repeated', collected(pinArgument))
    .option('--json', 'one JSON object a line');

const UNTRUSTED =
  'Checked against the keys that the bundle itself names: its hashes, links and seals hold, and whose they are is its own ' +
  'word. Give --org and --pin, as for verify, to be sure of it.\n';

/** What stays open on every page, because nothing here takes it: whoever reads `bundle` must not think that it was looked at. */
export const NOT_CHECKED_HERE =
  'Not checked here: when its seal keys were active and that none was revoked (the bundle’s own word), and who signed its ' +
  'checkpoint and cosigned it. `npm run ags -- verify` checks that, with --keys, --checkpoint-key and --witnesses.';

/** @returns false: it is not intact, which has been said */
export const isVerified = async (context: CommandContext, path: string, options: BundleOptions): Promise<boolean> =>
  (await verdictOn(context, path, options)) !== null;

/**
 * Verifies a bundle before anything of it is shown. Whom its keys belong to stays open where nobody is named.
 * @returns null: it is not intact, which has been said
 */
export const verdictOn = async (
  context: CommandContext,
  path: string,
  options: BundleOptions,
): Promise<BundleVerdict | null> => {
  if ((options.org === undefined) !== (options.pin === undefined)) {
    throw usage('Give --org and --pin together: whose chain it must be, and a seal key of theirs that you trust.');
  }
  const { terminal } = context;
  const { org, pins } = await trusted(path, options);
  const progress = new ProgressLine(terminal);
  const verdict = await readable(path, () =>
    verifyBundle(path, {
      org,
      pins,
      threads: 'auto',
      onProgress: (deeds, total) =>
        progress.show(`Checked ${deeds.toLocaleString('en')} of ${total.toLocaleString('en')} deeds`),
    }),
  );
  progress.clear();
  if (!isReadable(verdict)) {
    context.exitCode = EXIT.refused;
    terminal.err(`${verdictText(verdict, undefined, Buffer.alloc(0))}\n\nNothing of it is shown.\n`);
    return null;
  }
  if (verdict.reason !== null) terminal.err(`Incomplete: ${reasonSentence(verdict.reason)} What is there is shown.\n`);
  if (options.pin === undefined) terminal.err(UNTRUSTED);
  const absent = verdict.evidence === null ? null : notGivenSentence(verdict.evidence.not_given);
  if (absent !== null) terminal.err(`Not whole: ${absent}\n`);
  return verdict;
};

const trusted = async (
  path: string,
  { org, pin }: BundleOptions,
): Promise<{ org: string; pins: readonly string[] }> => {
  if (org !== undefined && pin !== undefined) return { org, pins: pin };
  const { org: own, keys } = await manifestOf(path);
  return { org: own, pins: keys };
};

export const manifestOf = (path: string): Promise<BundleManifest> =>
  reading(path, async (parts) => {
    for await (const part of parts) if (part.part === 'manifest') return part.manifest;
    throw new BundleFormatError('truncated');
  });

/** What stands in a bundle, for whoever has verified it. */
export const reading = <Result>(
  path: string,
  work: (parts: AsyncIterable<BundlePart>) => Promise<Result>,
): Promise<Result> => readable(path, () => work(readBundle(createReadStream(path))));

/** A file that cannot be read, or that is no bundle, says nothing about a ledger. */
export const readable = async <Result>(path: string, read: () => Promise<Result>): Promise<Result> => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof BundleFormatError) {
      throw new CliError(
        'file_unusable',
        `${path} is no bundle, or not a whole one (${error.reason}): npm run ags -- verify says more.`,
      );
    }
    const said = error instanceof Error ? explainFileError(error, path) : null;
    throw said === null ? error : new CliError('file_unusable', said.message);
  }
};
