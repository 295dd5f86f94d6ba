import type { Command } from 'commander';
import { checkedReason, operatorMetadata, type OrgId, type Timestamp, timestampOf } from '#libs/domain/kernel';
import type { CheckpointKeys, NewestCheckpoint, TreeDifferences } from '#libs/domain/ledger';
import { idArgument } from '../arguments.js';
import { checkpointVkeys } from '../checkpoint-vkeys.js';
import { acceptBreak } from './accept-break.js';
import { EXIT } from '../cli-error.js';
import {
  REASON_HELP,
  withDeployment,
  withDeploymentChange,
  withExamples,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import { registerLedgerCompare } from './ledger-compare.command.js';
import { registerLedgerWitnesses } from './ledger-witnesses.command.js';
import { facts, present, table, type Answer } from '../terminal.js';
import { registerLedgerVkey } from './ledger-vkey.command.js';
import { openedLedger } from './opened-ledger.js';

/** `ags ledger`: the signed trees of ledgers. */
export const registerLedgerCommands = (program: Command, context: CommandContext): void => {
  const ledger = program
    .command('ledger')
    .description('The signed trees of ledgers: checkpoints, and the hashes that they are made of.')
    .summary('sign the root of a ledger, look again at a broken one; its key; its hashes; compare two sights');
  withExamples(
    ledger,
    'npm run ags -- ledger checkpoint',
    'npm run ags -- ledger checkpoint --accept-break "The disk was lost, the newest backup is from 09:00"',
    'npm run --silent ags -- ledger vkey',
    'npm run ags -- ledger verify-hashes',
    'npm run ags -- ledger compare deeds.tar.gz theirs.tar.gz',
    'npm run ags -- ledger witnesses get',
  );
  registerCheckpoint(ledger, context);
  registerLedgerVkey(ledger, context);
  registerHashes(ledger, context);
  registerLedgerCompare(ledger, context);
  registerLedgerWitnesses(ledger, context);
};

interface CheckpointOptions extends OrgOption, JsonOption {
  readonly acceptBreak?: string;
}

const registerCheckpoint = (ledger: Command, context: CommandContext): void => {
  withExamples(
    ledger
      .command('checkpoint')
      .description(
        'Signs the root of a ledger now. Looks again at one that did not continue what was signed: where it does now, it ' +
          'is signed for again. Where it does not, nothing is signed; with --accept-break a deed says so and why, and the ' +
          'next tree has an origin of its own. Whoever holds an older checkpoint then has the proof that the ledger was cut.',
      )
      .option('--org <id>', 'which one; needed when there are several', idArgument('org'))
      .option('--accept-break <reason>', REASON_HELP)
      .option('--json', 'one JSON object')
      .action(async ({ org: wanted, acceptBreak: given, json }: CheckpointOptions) =>
        withDeploymentChange(context, async (deployment) => {
          const { org, parts } = await openedLedger(deployment, wanted);
          const metadata = operatorMetadata(deployment, org);
          const reason = given === undefined ? null : checkedReason(given);
          const made = await (reason === null
            ? parts.maker.lookAgain(org, metadata)
            : acceptBreak(context, parts, org, reason, metadata));
          const now = timestampOf(deployment.clock.nowMs());
          present(context.terminal, json === true, signedAnswer(org, made, await parts.keys.list(), now));
        }),
      ),
    'npm run ags -- ledger checkpoint',
    'npm run ags -- ledger checkpoint --org org_... --accept-break "The disk was lost"',
  );
};

const signedAnswer = (org: OrgId, made: NewestCheckpoint | null, keys: CheckpointKeys, now: Timestamp): Answer => {
  if (made === null) return { objects: [], text: 'The ledger has no deed yet, so there is nothing to sign.' };
  const { checkpoint, note, at } = made.signed;
  const { origin, size } = checkpoint;
  const root = Buffer.from(checkpoint.root).toString('base64');
  const signing = checkpointVkeys(keys, origin, now).filter(({ status }) => status !== 'retired');
  const vkeys = signing.map(({ vkey }) => vkey);
  return {
    objects: [{ object: 'checkpoint', org, origin, size, root, note, made_at: at, is_new: made.isNew, vkeys }],
    text: facts([
      ['origin', origin],
      ['deeds', String(size)],
      ['root', root],
      ['signed at', made.isNew ? at : `${at}; nothing was sealed since`],
      ...vkeys.map((vkey): [string, string] => ['checkpoint key', vkey]),
    ]),
  };
};

const registerHashes = (ledger: Command, context: CommandContext): void => {
  withExamples(
    ledger
      .command('verify-hashes')
      .description('Says whether the stored hashes of a ledger’s tree are those that its deeds give. Changes nothing.')
      .option('--org <id>', 'which one; needed when there are several', idArgument('org'))
      .option('--json', 'one JSON object')
      .action(async ({ org: wanted, json }: OrgOption & JsonOption) =>
        withDeployment(context, async (deployment) => {
          const { org, parts } = await openedLedger(deployment, wanted);
          const found = await parts.trees.differences(org);
          if (!found.isFrontierSame || found.tiles.length > 0) context.exitCode = EXIT.refused;
          present(context.terminal, json === true, comparedAnswer(org, found));
        }),
      ),
    'npm run ags -- ledger verify-hashes',
  );
  withExamples(
    ledger
      .command('rebuild-hashes')
      .description(
        'Makes the hashes of a ledger’s tree anew from its deeds. The service may run on; it does the same by itself ' +
          'where they do not lead to what was signed.',
      )
      .option('--org <id>', 'which one; needed when there are several', idArgument('org'))
      .option('--json', 'one JSON object')
      .action(async ({ org: wanted, json }: OrgOption & JsonOption) =>
        withDeploymentChange(context, async (deployment) => {
          const { org, parts, size } = await openedLedger(deployment, wanted);
          const tree = await parts.trees.madeAnew(org, size);
          const text = `The hashes of ${tree.size} deeds were made anew.`;
          present(context.terminal, json === true, {
            objects: [{ object: 'ledger_tree', org, size: tree.size }],
            text,
          });
        }),
      ),
    'npm run ags -- ledger rebuild-hashes',
  );
};

const comparedAnswer = (org: OrgId, { size, tiles, isFrontierSame }: TreeDifferences): Answer => {
  const isSame = isFrontierSame && tiles.length === 0;
  const rows = tiles.map(({ level, index }) => ['tile', String(level), String(index)]);
  const wrong = isFrontierSame ? rows : [...rows, ['frontier', '', '']];
  return {
    objects: [
      { object: 'ledger_tree', org, size, result: isSame ? 'same' : 'different', tiles, frontier: isFrontierSame },
    ],
    text: isSame
      ? `The hashes of ${size} deeds are those that the ledger gives.`
      : `${table(['WHAT', 'LEVEL', 'INDEX'], wrong)}\n\nRun \`npm run ags -- ledger rebuild-hashes\`.`,
  };
};
