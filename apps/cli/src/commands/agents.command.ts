import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  type AgentChange,
  type AgentSettings,
  INTENT_MODES,
  type IntentMode,
  type LivingAgent,
  type Money,
} from '#libs/domain/agents';
import { timestampOf, type Timestamp } from '#libs/domain/kernel';
import { isKeyActive } from '#libs/domain/people';
import { agentArgument, idArgument, labelArgument } from '../arguments.js';
import { usage } from '../cli-error.js';
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
import { TEST_KEY_RUNS_TOOLS } from '../test-key.js';

const EVENTS_PER_PROGRESS = 20_000;

const AGENT_HELP = 'its agt_ id, or its name where no other agent has the same';

/** `ags agents`: who may act, and the brake on one of them. */
export const registerAgentsCommands = (program: Command, context: CommandContext): void => {
  const agents = program
    .command('agents')
    .description('Agents: who may act, and the stop of one of them.')
    .summary('list, create, change, stop, suspend and resume agents');
  withExamples(
    agents,
    'npm run ags -- agents list',
    'npm run ags -- agents stop agt_... --reason "Wrong refunds"',
    'npm run ags -- agents resume agt_...',
  );
  registerList(agents, context);
  registerCreate(agents, context);
  registerSet(agents, context);
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
      .option(
        '--live',
        'make a live key; otherwise a test key, which marks its calls as test and runs them all the same',
      )
      .option('--json', 'one JSON object')
      .action(async (name: string, { org: wanted, label: labels = {}, live, json }: CreateOptions) =>
        withChange(context, json === true, async (administration) => {
          const { org, owner } = await administration.census.organization(wanted);
          const made = await administration.execute(
            ({ RegisterAgent }) => new RegisterAgent(org, { name, labels, owner }, administration.metadata(org)),
          );
          const { agent: id } = made.agent;
          const { secret } = await administration.execute(
            ({ CreateAgentKey }) =>
              new CreateAgentKey(org, id, { livemode: live === true }, administration.metadata(org)),
          );
          const agent = await administration.census.agent(id, org);
          const view = { ...viewOf(agent, agent.createdAt), agent_key: secret, deed: made.deed };
          const text = facts([
            ['agent', view.id],
            ['name', view.name],
            ['agent key', secret ?? ''],
          ]);
          const said = live === true ? '' : `\n${TEST_KEY_RUNS_TOOLS}`;
          return { objects: [view], text: `${text}\n\nThe key is shown once: only a hash of it is kept.${said}` };
        }),
      ),
    'npm run ags -- agents create support-bot',
    'npm run ags -- agents create support-bot --label team=support --live',
  );
};

interface SetOptions extends JsonOption {
  readonly label?: Readonly<Record<string, string>>;
  readonly labels: boolean;
  readonly callsPerDay?: number | typeof NO_BUDGET;
  readonly spendPerDay?: Money | typeof NO_BUDGET;
  readonly intentMode?: IntentMode;
}

const registerSet = (agents: Command, context: CommandContext): void => {
  withExamples(
    agents
      .command('set')
      .description(
        'Changes what is said of an agent: labels, budgets for a day, whether it must sign. What is not named stays; each ' +
          'thing that changes is sealed by a deed of its own.',
      )
      .summary('change labels, budgets and intent mode')
      .argument('<agent>', AGENT_HELP, agentArgument)
      .option('--label <name=value>', 'may be repeated: all labels it has from now on', labelArgument)
      .option('--no-labels', 'takes all labels away')
      .option('--calls-per-day <number>', `calls of a day, or ${NO_BUDGET}`, callsArgument)
      .option('--spend-per-day <money>', `such as 5000eur, in the smallest unit, or ${NO_BUDGET}`, moneyArgument)
      .addOption(new Option('--intent-mode <mode>', 'what becomes of its signed intents').choices(INTENT_MODES))
      .option('--json', 'one JSON object')
      .action(async (named: string, { json, ...options }: SetOptions) =>
        withChange(context, json === true, async (administration) => {
          const { org, agent: id } = await administration.census.agent(named, undefined);
          const metadata = administration.metadata(org);
          const change = await administration.execute(
            ({ ChangeAgent }) => new ChangeAgent(org, id, settingsOf(options), metadata),
          );
          const { deed, deeds } = change;
          const view = { ...viewOf(change.agent, metadata.now), deed, deeds };
          const text =
            deed === null
              ? `${view.id} is so already; nothing changed.`
              : `${view.id} is changed. Deed ${deeds.join(', ')}.`;
          return { objects: [view], text };
        }),
      ),
    'npm run ags -- agents set agt_... --label team=support --calls-per-day 1000',
    'npm run ags -- agents set agt_... --spend-per-day 5000eur --intent-mode optional',
  );
};

