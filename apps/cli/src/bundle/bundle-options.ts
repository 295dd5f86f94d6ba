import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
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
import { isReadable, notGivenSentence, reasonSentence, visible } from '#libs/evidence';
import { collected, fileArgument, idArgument, STANDARD_INPUT } from '../arguments.js';
import { CliError, EXIT, type ExitCode, explainFileError, usage } from '../cli-error.js';
import type { CommandContext, JsonOption } from '../command-context.js';
import { pinArgument } from '../commands/pin-argument.js';
import { BEGINNING_BYTES } from '../commands/layout-fault.js';
import { sentenceOf, verdictLine, verdictText } from '../commands/verdict-text.js';
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
export const isVerified = async (
  context: CommandContext,
  path: string,
  options: BundleOptions,
  refusal: ExitCode = EXIT.refused,
): Promise<boolean> => (await verdictOn(context, path, options, refusal)) !== null;

/**
 * Verifies a bundle before anything of it is shown. Whom its keys belong to stays open where nobody is named.
 * @param refusal how the program ends where it is not intact
 * @returns null: it is not intact, which has been said
 * @throws {CliError} it is not intact, and a program reads what is said
 */
export const verdictOn = async (
  context: CommandContext,
  path: string,
  options: BundleOptions,
  refusal: ExitCode = EXIT.refused,
): Promise<BundleVerdict | null> => {
  if ((options.org === undefined) !== (options.pin === undefined)) {
    throw usage('Give --org and --pin together: whose chain it must be, and a seal key of theirs that you trust.');
  }
  const { terminal } = context;
  await requireFile(path);
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
    const beginning = await beginningOf(path);
    if (options.json === true) {
      const said = `${visible(path)}: ${verdictLine(verdict, beginning)} Nothing of it is shown.`;
      throw new CliError('bundle_not_intact', said, refusal);
    }
    context.exitCode = refusal;
    terminal.err(`${verdictText(verdict, undefined, beginning)}\n\nNothing of it is shown.\n`);
    return null;
  }
  if (verdict.reason !== null) terminal.err(`Incomplete: ${reasonSentence(verdict.reason)} What is there is shown.\n`);
  if (options.pin === undefined) terminal.err(UNTRUSTED);
  const absent = verdict.evidence === null ? null : notGivenSentence(verdict.evidence.not_given);
  if (absent !== null) terminal.err(`Not whole: ${absent}\n`);
  return verdict;
};

/** A pipe gives what it holds once, and a bundle is read more than once. */
export const requireFile = async (path: string): Promise<void> => {
  const found = await readable(path, () => stat(path));
  if (found.isFile() || found.isDirectory()) return;
  throw new CliError(
    'file_unusable',
    `${visible(path)} is a pipe or a device. A bundle is read twice: save it to a file and name that.`,
  );
};

const beginningOf = async (path: string): Promise<Buffer> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
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
        `${visible(path)} is no bundle, or not a whole one. ${sentenceOf(error.reason, await beginningOf(path))}`,
      );
    }
    const said = error instanceof Error ? explainFileError(error, path) : null;
    throw said === null ? error : new CliError('file_unusable', said.message);
  }
};
