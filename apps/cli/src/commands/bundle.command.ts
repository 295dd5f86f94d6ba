import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { type BundlePart, type DeedBody, parseDeedBody } from '#libs/crypto';
import {
  BundleView,
  type DeedFilter,
  type DeedRow,
  isCalled,
  isMeant,
  namedText,
  notGivenSentence,
  rowOf,
  textOfPage,
  UNPROVEN_NAMES,
  visible,
  whoText,
} from '#libs/evidence';
import { packageRoot } from '#libs/infra/runtime';
import { fileArgument } from '../arguments.js';
import {
  type BundleOptions,
  bundleArgument,
  isVerified,
  manifestOf,
  NOT_CHECKED_HERE,
  reading,
  verdictOn,
  withBundleOptions,
} from '../bundle/bundle-options.js';
import { htmlFolder } from '../bundle/html-folder.js';
import { instantArgument } from '../bundle/instant-argument.js';
import { holdsText, saysText } from '../bundle/sought-text.js';
import { CliError, explainFileError, notFound, usage } from '../cli-error.js';
import { type CommandContext, type JsonOption, withExamples } from '../command-context.js';
import { writeNewFile } from '../new-file.js';
import { ProgressLine, table } from '../terminal.js';

/** `ags bundle`: what an export bundle says, read without the service. */
export const registerBundleCommands = (program: Command, context: CommandContext): void => {
  const bundle = program
    .command('bundle')
    .description(
      'Reads an export bundle without the service: who asked for what, which rule said what, who signed and why, what was ' +
        'sent, what came back, and what the witness says. The bundle is verified first, and one that is broken or cut is not ' +
        'shown. What people and tools said is in bundles that were exported with evidence; of others only the deeds are ' +
        'shown, which hold commitments to it.',
    )
    .summary('read an export bundle offline');
  withExamples(
    bundle,
    'npm run ags -- bundle list deeds.tar.gz',
    'npm run ags -- bundle find deeds.tar.gz --tool payments.refund --text "order 4711"',
    'npm run ags -- bundle show deeds.tar.gz act_...',
  );
  registerShow(bundle, context);
  registerList(bundle, context);
  registerFind(bundle, context);
  registerHtml(bundle, context);
  registerVerifier(bundle, context);
};

const registerShow = (bundle: Command, context: CommandContext): void => {
  withExamples(
    withBundleOptions(
      bundle
        .command('show')
        .description(
          'One action as a page, from who asked to what the witness says; or one change by an administrator.',
        )
        .summary('one action, or one change, as a page')
        .argument('<bundle>', 'path of the bundle', bundleArgument)
        .argument('<id>', 'of an action (act_...), of its approval (apr_...), or of a deed: deed_..., or its seq'),
    ).action((path: string, id: string, options: BundleOptions) => show(context, path, id, options)),
    'npm run ags -- bundle show deeds.tar.gz act_... --org org_... --pin sha256:...',
  );
};

const show = async (context: CommandContext, path: string, id: string, options: BundleOptions): Promise<void> => {
  if (!(await isVerified(context, path, options))) return;
  const action = await actionCalled(path, id);
  if (action === null)
    throw notFound(`No deed of this bundle is called ${id}. List what it has: npm run ags -- bundle list`);
  const view = await reading(path, (parts) => BundleView.read(parts, (deed) => isCalled(deed, action)));
  const found = view.account(action);
  if (found === null) throw new Error(`${action} was found and is not there`);
  context.terminal.out(
    options.json ? `${JSON.stringify(found.account)}\n` : `${textOfPage(found.page)}\n\n${NOT_CHECKED_HERE}\n`,
  );
};

/** The action that an id leads to, or the deed of a change: its other deeds may stand before the one that was named. */
const actionCalled = (path: string, id: string): Promise<string | null> =>
  reading(path, async (parts) => {
    for await (const deed of deedsIn(parts))
      if (isCalled(deed, id) || String(deed.seq) === id) return deed.action?.id ?? deed.id;
    return null;
  });

async function* deedsIn(parts: AsyncIterable<BundlePart>): AsyncGenerator<DeedBody> {
  for await (const part of parts) if (part.part === 'deed') yield parseDeedBody(part.deed.body);
}

interface TimeOptions extends BundleOptions {
  readonly from?: string;
  readonly to?: string;
}

interface FindOptions extends TimeOptions {
  readonly tool?: string;
  readonly agent?: string;
  readonly person?: string;
  readonly text?: string;
}

const requireSpan = ({ from, to }: TimeOptions): void => {
  if (from === undefined || to === undefined || from < to) return;
  throw usage(
    'Nothing lies between --from and --to. A day is that at its beginning, so one day is --from 2026-11-30 --to 2026-12-01.',
  );
};

