import type { Command } from 'commander';
import { compareLedgers, type LedgerComparison } from '#libs/crypto';
import { visible } from '#libs/evidence';
import { fileArgument } from '../arguments.js';
import { type BundleOptions, isVerified, withBundleOptions } from '../bundle/bundle-options.js';
import { isBundle, type ShownLedger, sightOfBundle, sightOfNote } from '../bundle/ledger-sight.js';
import { CliError, EXIT, usage } from '../cli-error.js';
import { type CommandContext, withExamples } from '../command-context.js';
import { present } from '../terminal.js';

/** `ags ledger compare`: whether two readers were shown one ledger. Needs no deployment. */
export const registerLedgerCompare = (ledger: Command, context: CommandContext): void => {
  withExamples(
    withBundleOptions(
      ledger
        .command('compare')
        .description(
          'Compares two bundles or checkpoints of one organization: whether they are of one chain, or of two that somebody ' +
            'showed to two readers. Compares what both files hold, and no more. Needs no server, no database and no state ' +
            'directory. Bundles are verified first, by their own key sets; the signatures of checkpoints are not checked: verify does ' +
            'that, with --checkpoint-key and --keys. Ends with 1 for a fork, and with 2 where nothing could be compared: a bundle ' +
            'that is broken or cut, or files without a deed or a size in common.',
        )
        .summary('whether two readers were shown one ledger')
        .argument('<one>', 'a bundle or a checkpoint', fileArgument)
        .argument('<other>', 'another', fileArgument),
    ).action((one: string, other: string, options: BundleOptions) => compare(context, [one, other], options)),
    'npm run ags -- ledger compare november.tar.gz december.tar.gz',
    'npm run ags -- ledger compare deeds.tar.gz checkpoint.txt',
  );
};

const compare = async (context: CommandContext, files: readonly string[], options: BundleOptions): Promise<void> => {
  const shown: ShownLedger[] = [];
  for (const file of files) {
    const isOfDeeds = await isBundle(file);
    // Not 1, which is a fork: a download that was cut says nothing of a ledger.
    if (isOfDeeds && !(await isVerified(context, file, options, EXIT.unusable))) return;
    shown.push(await (isOfDeeds ? sightOfBundle(file) : sightOfNote(file)));
  }
  const [one, other] = shown as [ShownLedger, ShownLedger];
  if (one.sight.org !== other.sight.org) {
    throw usage(
      `${visible(one.file)} is of ${one.sight.org} and ${visible(other.file)} of ${other.sight.org}: two ledgers, not two sights of one.`,
    );
  }
  const found = compareLedgers(one.sight, other.sight);
  if (found.result === 'unknown') throw incomparable(one, other);
  if (found.result === 'fork') context.exitCode = EXIT.refused;
  present(context.terminal, options.json === true, {
    objects: [objectOf(found, one, other)],
    text: `${textOf(found, one, other)}\n\n${NOT_CHECKED}`,
  });
};

const incomparable = (one: ShownLedger, other: ShownLedger): CliError =>
  new CliError(
    'file_unusable',
    `${visible(one.file)} and ${visible(other.file)} have no deed and no size in common. Export a bundle that reaches from one to the other.`,
  );

/** Two files that agree say nothing of who made them. */
const NOT_CHECKED =
  'Not checked here: who signed the checkpoints, and the seal keys by a key set other than the bundles’ own. ' +
  '`npm run ags -- verify` checks that of each bundle, with --checkpoint-key and --keys.';

const objectOf = (found: LedgerComparison, one: ShownLedger, other: ShownLedger): object => ({
  object: 'ledger_comparison',
  org: one.sight.org,
  result: found.result,
  compared_to: found.result === 'agrees' ? found.to : null,
  further: found.result === 'continues' ? (found.further === 'one' ? one.file : other.file) : null,
  fork_at: found.result === 'fork' ? found.at : null,
  fork_is_first: found.result === 'fork' ? found.isFirst : null,
  notes: [one.note, other.note],
  checkpoint_signatures: 'not_checked',
});

const textOf = (found: LedgerComparison, one: ShownLedger, other: ShownLedger): string => {
  switch (found.result) {
    case 'same':
      return `One chain of ${one.sight.org}, up to the same deed.`;
    case 'continues': {
      const [further, nearer] = found.further === 'one' ? [one, other] : [other, one];
      return `One chain of ${one.sight.org}: ${visible(further.file)} goes on where ${visible(nearer.file)} ends.`;
    }
    case 'agrees':
      return (
        `One chain of ${one.sight.org} up to seq ${found.to}. Behind that nothing could be compared: give bundles that ` +
        'overlap, or a checkpoint of a size that a bundle holds.'
      );
    case 'fork': {
      const where = found.isFirst ? `at seq ${found.at}` : `at seq ${found.at} or before it`;
      return [
        `FORK ${where}: these are two chains of ${one.sight.org}. Somebody wrote the ledger anew, went on from an older backup`,
        '(look for a deed ledger.broken), or made up one of these files: signatures of checkpoints were not checked here.',
        'Keep both files: together they are the proof.',
        ...[one, other].flatMap(({ file, note }) =>
          note === null ? [] : ['', `The checkpoint of ${visible(file)}:`, note.trimEnd()],
        ),
      ].join('\n');
    }
    case 'unknown':
      return '';
  }
};
