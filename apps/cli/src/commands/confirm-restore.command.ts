import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { ChainHead } from '#libs/crypto';
import { type CommandMetadata, type EventStore, type Logger, type OrgId, RevisionConflict } from '#libs/domain/kernel';
import type { LedgerBreaks, RememberedTrees, SealedHead } from '#libs/domain/ledger';
import { parseConfig } from '#libs/infra/config';
import type { Administration } from '../administration.js';
import { collected, fileArgument, headArgument, idArgument } from '../arguments.js';
import { CliError, EXIT, usage } from '../cli-error.js';
import {
  loggerOf,
  withAdministration,
  withExamples,
  type CommandContext,
  type JsonOption,
} from '../command-context.js';
import type { Answer } from '../terminal.js';

/** Of one organization; a service that runs beside it signs at most as often. */
const MAX_CONFLICTS = 4;

interface ConfirmOptions extends JsonOption {
  readonly org?: OrgId;
  readonly head?: readonly ChainHead[];
  readonly heads?: string;
  readonly acceptFork?: boolean;
}

/** `ags confirm-restore`: what an operator decides about a database that is older than what was sealed. */
export const registerConfirmRestore = (program: Command, context: CommandContext): void => {
  withExamples(
    program
      .command('confirm-restore')
      .description(
        'Lets a deployment seal again whose database went back in time: one made by restore, or one behind DATABASE_URL ' +
          'that lost commits. Deeds that were sealed since then and that somebody holds, in a bundle or an answer, have ' +
          'numbers that would be given out a second time, for other deeds: whoever holds both sees a forked chain. The ' +
          'heads that the state directory remembers are compared, those of an old state directory with --heads, and any ' +
          'that you know of with --head. A ledger that does not hold one of them is behind what was sealed, and the ' +
          'command refuses: restore a later backup then. Where there is none, --accept-fork seals on from what is there, ' +
          'and the next checkpoints of that ledger have another origin. ' +
          'What nothing remembers cannot be compared: you declare that nothing of it was published since. Sign-in links and ' +
          'invitations of the backup become void: people ask for new ones.',
      )
      .summary('let a database that went back in time seal again')
      .option('--head <seq:hash>', 'a deed that a ledger must hold; may be repeated', collected(headArgument))
      .option('--org <id>', 'whose ledger must hold them; needed when there are several', idArgument('org'))
      .option(
        '--heads <file>',
        'the file sealed-heads of another state directory; signed-trees beside it is read, too',
        fileArgument,
      )
      .option('--accept-fork', 'numbers of lost deeds are given out again; tell everyone who holds bundles')
      .option('--json', 'one JSON object')
      .action(async ({ json, ...options }: ConfirmOptions) =>
        withAdministration(context, json === true, (administration) => confirm(context, administration, options)),
      ),
    'npm run ags -- confirm-restore --heads /var/lib/ags.old/sealed-heads',
    'npm run ags -- confirm-restore --head 1042:sha256:...',
  );
};

const confirm = async (
  { terminal }: CommandContext,
  administration: Administration,
  { org: wanted, head: named = [], heads: file, acceptFork = false }: ConfirmOptions,
): Promise<Answer> => {
  const { log, census } = administration;
  const config = parseConfig();
  const { stateDir } = config;
  const { readRestoredMark, removeRestoredMark } = await import('#libs/infra/backup');
  const { readSealedHeads, SealedHeadsFile, sealedHeadsPath } = await import('#libs/infra/ledger');
  const { isHeldBy, readTail } = await import('#libs/domain/ledger');
  const path = sealedHeadsPath(stateDir);
  const orgs = (await census.organizations()).map(({ org }) => org);
  const given = file === undefined ? [] : await headsIn(file);
  const heads = [...(await readSealedHeads(path)), ...given];
  // Also where nothing is compared: a name that is none must not look like a check.
  if (named.length > 0 || wanted !== undefined) {
    const { org } = await census.organization(wanted);
    heads.push(...named.map(({ seq, body_hash: bodyHash }) => ({ org, seq, bodyHash })));
  }
  const { breaks, remembered: trees } = await administration.ledgerBreaks(config, loggerOf(terminal));
  if (file !== undefined) await rememberTreesBeside(file, orgs, trees);
  const lost: SealedHead[] = [];
  for (const head of distinct(heads)) if (!(await isHeldBy(log, head))) lost.push(head);
  if (lost.length > 0 && !acceptFork) {
    // Or the same command without the file, which then knows of nothing, would pass.
    await remember(
      path,
      given.filter((head) => lost.includes(head) && orgs.includes(head.org)),
      loggerOf(terminal),
    );
    throw await behind(log, lost);
  }
  const forked = new Set(lost.map((head) => head.org));
  const origins: { org: OrgId; origin: string }[] = [];
  // Before anything is sealed on: from then on there may be two roots for one size.
  for (const org of orgs.filter((each) => forked.has(each))) {
    const without = lost.filter((head) => head.org === org).map(({ seq, bodyHash }) => `${seq}:${bodyHash}`);
    const reason = `Sealed on without the deed ${without[0]}`;
    origins.push({ org, origin: await acceptBreak(breaks, org, reason, administration.metadata(org)) });
  }
  const remembered = await SealedHeadsFile.open(path, loggerOf(terminal));
  // Every ledger, also one that seals no more: a database that goes back once more is noticed for it, too.
  for (const org of new Set([...orgs, ...forked])) {
    const { seq, bodyHash } = await readTail(log, org);
    const head = bodyHash === null ? null : { org, seq, bodyHash };
    if (forked.has(org)) await remembered.settle(org, head);
    else if (head !== null) await remembered.remember(head);
  }
  await remembered.close();
  await administration.voidLinks();
  const mark = await readRestoredMark(stateDir);
  await removeRestoredMark(stateDir);
  const checked = [...new Set(heads.map((head) => head.org))];
  const ledgers = { checked, unchecked: orgs.filter((org) => !checked.includes(org)) };
  return confirmed(stateDir, mark?.created_at ?? null, { ...ledgers, forked: lost, origins });
};