const withTimes = (command: Command): Command =>
  command
    .option('--from <time>', 'issued at this time or later', instantArgument)
    .option('--to <time>', 'issued before this time', instantArgument);

const registerList = (bundle: Command, context: CommandContext): void => {
  withExamples(
    withBundleOptions(
      withTimes(
        bundle
          .command('list')
          .description('Every deed of a bundle, oldest first, a line each.')
          .summary('every deed, a line each')
          .argument('<bundle>', 'path of the bundle', bundleArgument),
      ),
    ).action((path: string, options: TimeOptions) => find(context, path, options)),
    'npm run ags -- bundle list deeds.tar.gz --from 2026-11-01 --to 2026-12-01',
    'npm run --silent ags -- bundle list deeds.tar.gz --json',
  );
};

const registerFind = (bundle: Command, context: CommandContext): void => {
  withExamples(
    withBundleOptions(
      withTimes(
        bundle
          .command('find')
          .description(
            'The deeds for which everything holds that you say of them, oldest first. Ends with 1 when there is none.',
          )
          .summary('deeds by tool, agent, person or text')
          .argument('<bundle>', 'path of the bundle', bundleArgument)
          .option('--tool <name>', 'of this tool; or of each whose name begins so: crm.*')
          .option('--agent <agent>', 'asked for by this agent: its id, or a part of its name')
          .option(
            '--person <person>',
            'signed, asked for, done or named by this person: an id, or a part of a name or address',
          )
          .option(
            '--text <text>',
            'in which this text stands, in whatever case: arguments, results, reasons, messages',
          ),
      ),
    ).action((path: string, options: FindOptions) => find(context, path, options)),
    'npm run ags -- bundle find deeds.tar.gz --agent refunds --person ada',
    'npm run ags -- bundle find deeds.tar.gz --text "order 4711"',
  );
};

const ROWS_AT_ONCE = 500;

const find = async (context: CommandContext, path: string, options: FindOptions): Promise<void> => {
  requireSpan(options);
  const verdict = await verdictOn(context, path, options);
  if (verdict === null) return;
  const { terminal } = context;
  const { text } = options;
  // What deeds name by ids alone stands behind them in the file, so that it is read first.
  const said = text === undefined ? () => false : saysText(text);
  const sayingIt = new Set<number>();
  const view = await reading(path, (parts) =>
    BundleView.read(
      parts,
      (deed) => {
        if (said(deed)) sayingIt.add(deed.seq);
        return false;
      },
      text === undefined ? undefined : holdsText(text),
    ),
  );
  const { names } = view.evidence;
  const filter: DeedFilter = {
    ...options,
    ...(options.agent === undefined ? {} : { agents: names.idsLike(options.agent) }),
    ...(options.person === undefined ? {} : { people: names.idsLike(options.person) }),
    ...(text === undefined ? {} : { seqs: new Set([...view.found, ...sayingIt]) }),
  };
  const count = await reading(path, async (parts) => {
    const lines = new RowLines(options.json === true);
    let count = 0;
    for await (const deed of deedsIn(parts)) {
      if (!isMeant(filter, deed)) continue;
      count += 1;
      lines.add(rowOf(names, deed));
      if (lines.count < ROWS_AT_ONCE) continue;
      terminal.out(lines.take());
      if (!(await terminal.taken())) return count;
    }
    terminal.out(lines.take());
    if (lines.hasUnproven && options.json !== true) terminal.out(`\n${UNPROVEN_NAMES}\n`);
    // Beside the lines, which are counted and searched.
    if (count > 0 && options.json !== true) terminal.err(`${NOT_CHECKED_HERE}\n`);
    return count;
  });
  if (count === 0) throw notFound(noneSentence(options, verdict.evidence !== null));
};

const noneSentence = ({ agent, person, text }: FindOptions, hasEvidence: boolean): string => {
  // Tools and times stand in every deed.
  if (agent === undefined && person === undefined && text === undefined) return 'No deed of this bundle is so.';
  const reach = hasEvidence
    ? 'not in what was removed, or taken out of it'
    : 'it was exported without evidence, so that it holds no names and no values';
  return `No deed of this bundle is so, as far as it says: ${reach}. On behalf of whom a call ran is found by --text.`;
};

const HEADING = ['seq', 'at', 'what', 'who', 'decided', 'came of it', 'witness', 'id'];

/** Rows that wait to be written, as a table or as lines of JSON. */
class RowLines {
  private rows: DeedRow[] = [];
  private hasHeading = false;

  constructor(private readonly isJson: boolean) {}

  get count(): number {
    return this.rows.length;
  }

