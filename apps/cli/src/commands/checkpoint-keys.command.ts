import type { Command } from 'commander';
import { parsePublicKeyText } from '#libs/crypto';
import { operatorMetadata, timestampOf, type Timestamp } from '#libs/domain/kernel';
import type { CheckpointKey, CheckpointKeys } from '#libs/domain/ledger';
import { overlapOption } from '../arguments.js';
import { checkpointKeyStatus } from '../checkpoint-vkeys.js';
import {
  withDeployment,
  withDeploymentChange,
  withExamples,
  type CommandContext,
  type JsonOption,
} from '../command-context.js';
import { present, table, type Answer } from '../terminal.js';

/** `ags checkpoint-keys`: what the roots of ledgers are signed with. */
export const registerCheckpointKeysCommands = (program: Command, context: CommandContext): void => {
  const keys = program
    .command('checkpoint-keys')
    .description('Checkpoint keys: what the root of every ledger is signed with, and what witnesses know a ledger by.')
    .summary('list and rotate the keys that checkpoints are signed with');
  withExamples(keys, 'npm run ags -- checkpoint-keys list', 'npm run ags -- checkpoint-keys rotate --overlap 30d');
  withExamples(
    keys
      .command('list')
      .description('Lists every checkpoint key there ever was, oldest first. None before the first checkpoint.')
      .option('--json', 'one JSON object a line')
      .action(async ({ json }: JsonOption) =>
        withDeployment(context, async (deployment) => {
          const { checkpointsOf } = await import('#libs/infra/deployment');
          const at = timestampOf(deployment.clock.nowMs());
          const listed = await checkpointsOf(deployment).keys.list();
          present(context.terminal, json === true, answerOf(listed, at));
        }),
      ),
    'npm run ags -- checkpoint-keys list',
  );
  withExamples(
    keys
      .command('rotate')
      .description(
        'Makes a new checkpoint key, which signs from the next checkpoint on. The old one signs beside it until the ' +
          'overlap is over: give every witness and reader the new key by then.',
      )
      .addOption(overlapOption('until the old key signs no more: 1m to 365d'))
      .option('--json', 'one JSON object a line')
      .action(async ({ overlap: overlapSeconds, json }: JsonOption & { readonly overlap: number }) =>
        withDeploymentChange(context, async (deployment) => {
          const { checkpointsOf } = await import('#libs/infra/deployment');
          const { keys: signing } = checkpointsOf(deployment);
          const rotated = await signing.rotate(overlapSeconds * 1_000, operatorMetadata(deployment, null));
          const at = timestampOf(deployment.clock.nowMs());
          present(context.terminal, json === true, answerOf(rotated, at));
        }),
      ),
    'npm run ags -- checkpoint-keys rotate --overlap 30d',
  );
};

const answerOf = (keys: CheckpointKeys, at: Timestamp): Answer => {
  const views = keys.map((key) => viewOf(key, at));
  const rows = views.map((view) => [view.public_key, view.status, view.retired_at ?? '']);
  return {
    objects: views,
    text: rows.length > 0 ? table(['PUBLIC KEY', 'STATUS', 'RETIRES AT'], rows) : 'No checkpoint keys yet.',
  };
};

const viewOf = (key: CheckpointKey, at: Timestamp) => ({
  object: 'checkpoint_key',
  alg: 'Ed25519',
  public_key: key.publicKey,
  fingerprint: parsePublicKeyText(key.publicKey).fingerprint,
  status: checkpointKeyStatus(key, at),
  activated_at: key.activatedAt,
  retired_at: key.retiredAt,
});