/** A file that was given before is remembered, and may be given again. */
const distinct = (heads: readonly SealedHead[]): readonly SealedHead[] => [
  ...new Map(heads.map((head) => [`${head.org} ${head.seq}:${head.bodyHash}`, head])).values(),
];

const remember = async (path: string, heads: readonly SealedHead[], logger: Logger): Promise<void> => {
  if (heads.length === 0) return;
  const { SealedHeadsFile } = await import('#libs/infra/ledger');
  const file = await SealedHeadsFile.open(path, logger);
  for (const head of heads) await file.remember(head);
  await file.close();
};

/** What was signed last, as the state directory remembers it that the file is of. */
const rememberTreesBeside = async (file: string, orgs: readonly OrgId[], trees: RememberedTrees): Promise<void> => {
  const { readSignedTree, signedTreesPath } = await import('#libs/infra/ledger');
  const folder = signedTreesPath(dirname(file));
  for (const org of orgs) {
    const tree = await readSignedTree(folder, org);
    if (tree !== null) await trees.remember(tree);
  }
};

const acceptBreak = async (
  breaks: LedgerBreaks,
  org: OrgId,
  reason: string,
  metadata: CommandMetadata,
): Promise<string> => {
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await breaks.accept(org, reason, metadata);
    } catch (error) {
      // A service that runs beside it may sign what it still may.
      if (!(error instanceof RevisionConflict) || conflicts === MAX_CONFLICTS) throw error;
    }
  }
};

/** @throws {CliError} usage: that is not such a file @throws what the file system says of one that is not there */
const headsIn = async (path: string): Promise<readonly SealedHead[]> => {
  // Whoever only looks reads a missing file as an empty one; this one was named.
  await stat(path);
  const { readSealedHeads } = await import('#libs/infra/ledger');
  const heads = await readSealedHeads(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return [];
    throw error;
  });
  if (heads.length > 0) return heads;
  throw usage(
    `${path} has no line ORG SEQ:HASH: give the file sealed-heads of the state directory that was in use before, or a copy of it.`,
  );
};

interface Ledgers {
  readonly checked: readonly OrgId[];
  readonly unchecked: readonly OrgId[];
  readonly forked: readonly SealedHead[];
  /** Of the next checkpoints of those ledgers. */
  readonly origins: readonly { readonly org: OrgId; readonly origin: string }[];
}

const confirmed = (stateDir: string, createdAt: string | null, ledgers: Ledgers): Answer => {
  const { checked, unchecked, forked, origins } = ledgers;
  const sentences =
    createdAt === null
      ? [`${stateDir} was not restored from a backup, or that is settled already.`]
      : [`${stateDir} goes on from the backup of ${createdAt}. \`npm start\` serves it.`];
  if (checked.length > 0) sentences.push(`Compared with heads that are known: ${checked.join(', ')}.`);
  if (unchecked.length > 0) sentences.push(`Not compared, no head of them is known: ${unchecked.join(', ')}.`);
  if (forked.length > 0) {
    sentences.push(`Sealed on without deeds that they had: ${forked.map(lostText).join(', ')}.`);
    sentences.push(
      `Their next checkpoints have an origin of their own: ${origins.map(({ origin }) => origin).join(', ')}.`,
    );
    sentences.push('Tell everyone who holds bundles of these organizations.');
  }
  const view = {
    object: 'restore_confirmation',
    state_dir: stateDir,
    created_at: createdAt,
    checked,
    unchecked,
    forked: forked.map(({ org, seq, bodyHash }) => ({ org, seq, body_hash: bodyHash })),
    origins,
  };
  return { objects: [view], text: sentences.join('\n') };
};

const lostText = ({ org, seq, bodyHash }: SealedHead): string => `${org} ${seq}:${bodyHash}`;

const behind = async (store: EventStore, lost: readonly SealedHead[]): Promise<CliError> => {
  const { LedgerReader } = await import('#libs/domain/ledger');
  const ledger = new LedgerReader(store);
  const sentences = await Promise.all(
    lost.map(
      async ({ org, seq, bodyHash }) =>
        `The ledger of ${org}, which ends at seq ${await ledger.lastSeq(org)}, does not hold the deed ${seq}:${bodyHash}.`,
    ),
  );
  return new CliError(
    'restore_behind',
    `${sentences.join(' ')} Restore a later backup; sealing on would give numbers out a second time, which --accept-fork ` +
      'does all the same.',
    EXIT.refused,
  );
};
