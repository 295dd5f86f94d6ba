import type { Command } from 'commander';
import type { AgentChange, LivingAgent } from '#libs/domain/agents';
import { timestampOf, type AgentId, type Timestamp } from '#libs/domain/kernel';
import { isKeyActive } from '#libs/domain/people';
import { idArgument, labelArgument } from '../arguments.js';
import {
  REASON_HELP,
  withAdministration,
  withChange,
  withExamples,
  type ChangeOptions,
  type CommandContext,
  type JsonOption,
  type OrgOption,
} from '../command-context.js';
import { refuseInterrupted } from '../interruption.js';
import { facts, ProgressLine, table, type Answer } from '../terminal.js';

const EVENTS_PER_PROGRESS = 20_000;

/** `ags agents`: who may act, and the brake on one of them. */
export const registerAgentsCommands = (program: Command, context: CommandContext): void => {
  const agents = program
    .command('agents')
    .description('Agents: who may act, and the stop of one of them.')
    .summary('list, create, stop, suspend and resume agents');
  withExamples(
    agents,
    'npm run ags -- agents list',
    'npm run ags -- agents stop agt_... --reason "Wrong refunds"',
    'npm run ags -- agents resume agt_...',
  );
  registerList(agents, context);
  registerCreate(agents, context);
  withExamples(changeCommand(agents, context, 'stop'), 'npm run ags -- agents stop agt_... --reason "Wrong refunds"');
  withExamples(
    changeCommand(agents, context, 'suspend'),
    'npm run ags -- agents suspend agt_... --reason "Contract ended"',
  );
  withExamples(changeCommand(agents, context, 'resume'), 'npm run ags -- agents resume agt_...');
};

const registerList = (agents: Command, context: CommandContext): void => {
  withExamples(
    agents
      .command('list')
      .description('Lists agents, oldest first. Reads the whole log, which takes a while when it is long.')
      .option('--org <id>', 'only of this organization', idArgument('org'))
      .option('--json', 'one JSON object a line')
      .action(async ({ org, json }: OrgOption & JsonOption) =>
        withAdministration(context, json === true, async ({ census, clock }, interrupted) => {
          const progress = new ProgressLine(context.terminal);
          const reading = census.agents((events) => {
            refuseInterrupted(interrupted, 'It was interrupted before it had read the log.');
            if (events % EVENTS_PER_PROGRESS === 0)
              progress.show(`Reading the log: ${events.toLocaleString('en')} events`);
          });
          const all = await reading.finally(() => progress.clear());
          return listed(
            all.filter((agent) => org === undefined || agent.org === org),
            timestampOf(clock.nowMs()),
          );
        }),
      ),
    'npm run ags -- agents list',
    'npm run --silent ags -- agents list --json',
  );
};

const listed = (agents: readonly LivingAgent[], at: Timestamp): Answer => {
  const views = agents.map((agent) => viewOf(agent, at));
  const rows = views.map((view) => [view.id, view.name, view.status, String(view.active_keys), view.created_at]);
  const text = rows.length > 0 ? table(['AGENT', 'NAME', 'STATUS', 'KEYS', 'CREATED'], rows) : 'No agents yet.';
  return { objects: views, text };
};

interface CreateOptions extends OrgOption, JsonOption {
  readonly label?: Readonly<Record<string, string>>;
  readonly live?: true;
}

const registerCreate = (agents: Command, context: CommandContext): void => {
  withExamples(
    agents
      .command('create')
      .description('Makes an agent and its first key, of all agent scopes, whose secret is shown once.')
      .argument('<name>', '1 to 120 characters; never changes')
      .option('--org <id>', 'whose; needed when there are several organizations', idArgument('org'))
      .option('--label <name=value>', 'may be repeated; policies match on labels', labelArgument)
      .option('--live', 'make a live key; a test key otherwise')
      .option('--json', 'one JSON object')
      .action(async (name: string, { org: wanted, label: labels = {}, live, json }: CreateOptions) =>
        withChange(context, json === true, async (administration) => {
          const { org, owner } = await administration.census.organization(wanted);
          const agents = administration.agents();
          const made = await agents.register(org, { name, labels, owner }, administration.metadata(org));
          const { agent: id } = made.agent;
          const { secret } = await agents.createKey(org, id, { livemode: live === true }, administration.metadata(org));
          const agent = await administration.census.agent(id, org);
          const view = { ...viewOf(agent, agent.createdAt), agent_key: secret, deed: made.deed };
          const text = facts([
            ['agent', view.id],
            ['name', view.name],
            ['agent key', secret ?? ''],
          ]);
          return { objects: [view], text: `${text}\n\nThe key is shown once: only a hash of it is kept.` };
        }),
      ),
    'npm run ags -- agents create support-bot',
    'npm run ags -- agents create support-bot --label team=support --live',
  );
};

const CHANGES = {
  stop:
    'Stops an agent. It holds for every call that starts after this command answered, also in a service that is ' +
    'running; its attempts are refused with agent_stopped, recorded and sealed.',
  suspend:
    'Suspends an agent: refused like a stopped one, with agent_suspended. Only a resume of this agent lifts it; ' +
    'starting all agents of the organization does not.',
  resume: 'Lets a stopped or suspended agent work again.',
} as const;

const changeCommand = (agents: Command, context: CommandContext, verb: keyof typeof CHANGES): Command =>
  agents
    .command(verb)
    .description(CHANGES[verb])
    .argument('<agent>', 'agt_ id', idArgument('agt'))
    .option('--reason <text>', REASON_HELP)
    .option('--json', 'one JSON object')
    .action(async (id: AgentId, { reason, json }: ChangeOptions) =>
      withChange(context, json === true, async (administration) => {
        const { org } = await administration.census.agent(id, undefined);
        const change = await administration.agents()[verb](org, id, reason ?? null, administration.metadata(org));
        return changed(change, timestampOf(administration.clock.nowMs()));
      }),
    );

const changed = ({ agent, deed }: AgentChange, at: Timestamp): Answer => {
  const view = { ...viewOf(agent, at), deed };
  const text =
    deed === null
      ? `${view.id} is ${view.status} already; nothing changed.`
      : `${view.id} is now ${view.status}. Deed ${deed}.`;
  return { objects: [view], text };
};

const viewOf = (agent: LivingAgent, at: Timestamp) => ({
  object: 'agent',
  id: agent.agent,
  org: agent.org,
  name: agent.name,
  status: agent.status,
  labels: agent.labels,
  owner: agent.owner,
  intent_mode: agent.intentMode,
  active_keys: [...agent.keys.values()].filter((key) => isKeyActive(key, at)).length,
  created_at: agent.createdAt,
});
