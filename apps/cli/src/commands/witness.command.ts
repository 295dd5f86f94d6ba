import { InvalidArgumentError, type Command } from 'commander';
import { encodeVkey, type Vkey } from '#libs/crypto';
import { SystemClock, untilInterrupted } from '#libs/infra/runtime';
import { collected, fileArgument } from '../arguments.js';
import { CliError, EXIT, usage } from '../cli-error.js';
import { withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { present, type Answer } from '../terminal.js';
import { DirectoryLockError } from '../witness/directory-lock.js';
import {
  parseTrustedLog,
  parseTrustedService,
  TrustedLogs,
  type TrustedService,
  TrustError,
} from '../witness/trusted-logs.js';
import { holdState, initWitness, readWitnessKey, WitnessDirectoryError } from '../witness/witness-directory.js';
import { isWitnessName, MAX_WITNESS_NAME_BYTES, type WitnessKey } from '../witness/witness-key.js';
import { WitnessLog } from '../witness/witness-log.js';
import { listen, ListenError } from '../witness/witness-server.js';
import { Witness } from '../witness/witness.js';

interface StateOption extends JsonOption {
  readonly state: string;
}

interface InitOptions extends StateOption {
  readonly name: string;
}

interface ServeOptions extends StateOption {
  readonly log?: readonly Vkey[];
  readonly trust?: readonly string[];
  readonly host: string;
  readonly port: number;
}

const STATE_HELP = 'the witness’s own directory, on a disk of this machine';
const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 7_380;
const EXAMPLE_INIT = 'npm run ags -- witness init --state /var/lib/witness --name witness.example/w1';

/** `ags witness`: for whoever watches a service, not for who runs it. Needs no database and no settings. */
export const registerWitnessCommands = (program: Command, context: CommandContext): void => {
  const witness = program
    .command('witness')
    .description(
      'A witness of somebody else’s ledger (docs/witness-serve.md): it remembers how far each ledger had come and cosigns a ' +
        'checkpoint only where it continues that. A customer, an auditor or a partner runs it, on a machine of his own. ' +
        'Speaks C2SP tlog-witness; needs no database, no settings and nothing of the service.',
    )
    .summary('run a witness of ledgers');
  withExamples(witness, EXAMPLE_INIT, 'npm run ags -- witness serve --state /var/lib/witness --log VKEY');
  registerInit(witness, context);
  registerKey(witness, context);
  registerServe(witness, context);
};

const registerInit = (witness: Command, context: CommandContext): void => {
  withExamples(
    witness
      .command('init')
      .description(
        'Makes the directory of a witness and its two keys, Ed25519 and ML-DSA-44, and prints its verifier ' +
          'keys. A key that is there already is left, and printed.',
      )
      .summary('make the keys of a witness')
      .requiredOption('--state <directory>', STATE_HELP, fileArgument)
      .requiredOption(
        '--name <name>',
        'how others call it: a name without https://, as witness.example/w1',
        nameArgument,
      )
      .option('--json', 'one JSON object')
      .action(async ({ state, name, json }: InitOptions) => {
        const key = await explained(() => initWitness(state, name));
        present(context.terminal, json === true, keyAnswer(key));
      }),
    EXAMPLE_INIT,
  );
};

const registerKey = (witness: Command, context: CommandContext): void => {
  withExamples(
    witness
      .command('key')
      .description('Prints the verifier keys of a witness, whether it runs or not.')
      .summary('print the verifier keys')
      .requiredOption('--state <directory>', STATE_HELP, fileArgument)
      .option('--json', 'one JSON object')
      .action(async ({ state, json }: StateOption) => {
        const key = await explained(() => readWitnessKey(state));
        present(context.terminal, json === true, keyAnswer(key));
      }),
    'npm run --silent ags -- witness key --state /var/lib/witness',
  );
};

const registerServe = (witness: Command, context: CommandContext): void => {
  withExamples(
    witness
      .command('serve')
      .description(
        'Serves add-checkpoint and the latest checkpoint of each log until it is ended. It says where it listens and its ' +
          'verifier keys; what happens is a JSON object a line on standard error. One process has a directory; a second one ' +
          'refuses to start. Put a proxy with TLS before it where others reach it.',
      )
      .summary('serve until it is ended')
      .requiredOption('--state <directory>', STATE_HELP, fileArgument)
      .option(
        '--log <vkey>',
        'the verifier key of a log, whose name is its origin; may be repeated',
        collected(logArgument),
      )
      .option(
        '--trust <host/prefix key...>',
        'every organization of one service: its host, as in governance.example/ledger, and its checkpoint key, ed25519:... ; ' +
          'may be repeated',
      )
      .option('--host <address>', 'where it listens', DEFAULT_HOST)
      .option('--port <number>', '0 takes any that is free', portArgument, DEFAULT_PORT)
      .option('--json', 'where it listens as one JSON object')
      .action(async (options: ServeOptions) => serve(context, options)),
    'npm run ags -- witness serve --state /var/lib/witness --log governance.example/ledger/org_...+1a2b3c4d+AZ...',
    'npm run ags -- witness serve --state /var/lib/witness --trust governance.example/ledger ed25519:... --port 7380',
  );
};

const nameArgument = (text: string): string => {
  if (isWitnessName(text)) return text;
  throw new InvalidArgumentError(`A name has no space and no plus, and at most ${MAX_WITNESS_NAME_BYTES} bytes.`);
};

const logArgument = (text: string): Vkey => {
  try {
    return parseTrustedLog(text);
  } catch (error) {
    if (error instanceof TrustError) throw new InvalidArgumentError(error.message);
    throw error;
  }
};

const MAX_PORT = 65_535;

const portArgument = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : MAX_PORT + 1;
  if (port <= MAX_PORT) return port;
  throw new InvalidArgumentError('A port is a number from 0 to 65535.');
};

