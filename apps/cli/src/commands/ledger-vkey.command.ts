import { type Command, InvalidArgumentError } from 'commander';
import { parsePublicKeyText, PublicKeyError, VkeyError } from '#libs/crypto';
import { type OrgId, timestampOf } from '#libs/domain/kernel';
import { collected, idArgument } from '../arguments.js';
import { type CheckpointVkey, checkpointVkeys, checkpointVkeyText } from '../checkpoint-vkeys.js';
import { CliError, usage } from '../cli-error.js';
import {
  withDeployment,
  withExamples,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import { present } from '../terminal.js';
import { openedLedger } from './opened-ledger.js';

interface VkeyOptions extends OrgOption, JsonOption {
  readonly all?: boolean;
  readonly origin?: string;
  readonly publicKey?: readonly string[];
}

/** `ags ledger vkey`: the line by which auditors and witnesses know an organization's tree. */
export const registerLedgerVkey = (ledger: Command, context: CommandContext): void => {
  withExamples(
    ledger
      .command('vkey')
      .description(
        'Prints the verifier key of an organization’s tree, a line to be pasted: what --checkpoint-key of verify takes, ' +
          'and what a witness knows the tree by. While keys are rotated there are two. With --origin and --public-key it is ' +
          'made of what the service publishes, and needs no deployment: the origin is the first line of every checkpoint, the ' +
          'public keys stand at /.well-known/service/checkpoint-keys.json.',
      )
      .option('--org <id>', 'which one; needed when there are several', idArgument('org'))
      .option('--all', 'also those of keys that sign no more, for older checkpoints')
      .option('--origin <name>', 'the name of the tree, such as governance.example/ledger/org_...')
      .option('--public-key <key>', 'ed25519:...; may be repeated', collected(publicKeyArgument))
      .option('--json', 'one JSON object a line')
      .action(async (options: VkeyOptions) => {
        const { origin, publicKey = [] } = options;
        if (origin === undefined && publicKey.length === 0) return ofDeployment(context, options);
        if (origin === undefined || publicKey.length === 0) throw usage('Give --origin and --public-key together.');
        const vkeys = publicKey.map((key) => madeOf(origin, key));
        present(context.terminal, options.json === true, {
          objects: vkeys.map((vkey) => ({ object: 'checkpoint_vkey', origin, vkey })),
          text: vkeys.join('\n'),
        });
      }),
    'npm run --silent ags -- ledger vkey',
    'npm run --silent ags -- ledger vkey --origin governance.example/ledger/org_... --public-key ed25519:...',
  );
};

const ofDeployment = (context: CommandContext, { org: wanted, all = false, json }: VkeyOptions): Promise<void> =>
  withDeployment(context, async (deployment) => {
    const { org, parts } = await openedLedger(deployment, wanted);
    const { origin } = await parts.journal.tail(org);
    if (origin === null) throw noneYet();
    const now = timestampOf(deployment.clock.nowMs());
    const vkeys = checkpointVkeys(await parts.keys.list(), origin, now);
    const shown = vkeys.filter(({ status }) => all || status !== 'retired');
    present(context.terminal, json === true, {
      objects: shown.map((key) => viewOf(org, origin, key)),
      text: shown.map(({ vkey }) => vkey).join('\n'),
    });
  });

const viewOf = (org: OrgId, origin: string, { vkey, status, activatedAt, retiredAt }: CheckpointVkey) => ({
  ...{ object: 'checkpoint_vkey', org, origin, vkey, status },
  ...{ activated_at: activatedAt, retired_at: retiredAt },
});

const noneYet = (): CliError =>
  new CliError(
    'not_found',
    'Nothing was signed yet, so that the tree has no name. Run `npm run ags -- ledger checkpoint` first.',
  );

const publicKeyArgument = (text: string): string => {
  try {
    return parsePublicKeyText(text).text;
  } catch (error) {
    if (!(error instanceof PublicKeyError)) throw error;
    throw new InvalidArgumentError('A public key is ed25519: and 43 characters of base64url.');
  }
};

const madeOf = (origin: string, publicKey: string): string => {
  try {
    return checkpointVkeyText(origin, publicKey);
  } catch (error) {
    if (!(error instanceof VkeyError)) throw error;
    throw usage('An origin is the first line of a checkpoint: without spaces and plus signs.');
  }
};
