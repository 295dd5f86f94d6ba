import type { Command } from 'commander';
import type { Digest } from '#libs/crypto';
import { operatorMetadata, type OrgId } from '#libs/domain/kernel';
import type { WitnessPolicy, WitnessStanding } from '#libs/domain/ledger';
import type { CheckpointParts, Deployment } from '#libs/infra/deployment';
import { fileArgument, idArgument } from '../arguments.js';
import { Census } from '../census.js';
import {
  withDeployment,
  withDeploymentChange,
  withExamples,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import { readInput } from '../input-file.js';
import { present, type Answer } from '../terminal.js';

const MAX_POLICY_BYTES = 64 * 1024;

/** `ags ledger witnesses`: who cosigns the checkpoints of an organization, as the policy file that `verify` takes. */
export const registerLedgerWitnesses = (ledger: Command, context: CommandContext): void => {
  const witnesses = ledger
    .command('witnesses')
    .description('Who cosigns the checkpoints of an organization: a policy file (c2sp.org/tlog-policy).');
  withExamples(
    witnesses,
    'npm run ags -- ledger witnesses get > policy.txt',
    'npm run ags -- ledger witnesses set policy.txt',
  );
  withExamples(
    witnesses
      .command('get')
      .description('Prints the policy, and in comments how each witness stands. What it prints, `set` takes.')
      .option('--org <id>', 'which one; needed when there are several', idArgument('org'))
      .option('--json', 'one JSON object')
      .action(async ({ org: wanted, json }: OrgOption & JsonOption) =>
        withDeployment(context, async (deployment) => {
          const { org, parts } = await opened(deployment, wanted);
          present(context.terminal, json === true, await answerOf(org, parts, await parts.policies.of(org)));
        }),
      ),
    'npm run ags -- ledger witnesses get',
  );
  withExamples(
    witnesses
      .command('set')
      .description(
        'Replaces the policy by that of a file, or of standard input. Each difference is sealed. The file has one group over ' +
          'all witnesses, each with its URL.',
      )
      .argument('<file>', 'the policy file, or - for standard input', fileArgument)
      .option('--org <id>', 'which one; needed when there are several', idArgument('org'))
      .option('--json', 'one JSON object')
      .action(async (file: string, { org: wanted, json }: OrgOption & JsonOption) => {
        const { witnessPolicyOfText } = await import('#libs/domain/ledger');
        const policy = witnessPolicyOfText(await readInput(file, MAX_POLICY_BYTES));
        return withDeploymentChange(context, async (deployment) => {
          const { org, parts } = await opened(deployment, wanted);
          const replaced = await parts.policies.replace(org, policy, operatorMetadata(deployment, org));
          present(context.terminal, json === true, await answerOf(org, parts, replaced));
        });
      }),
    'npm run ags -- ledger witnesses set policy.txt',
  );
};

const answerOf = async (org: OrgId, parts: CheckpointParts, policy: WitnessPolicy): Promise<Answer> => {
  const { textOfWitnessPolicy } = await import('#libs/domain/ledger');
  const { origin } = await parts.journal.tail(org);
  const known = origin === null ? NOBODY : await parts.standings.of(org, origin);
  const { quorum, witnesses } = policy;
  const seen = witnesses.map(({ witness, name, vkey, url }) => ({ name, vkey, url, ...sightOf(known.get(witness)) }));
  const comments = seen.map(({ name, state, size, detail }) => {
    const cosigned = size === null ? '' : `, ${size} deeds cosigned`;
    return `# ${name}: ${state}${cosigned}${detail === null ? '' : `. ${detail}`}\n`;
  });
  return {
    objects: [{ object: 'witness_policy', org, quorum, witnesses: seen }],
    text: `${comments.join('')}${textOfWitnessPolicy(policy)}`.trimEnd(),
  };
};

const NOBODY: ReadonlyMap<Digest, WitnessStanding> = new Map();

const sightOf = (standing: WitnessStanding | undefined) => ({
  state: standing?.result ?? 'never_asked',
  size: standing === undefined || standing.size === 0 ? null : standing.size,
  detail: standing?.detail ?? null,
});

const opened = async (
  deployment: Deployment,
  wanted: OrgId | undefined,
): Promise<{ readonly org: OrgId; readonly parts: CheckpointParts }> => {
  const { checkpointsOf } = await import('#libs/infra/deployment');
  const { database, streams, directory } = deployment;
  const { org } = await new Census(database.store, streams, directory).organization(wanted);
  return { org, parts: checkpointsOf(deployment) };
};
