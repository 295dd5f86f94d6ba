import { InvalidArgumentError, type Command } from 'commander';
import { KID_PATTERN, parsePublicKeyText } from '#libs/crypto';
import { checkedReason, DomainError, operatorMetadata, timestampOf, type Timestamp } from '#libs/domain/kernel';
import type { SealKey } from '#libs/domain/ledger';
import type { Rotation } from '#libs/infra/deployment';
import { overlapOption } from '../arguments.js';
import { notFound } from '../cli-error.js';
import {
  REASON_HELP,
  withDeployment,
  withDeploymentChange,
  withExamples,
  type ChangeOptions,
  type CommandContext,
  type JsonOption,
} from '../command-context.js';
import { facts, present, table, type Answer } from '../terminal.js';

/** `ags seal-keys`: what deeds are sealed with. */
export const registerSealKeysCommands = (program: Command, context: CommandContext): void => {
  const sealKeys = program
    .command('seal-keys')
    .description(
      'Seal keys: what deeds are sealed with, and by whose fingerprints a bundle is verified (--pin of verify).',
    )
    .summary('list, rotate and revoke the keys that deeds are sealed with');
  withExamples(
    sealKeys,
    'npm run ags -- seal-keys list',
    'npm run ags -- seal-keys rotate --overlap 24h',
    'npm run ags -- seal-keys revoke KID --reason "Backup lost"',
  );
  registerList(sealKeys, context);
  registerRotate(sealKeys, context);
  registerRevoke(sealKeys, context);
};

const registerList = (sealKeys: Command, context: CommandContext): void => {
  withExamples(
    sealKeys
      .command('list')
      .description('Lists every seal key there ever was, oldest first, with the fingerprint to pin.')
      .option('--json', 'one JSON object a line')
      .action(async ({ json }: JsonOption) =>
        withDeployment(context, async (deployment) => {
          const at = timestampOf(deployment.clock.nowMs());
          const views = (await deployment.sealKeys().list()).map((key) => viewOf(key, at));
          const rows = views.map((view) => [view.kid, view.status, view.fingerprint]);
          const text = rows.length > 0 ? table(['KID', 'STATUS', 'FINGERPRINT'], rows) : 'No seal keys yet.';
          present(context.terminal, json === true, { objects: views, text });
        }),
      ),
    'npm run ags -- seal-keys list',
  );
};

interface RotateOptions extends JsonOption {
  readonly overlap: number;
}

const registerRotate = (sealKeys: Command, context: CommandContext): void => {
  withExamples(
    sealKeys
      .command('rotate')
      .description(
        'Makes a new seal key, proves that the sealer can sign with it, and seals with it at once. The old key retires ' +
          'after the overlap and goes on verifying what it sealed; the answer names both, with their times. Publish the ' +
          'new fingerprint: bundles are then verified with both pinned.',
      )
      .addOption(overlapOption('until the old key retires: 1m to 365d'))
      .option('--json', 'one JSON object: the new key, the old ones in its member `retiring`')
      .action(async ({ overlap: overlapSeconds, json }: RotateOptions) => {
        await withDeploymentChange(context, async (deployment) => {
          const { rotateSealKey } = await import('#libs/infra/deployment');
          const metadata = () => operatorMetadata(deployment, null);
          const rotation = await rotateSealKey(deployment, overlapSeconds * 1_000, metadata);
          present(context.terminal, json === true, rotated(rotation, timestampOf(deployment.clock.nowMs())));
        });
      }),
    'npm run ags -- seal-keys rotate',
    'npm run --silent ags -- seal-keys rotate --overlap 7d --json',
  );
};

const rotated = ({ key, retiring }: Rotation, at: Timestamp): Answer => {
  const view = { ...viewOf(key, at), retiring: retiring.map((old) => viewOf(old, at)) };
  const lines: [string, string][] = [
    ['new seal key', view.kid],
    ['fingerprint', view.fingerprint],
    ['seals since', view.activated_at ?? at],
  ];
  for (const old of view.retiring) {
    lines.push(
      ['old seal key', old.kid],
      ['fingerprint', old.fingerprint],
      ['retires at', `${old.retired_at ?? at}; what it sealed goes on verifying`],
    );
  }
  const pins =
    view.retiring.length === 0
      ? 'Pin it to verify a bundle with deeds from now on.'
      : 'Pin all of them to verify a bundle with deeds from before and after.';
  return { objects: [view], text: `${facts(lines)}\n\n${pins}` };
};

const kidArgument = (text: string): string => {
  if (KID_PATTERN.test(text)) return text;
  throw new InvalidArgumentError('A kid is 32 lowercase hex characters, as `npm run ags -- seal-keys list` shows it.');
};

const registerRevoke = (sealKeys: Command, context: CommandContext): void => {
  withExamples(
    sealKeys
      .command('revoke')
      .description(
        'Revokes a seal key that may have leaked. Deeds under it no longer verify, and every organization whose ledger ' +
          'holds one gets a deed that says so. Rotate first: without another key, outcomes wait unsealed.',
      )
      .argument('<kid>', 'as `npm run ags -- seal-keys list` shows it', kidArgument)
      .option('--reason <text>', REASON_HELP)
      .option('--json', 'one JSON object')
      .action(async (kid: string, { reason, json }: ChangeOptions) => {
        await withDeploymentChange(context, async (deployment) => {
          const sealKeys = deployment.sealKeys();
          const before = (await sealKeys.list()).find((key) => key.kid === kid)?.revokedAt ?? null;
          const revoked = await foundKey(kid, () =>
            sealKeys.revoke(kid, checkedReason(reason ?? null), operatorMetadata(deployment, null)),
          );
          const at = timestampOf(deployment.clock.nowMs());
          if ((await sealKeys.active(at)) === null) {
            context.terminal.err(
              'No seal key is active now, so outcomes wait unsealed. Run `npm run ags -- seal-keys rotate`.\n',
            );
          }
          const view = viewOf(revoked, at);
          present(context.terminal, json === true, {
            objects: [view],
            text:
              before === null
                ? `${kid} is revoked since ${view.revoked_at ?? at}.`
                : `${kid} was revoked already, at ${before}; nothing was changed.`,
          });
        });
      }),
    'npm run ags -- seal-keys revoke 0123456789abcdef0123456789abcdef --reason "Backup lost"',
  );
};

const foundKey = async (kid: string, work: () => Promise<SealKey>): Promise<SealKey> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'not_found') throw error;
    throw notFound(`There is no seal key ${kid}. Run \`npm run ags -- seal-keys list\` to see them.`);
  }
};

const viewOf = (key: SealKey, at: Timestamp) => ({
  object: 'seal_key',
  kid: key.kid,
  alg: 'Ed25519',
  public_key: key.publicKey,
  fingerprint: parsePublicKeyText(key.publicKey).fingerprint,
  status: statusOf(key, at),
  registered_at: key.registeredAt,
  activated_at: key.activatedAt,
  retired_at: key.retiredAt,
  revoked_at: key.revokedAt,
});

/** `retiring`: still valid, until `retired_at`. `registered`: never activated, because no sealer signed with it yet. */
const statusOf = (key: SealKey, at: Timestamp): 'registered' | 'active' | 'retiring' | 'retired' | 'revoked' => {
  if (key.revokedAt !== null) return 'revoked';
  if (key.activatedAt === null) return 'registered';
  if (key.retiredAt === null) return 'active';
  return at < key.retiredAt ? 'retiring' : 'retired';
};