/** Not null, which commander makes an empty text of. */
const NO_BUDGET = 'none';

/** Whether it is a budget is the domain's to judge: here only its form is read. */
const callsArgument = (text: string): number | typeof NO_BUDGET => {
  if (text === NO_BUDGET) return text;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`A whole number of calls is expected, or ${NO_BUDGET}.`);
};

const moneyArgument = (text: string): Money | typeof NO_BUDGET => {
  if (text === NO_BUDGET) return text;
  const [, amount, currency] = /^(\d{1,15})([a-z]{3})$/.exec(text) ?? [];
  if (amount !== undefined && currency !== undefined) return { amount: Number(amount), currency };
  throw new InvalidArgumentError(
    `An amount in the smallest unit and its currency is expected, such as 5000eur, or ${NO_BUDGET}.`,
  );
};

const settingsOf = ({ label, labels, callsPerDay, spendPerDay, intentMode }: SetOptions): AgentSettings => {
  if (label !== undefined && !labels) throw usage('Give --label or --no-labels, not both.');
  const wanted = labels ? label : {};
  return {
    ...(intentMode === undefined ? {} : { intentMode }),
    ...(wanted === undefined ? {} : { labels: wanted }),
    budgets: {
      ...(callsPerDay === undefined ? {} : { calls_per_day: callsPerDay === NO_BUDGET ? null : callsPerDay }),
      ...(spendPerDay === undefined ? {} : { spend_per_day: spendPerDay === NO_BUDGET ? null : spendPerDay }),
    },
  };
};

const CHANGES = {
  stop: {
    command: 'StopAgent',
    description:
      'Stops an agent. It holds for every call that starts after this command answered, also in a service that is ' +
      'running; its attempts are refused with agent_stopped, recorded and sealed.',
  },
  suspend: {
    command: 'SuspendAgent',
    description:
      'Suspends an agent: refused like a stopped one, with agent_suspended. Only a resume of this agent lifts it; ' +
      'starting all agents of the organization does not.',
  },
  resume: { command: 'ResumeAgent', description: 'Lets a stopped or suspended agent work again.' },
} as const;

const changeCommand = (agents: Command, context: CommandContext, verb: keyof typeof CHANGES): Command =>
  agents
    .command(verb)
    .description(CHANGES[verb].description)
    .argument('<agent>', AGENT_HELP, agentArgument)
    .option('--reason <text>', REASON_HELP)
    .option('--json', 'one JSON object')
    .action(async (named: string, { reason, json }: ChangeOptions) =>
      withChange(context, json === true, async (administration) => {
        const { org, agent: id } = await administration.census.agent(named, undefined);
        const change = await administration.execute((commands) => {
          const Change = commands[CHANGES[verb].command];
          return new Change(org, id, reason ?? null, administration.metadata(org));
        });
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
  status_reason: agent.statusReason,
  labels: agent.labels,
  owner: agent.owner,
  intent_mode: agent.intentMode,
  budgets: agent.budgets,
  active_keys: [...agent.keys.values()].filter((key) => isKeyActive(key, at)).length,
  intent_keys: agent.intentKeys.length,
  created_at: agent.createdAt,
});