const keyAnswer = (key: WitnessKey): Answer => {
  const vkeys = key.vkeys.map(encodeVkey);
  return { objects: [{ object: 'witness_key', name: key.witnessName, vkeys }], text: vkeys.join('\n') };
};

/** `--trust` takes two words each. @throws {CliError} usage */
const servicesIn = (words: readonly string[]): readonly TrustedService[] => {
  if (words.length % 2 !== 0) throw usage('--trust takes two words: --trust governance.example/ledger ed25519:...');
  const pairs = words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? ''] as const] : []));
  return pairs.map(([prefix, key]) => {
    try {
      return parseTrustedService(prefix, key);
    } catch (error) {
      if (error instanceof TrustError) throw usage(`--trust ${prefix}: ${error.message}`);
      throw error;
    }
  });
};

const serve = async ({ terminal }: CommandContext, options: ServeOptions): Promise<void> => {
  const services = servicesIn(options.trust ?? []);
  if (services.length === 0 && options.log === undefined) throw usage('Name what it witnesses: --log or --trust.');
  const clock = new SystemClock();
  const log = new WitnessLog(
    (line) => terminal.err(line),
    () => clock.nowMs(),
  );
  await untilInterrupted(async (interrupted) => {
    const state = await explained(() => holdState(options.state));
    try {
      const logs = new TrustedLogs(options.log ?? [], services);
      const witness = new Witness(state.key, logs, state.checkpoints, { log, nowMs: () => clock.nowMs() });
      const listening = await explained(() => listen(witness, log, options));
      present(terminal, options.json === true, listeningAnswer(listening.url, state.key));
      const ended = new Promise<null>((resolve) => {
        if (interrupted.aborted) resolve(null);
        interrupted.addEventListener('abort', () => resolve(null));
      });
      const broken = await Promise.race([ended, listening.broken]);
      await listening.close();
      log.say(broken === null ? 'info' : 'error', 'ended', { state: broken === null ? 'kept' : 'uncertain' });
      if (broken !== null) throw stateLost(options.state);
    } finally {
      await state.release();
    }
  });
};

const listeningAnswer = (url: string, key: WitnessKey): Answer => {
  const vkeys = key.vkeys.map(encodeVkey);
  const text = [`The witness ${key.witnessName} listens on ${url}. Its verifier keys:`, ...vkeys].join('\n');
  return { objects: [{ object: 'witness', name: key.witnessName, url, vkeys }], text };
};

const stateLost = (directory: string): CliError =>
  new CliError(
    'file_unusable',
    `The disk of ${directory} did not take what was written, so nothing more is cosigned. Look after the disk, then start the witness again.`,
  );

/** What a directory or a lock says is said to the operator. */
const explained = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WitnessDirectoryError) throw new CliError('file_unusable', error.message);
    if (error instanceof ListenError) throw usage(`${error.message} Choose another --host or --port.`);
    if (error instanceof DirectoryLockError) throw new CliError('conflict', error.message, EXIT.refused);
    throw error;
  }
};
