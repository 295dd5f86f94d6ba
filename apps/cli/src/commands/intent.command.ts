import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  ARGS_PROFILE,
  checkArguments,
  createSignedIntent,
  type Digest,
  INTENT_HEADER,
  INTENT_MAX_LIFETIME_MS,
  type IntentClaims,
  parseStrictJson,
  PrivateKeyError,
  REFERENCE_PATTERN,
  SigningKey,
  StrictJsonError,
  type StrictJsonReason,
} from '#libs/crypto';
import { parseId, type AgentId, type OrgId } from '#libs/domain/kernel';
import { SystemClock } from '#libs/infra/runtime';
import { agentArgument, durationArgument, fileArgument, idArgument, STANDARD_INPUT } from '../arguments.js';
import { CliError, usage } from '../cli-error.js';
import { withAdministration, withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { readInput } from '../input-file.js';
import { writeNewFile } from '../new-file.js';
import { facts, present } from '../terminal.js';

/** Of a PEM file; a key has some 120. */
const MAX_KEY_BYTES = 16_384;
const DEFAULT_LIFETIME_S = 60;

/** `ags intent`: what an agent's runtime does for itself. Needs no server, no database and no state directory. */
export const registerIntentCommands = (program: Command, context: CommandContext): void => {
  const intent = program
    .command('intent')
    .description(
      'Signed intents: an agent’s runtime states the call that it means to make, signed with a key of its own. These ' +
        'commands work without the service; the private key never leaves the machine.',
    )
    .summary('make a key for signed intents, and sign one');
  withExamples(
    intent,
    'npm run ags -- intent keygen intent.pem',
    'npm run --silent ags -- intent sign --key intent.pem --org org_... --agent agt_... --tool crm.get_customer --args args.json',
  );
  registerKeygen(intent, context);
  registerSign(intent, context);
};

const registerKeygen = (intent: Command, context: CommandContext): void => {
  withExamples(
    intent
      .command('keygen')
      .description(
        'Makes an Ed25519 key pair. The private key goes into the file, as PKCS#8 PEM that only you may read; a file that ' +
          'is there already is left as it is. Register the public key, which is printed, with ' +
          'POST /v1/agents/{id}/intent-keys.',
      )
      .summary('make a key pair')
      .argument('<file>', 'where the private key goes; it must not be there yet', fileArgument)
      .option('--json', 'one JSON object')
      .action(async (file: string, { json }: JsonOption) => {
        if (file === STANDARD_INPUT) throw usage('Name a file for the private key. It is never printed.');
        const key = SigningKey.generate();
        await writeNewFile(file, only(key.toPkcs8Pem()));
        const { kid, text: publicKey } = key.publicKey;
        const text = facts([
          ['private key', file],
          ['public key', publicKey],
          ['kid', kid],
        ]);
        const object = { object: 'intent_key_pair', kid, public_key: publicKey, private_key_file: file };
        present(context.terminal, json === true, { objects: [object], text });
      }),
    'npm run ags -- intent keygen intent.pem',
    'npm run --silent ags -- intent keygen intent.pem --json',
  );
};

interface SignOptions extends JsonOption {
  readonly key: string;
  readonly org: OrgId;
  readonly agent: string;
  readonly tool: string;
  readonly args: string;
  readonly onBehalfOf?: string;
  readonly session?: string;
  readonly lifetime: number;
}

const registerSign = (intent: Command, context: CommandContext): void => {
  withExamples(
    intent
      .command('sign')
      .description(
        `Prints the value of the header ${INTENT_HEADER} for one call: of this agent, on this tool, with these arguments. ` +
          'It is good for one call within its lifetime; whoever sends it again is refused with intent_replay.',
      )
      .summary('sign one call')
      .requiredOption('--key <file>', 'the private key, PKCS#8 PEM', fileArgument)
      .requiredOption('--org <id>', 'the organization of the API key that calls', idArgument('org'))
      .requiredOption(
        '--agent <agent>',
        'the agent of the API key that calls: its agt_ id; or its name, which is looked up in the deployment that the settings name',
        agentArgument,
      )
      .requiredOption('--tool <name>', 'as in the call: <connector>.<tool>')
      .requiredOption(
        '--args <file>',
        `the JSON object of the call’s arguments, or ${STANDARD_INPUT} for standard input`,
        fileArgument,
      )
      .option('--on-behalf-of <reference>', 'for whom it acts, as an opaque id', referenceArgument)
      .option('--session <reference>', 'the session it acts in, as an opaque id', referenceArgument)
      .addOption(
        new Option('--lifetime <time>', 'for how long it is good: 1s to 5m')
          .argParser(durationArgument)
          .default(DEFAULT_LIFETIME_S, '1m'),
      )
      .option('--json', 'one JSON object')
      .action(async (options: SignOptions) => sign(context, options)),
    'npm run --silent ags -- intent sign --key intent.pem --org org_... --agent agt_... --tool crm.get_customer --args args.json',
    `echo '{"id":"42"}' | npm run --silent ags -- intent sign --key intent.pem --org org_... --agent agt_... --tool crm.get_customer --args - --json`,
  );
};

const referenceArgument = (text: string): string => {
  if (REFERENCE_PATTERN.test(text)) return text;
  throw new InvalidArgumentError('1 to 256 letters, digits or . _ ~ : @ / + = - are expected, never a name.');
};

const sign = async (context: CommandContext, options: SignOptions): Promise<void> => {
  const { key: keyFile, org, agent: named, tool, args, onBehalfOf, session, lifetime, json } = options;
  if (keyFile === STANDARD_INPUT) throw usage('The private key must be a file: --key names it.');
  if (lifetime < 1 || lifetime * 1_000 > INTENT_MAX_LIFETIME_MS) throw usage('--lifetime must be 1s to 5m.');
  const key = await readKey(keyFile);
  const digest = await digestOfArguments(args);
  const agent = parseId('agt', named) ?? (await agentNamed(context, named, org));
  const iat = new SystemClock().nowMs();
  const exp = iat + lifetime * 1_000;
  const references = {
    ...(onBehalfOf === undefined ? {} : { on_behalf_of: onBehalfOf }),
    ...(session === undefined ? {} : { session }),
  };
  const { header, intentHash } = signed({ org, agent, tool, args_digest: digest, iat, exp, ...references }, key);
  const object = {
    object: 'signed_intent',
    header: INTENT_HEADER,
    value: header,
    kid: key.publicKey.kid,
    intent_hash: intentHash,
    args_digest: digest,
    iat,
    exp,
  };
  present(context.terminal, json === true, { objects: [object], text: header });
};

/** @throws {CliError} not_found; usage: several of this name, or no deployment here that knows names */
const agentNamed = async (context: CommandContext, named: string, org: OrgId): Promise<AgentId> => {
  let found: AgentId | null = null;
  const looking = withAdministration(context, false, async ({ census }) => {
    found = (await census.agent(named, org)).agent;
    return null;
  });
  await looking.catch((error: unknown) => {
    if (!(error instanceof CliError) || error.code !== 'not_initialized') throw error;
    throw usage(
      `No deployment that could know an agent named ${JSON.stringify(named)} is here. Give its agt_ id instead.`,
    );
  });
  if (found === null) throw new Error('the census neither found nor refused the agent');
  return found;
};

/** All but the tool was judged where it was read. */
const signed = (claims: IntentClaims, key: SigningKey): ReturnType<typeof createSignedIntent> => {
  try {
    return createSignedIntent(claims, key);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usage('--tool must be written <connector>.<tool>, as in the call, such as crm.get_customer.');
  }
};

const readKey = async (file: string): Promise<SigningKey> => {
  const pem = await readInput(file, MAX_KEY_BYTES);
  try {
    return SigningKey.fromPkcs8Pem(pem.toString('latin1'));
  } catch (error) {
    if (!(error instanceof PrivateKeyError)) throw error;
    throw new CliError(
      'file_unusable',
      `${file} is ${error.message}. Name the file that \`npm run ags -- intent keygen\` has made.`,
    );
  }
};

const digestOfArguments = async (file: string): Promise<Digest> => {
  const name = file === STANDARD_INPUT ? 'Standard input' : file;
  try {
    const value = parseStrictJson(await readInput(file, ARGS_PROFILE.maxBytes), ARGS_PROFILE);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      return checkArguments(value).digest;
    }
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new CliError('file_unusable', `${name} holds no arguments that a call can have: ${WHY[error.reason]}.`);
  }
  throw new CliError('file_unusable', `${name} must hold one JSON object, the arguments of the call.`);
};

/** What is wrong with arguments that cannot be signed (rule FORM-7). */
const WHY: Readonly<Record<StrictJsonReason, string>> = {
  too_large: 'they are larger than 256 KiB. Send less',
  utf8: 'they are not UTF-8. Save the file as UTF-8',
  syntax: 'they are not JSON. Write one JSON object',
  duplicate_key: 'an object has the same member twice. Leave one out',
  depth: 'a value is nested deeper than 32. Flatten it',
  lone_surrogate: 'a text has half of a surrogate pair. Write the whole character',
  big_int: 'an integer is beyond 2^53-1. Write it as a string',
  number_range: 'a number does not fit a double. Write it as a string',
  fraction: 'a number must be an integer. Write it without a fraction',
};

async function* only(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}
