import { createReadStream } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import {
  isDigest,
  KeySetError,
  MAX_KEYS_BYTES,
  parsePublishedKeySet,
  verifyBundle,
  type ChainHead,
  type Digest,
  type SealKeyEntry,
  type Vkey,
} from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import { visible } from '#libs/evidence';
import { collected, fileArgument, headArgument, idArgument, STANDARD_INPUT } from '../arguments.js';
import { CliError, EXIT, explainFileError, usage } from '../cli-error.js';
import { withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { present, ProgressLine } from '../terminal.js';
import { BEGINNING_BYTES } from './layout-fault.js';
import { checkpointKeyArgument, readWitnesses } from './verify-witnesses.js';
import { verdictText } from './verdict-text.js';

interface VerifyOptions extends JsonOption {
  readonly org: OrgId;
  readonly pin: readonly Digest[];
  readonly head?: readonly ChainHead[];
  readonly keys?: string;
  readonly checkpointKey?: readonly Vkey[];
  readonly witnesses?: string;
}

const KEY_SET_PATH = '/.well-known/service/keys.json';

/** `ags verify`: needs no server, no database and no state directory. */
export const registerVerifyCommand = (program: Command, context: CommandContext): void => {
  withExamples(
    program
      .command('verify')
      .description(
        'Checks an export bundle offline: every seal, every link, every key. You name the organization, and the ' +
          'fingerprints of the seal keys you trust, from the first start, `npm run ags -- seal-keys list` or a copy of ' +
          'your own. Ends with 0 only when the whole bundle is intact.\n\n' +
          'A bundle cannot prove everything about itself. When its seal keys were active and which of them are ' +
          'revoked is its own word, which no seal covers and which ends with the export: --keys takes the word of the ' +
          'service instead. That its last deed is the last of the chain, and not the end of a chain that was cut, is ' +
          'its own word too: --head names a deed that must be there, such as the head that the ledger check ' +
          '(GET /v1/ledger/check) or an earlier run of this command gave. --witnesses names machines of others, whom ' +
          'you choose and who must have cosigned a checkpoint of the bundle, so that everybody whom they serve was shown this ' +
          'chain; --checkpoint-key says whose checkpoint it must be. Nobody is asked anything: all that counts is in the ' +
          'bundle. The verdict says whose word it rests on.',
      )
      .summary('check an export bundle offline')
      .argument('<bundle>', `path of the bundle, or ${STANDARD_INPUT} for standard input`, fileArgument)
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
      .option(
        '--keys <file>',
        `the key set as GET ${KEY_SET_PATH} gives it, or ${STANDARD_INPUT} for standard input: it alone then says which ` +
          'keys there are, when they were active and which are revoked',
        fileArgument,
      )
      .option(
        '--checkpoint-key <vkey>',
        'the key of its checkpoints, governance.example/ledger/org_...+...; without one the logs of --witnesses count; may be ' +
          'repeated',
        collected(checkpointKeyArgument),
      )
      .option(
        '--witnesses <file>',
        'a tlog-policy: which witnesses must have cosigned, and how many of them',
        fileArgument,
      )
      .option('--json', 'the verdict as one JSON object')
      .action(async (bundle: string, options: VerifyOptions) => verify(context, bundle, options)),
    'npm run ags -- verify deeds.tar.gz --org org_... --pin sha256:...',
    `curl -fsS .../v1/deeds/export -H "Authorization: Bearer $KEY" | npm run --silent ags -- verify - --org org_... --pin sha256:...`,
    `curl -fsS ...${KEY_SET_PATH} | npm run --silent ags -- verify deeds.tar.gz --keys - --org org_... --pin sha256:...`,
  );
};

const pinArgument = (text: string): Digest => {
  if (isDigest(text)) return text;
  throw new InvalidArgumentError('A fingerprint is sha256: and 64 lowercase hex characters.');
};

const verify = async (
  context: CommandContext,
  bundle: string,
  { org, pin, head = [], keys, checkpointKey: checkpointKeys = [], witnesses, json }: VerifyOptions,
): Promise<void> => {
  const { terminal } = context;
  const policy = witnesses === undefined ? {} : { witnesses: await readWitnesses(witnesses, checkpointKeys) };
  const keySet = keys === undefined ? {} : { keySet: await readKeySet(keys, bundle) };
  const progress = new ProgressLine(terminal);
  const source = new WatchedSource(bundle === STANDARD_INPUT ? process.stdin : createReadStream(bundle));
  const verdict = await readable(bundle, () =>
    verifyBundle(source, {
      org,
      pins: pin,
      heads: head,
      checkpointKeys,
      ...keySet,
      ...policy,
      threads: 'auto',
      onProgress: (deeds, total) =>
        progress.show(`Checked ${deeds.toLocaleString('en')} of ${total.toLocaleString('en')} deeds`),
    }),
  );
  progress.clear();
  present(terminal, json === true, { objects: [verdict], text: verdictText(verdict, keys, source.beginning) });
  if (verdict.result !== 'intact') context.exitCode = EXIT.refused;
};

/** Keeps what a bundle begins with, which tells a file that is none for what it is. */
class WatchedSource implements AsyncIterable<Uint8Array> {
  beginning = Buffer.alloc(0);

  constructor(private readonly source: AsyncIterable<Uint8Array>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.source) {
      const missing = BEGINNING_BYTES - this.beginning.length;
      if (missing > 0) this.beginning = Buffer.concat([this.beginning, chunk.subarray(0, missing)]);
      yield chunk;
    }
  }
}

/** What is no key set ends the command: a verdict without it would look like one with it. */
const readKeySet = async (file: string, bundle: string): Promise<readonly SealKeyEntry[]> => {
  if (file === STANDARD_INPUT && bundle === STANDARD_INPUT) {
    throw usage('Standard input cannot be both the bundle and the key set. Give one of them as a file.');
  }
  try {
    return parsePublishedKeySet(
      await readable(file, () => bytesOf(file === STANDARD_INPUT ? process.stdin : createReadStream(file))),
    );
  } catch (error) {
    if (!(error instanceof KeySetError)) throw error;
    const name = file === STANDARD_INPUT ? 'Standard input' : visible(file);
    throw new CliError('file_unusable', `${name} ${error.message}. Save what GET ${KEY_SET_PATH} answers, unchanged.`);
  }
};

/** What the source gives, up to where it is too long for a key set. */
const bytesOf = async (source: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_KEYS_BYTES) break;
  }
  return Buffer.concat(chunks);
};

/** A file that cannot be read says nothing about a bundle. */
const readable = async <Result>(file: string, read: () => Promise<Result>): Promise<Result> => {
  try {
    return await read();
  } catch (error) {
    const said = error instanceof Error ? explainFileError(error, file) : null;
    throw said === null ? error : new CliError('file_unusable', said.message);
  }
};