  /** Whether a name was among them that no deed holds. */
  hasUnproven = false;

  add(row: DeedRow): void {
    this.hasUnproven ||= row.who !== null && row.who.name !== null && !row.who.isProven;
    this.rows.push(row);
  }

  take(): string {
    const rows = this.rows;
    this.rows = [];
    if (rows.length === 0) return '';
    if (this.isJson) return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const text = table(HEADING, rows.map(cellsOf));
    const lines = this.hasHeading ? text.slice(text.indexOf('\n') + 1) : text;
    this.hasHeading = true;
    return `${lines}\n`;
  }
}

/** Of a name that a stranger chose, as much as leaves the other columns where they can be read. */
const WIDEST = 60;

const cut = (text: string): string => (text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text);

const cellsOf = (row: DeedRow): readonly string[] => {
  const { seq, at, what, outcome, status, verdict, action, deed } = row;
  return [
    ...[String(seq), at, cut(visible(what)), cut(whoText(row))],
    ...[outcome ?? '', status ?? '', verdict ?? '', action ?? deed],
  ];
};

const registerHtml = (bundle: Command, context: CommandContext): void => {
  withExamples(
    withBundleOptions(
      bundle
        .command('html')
        .description(
          'Writes a folder that a browser reads without a network: lists of the deeds, and a page for each action and each ' +
            'change. No page has a script. What it holds is as secret as the bundle.',
        )
        .summary('a folder to read in a browser')
        .argument('<bundle>', 'path of the bundle', bundleArgument)
        .argument('<folder>', 'a new folder, or an empty one', fileArgument),
    ).action((path: string, folder: string, options: BundleOptions) => html(context, path, folder, options)),
    'npm run ags -- bundle html deeds.tar.gz november',
  );
};

const html = async (context: CommandContext, path: string, folder: string, options: BundleOptions): Promise<void> => {
  const verdict = await verdictOn(context, path, options);
  if (verdict === null) return;
  if (verdict.deeds === 0) throw notFound('This bundle holds no deeds: there is nothing to write.');
  const { terminal } = context;
  await requireEmpty(folder);
  const { org } = await manifestOf(path);
  const view = await reading(path, (parts) => BundleView.read(parts, () => true));
  const progress = new ProgressLine(terminal);
  let count = 0;
  const remark = verdict.evidence === null ? null : notGivenSentence(verdict.evidence.not_given);
  for (const { name, content } of htmlFolder(view, `Deeds of ${namedText(view.evidence.names.of(org))}`, remark)) {
    await explained(folder, () => writeFile(join(folder, name), content, { mode: 0o600, flag: 'wx' }));
    count += 1;
    progress.show(`Wrote ${count.toLocaleString('en')} pages`);
  }
  progress.clear();
  const begin = join(folder, 'index.html');
  const said = { object: 'bundle_folder', folder, pages: count, begin };
  terminal.out(
    options.json
      ? `${JSON.stringify(said)}\n`
      : `Wrote ${count.toLocaleString('en')} pages. Open ${begin} in a browser.\n`,
  );
};

const requireEmpty = async (folder: string): Promise<void> => {
  await explained(folder, () => mkdir(folder, { recursive: true, mode: 0o700 }));
  const names = await explained(folder, () => readdir(folder));
  if (names.length > 0)
    throw new CliError('file_unusable', `${folder} is not empty and is left as it is. Name another folder.`);
};

const explained = async <Result>(folder: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    const said = error instanceof Error ? explainFileError(error, folder) : null;
    throw said === null ? error : new CliError('file_unusable', said.message);
  }
};

const registerVerifier = (bundle: Command, context: CommandContext): void => {
  withExamples(
    bundle
      .command('verifier')
      .description(
        'Writes the page that verifies bundles in a browser, without a network: for whoever is given a bundle and no ' +
          'terminal. The same file is at GET /verify.html of every service.',
      )
      .summary('the page that verifies bundles in a browser')
      .argument('<file>', 'a new file', fileArgument)
      .option('--json', 'what was written, as one JSON object')
      .action((file: string, options: JsonOption) => verifier(context, file, options)),
    'npm run ags -- bundle verifier verify.html',
  );
};

const verifier = async ({ terminal }: CommandContext, file: string, { json }: JsonOption): Promise<void> => {
  const page = await readFile(join(packageRoot(), 'dist', 'verify.html'));
  await writeNewFile(file, Readable.from([page]));
  const digest = `sha256:${createHash('sha256').update(page).digest('hex')}`;
  const said = { object: 'verifier', file, digest };
  terminal.out(json ? `${JSON.stringify(said)}\n` : `Wrote ${file} (${digest}).\n`);
};
