import type {
  ActionAccount,
  ActorPart,
  AmendmentPart,
  ApprovalPart,
  AskedPart,
  DecidedPart,
  ExecutionPart,
  IntentPart,
  SignaturePart,
  WitnessPart,
} from './action-account.js';
import type { Given } from './given.js';
import { givenLines, wordsLines } from './given-text.js';
import { block, fact, namedFact, type Page, type Part, type Section } from './page.js';
import { valueLines, visible } from './value-text.js';

/** The account of an action in the order in which it happened. */
export const pageOfAction = (account: ActionAccount): Page => {
  const kind = `${account.livemode ? 'live' : 'test'} call, ${MODES[account.mode]}`;
  return {
    title: `${visible(account.tool)}: ${outcomeOf(account)}`,
    subtitle: `${account.id} · ${kind}`,
    sections: [
      asked(account.asked),
      ...(account.decided === null ? [] : [decided(account.decided)]),
      ...(account.approval === null ? [] : [approved(account.approval)]),
      happened(account.execution),
      ...(account.witness === null ? [] : [witnessed('What the witness says', account.witness)]),
      ...account.amendments.map(amended),
      sealed(account),
    ],
  };
};

const MODES = { gateway: 'run by the service', proxy: 'run by the agent itself' } as const;

const OUTCOMES: Readonly<Record<string, string>> = {
  succeeded: 'it was done',
  failed: 'it failed',
  unknown: 'what came of it is unknown',
};

const outcomeOf = ({ decided: policy, approval, execution }: ActionAccount): string => {
  if (execution !== null) return OUTCOMES[execution.status] ?? execution.status;
  if (approval !== null && approval.status !== 'approved') return `not done, its approval was ${approval.status}`;
  return policy?.outcome === 'deny' ? 'refused' : 'not done';
};

const given = (label: string, value: Given | null): Part[] => block(label, value === null ? null : givenLines(value));

export const actorFact = (label: string, { type, who }: ActorPart): Part[] => {
  const kind = type.replace('_', ' ');
  return who === null ? fact(label, `the ${kind}`) : namedFact(label, who, `${kind} `);
};

const asked = (part: AskedPart): Section => ({
  heading: 'Who asked, and for what',
  parts: [
    ...fact('at', part.at),
    ...(part.agent === null ? actorFact('by', part.actor) : namedFact('agent', part.agent)),
    ...namedFact('with the key', part.key),
    ...fact('on behalf of', part.on_behalf_of ?? 'not stated'),
    ...fact('session', part.session),
    ...namedFact('connector', part.connector),
    ...fact('configured by', configText(part)),
    ...fact('tool digest', part.tool_digest),
    ...given('arguments', part.arguments),
    ...(part.intent === null
      ? fact('signed intent', 'none: who sent the call is the word of the service')
      : intended(part.intent)),
  ],
});

/** What a call sends beside its arguments stands in the configuration, which the page of that change shows. */
const configText = ({ connector, connector_config: config }: AskedPart): string | null => {
  if (connector === null) return null;
  if (config === null) return 'a change that is not in this bundle: ask for an export without from';
  const place = `the change of seq ${config.seq}, ${config.deed}`;
  return config.isSure ? place : `${place}, if it changed that: its data are not in this bundle`;
};

const intended = (intent: IntentPart): Part[] => [
  ...fact('signed intent', intent.hash),
  ...fact('signed by the agent', intentText(intent)),
  ...given('what the agent signed', intent.document),
];

const intentText = ({ checked, document }: IntentPart): string => {
  if (checked) return 'yes: by a key that the agent had then, over this tool and these arguments';
  return 'value' in document
    ? 'not checked: the change that registered its key, or the arguments, are not in this bundle'
    : 'not checked: what it signed is not in this bundle';
};

const SOURCES: Readonly<Record<string, string>> = {
  rule: 'a rule of the policy',
  default: 'the default of the policy: no rule matched',
  budget: 'a budget of the agent',
  stop: 'the Stop',
  builtin: 'a rule of the service itself',
};

const decided = (part: DecidedPart): Section => ({
  heading: 'What was decided, by which rule',
  parts: [
    ...fact('at', part.at),
    ...fact('outcome', part.outcome),
    ...fact('by', SOURCES[part.source] ?? part.source),
    ...fact('rule', part.rule),
    ...namedFact('policy', part.policy, '', versionText(part)),
    ...fact('reason', part.reason === null ? null : visible(part.reason)),
    ...fact('told to the agent', part.message === null ? null : visible(part.message)),
    ...fact('code', part.code),
    ...given(asItStood(part), part.policy_text),
    ...(part.input !== null && 'absent' in part.input ? given('what the policy was asked', part.input) : []),
    ...block('what the policy was told of the request', part.request === null ? null : valueLines(part.request)),
  ],
});

const asItStood = ({ policy_text_proven: isProven }: DecidedPart): string =>
  `the policy as it stood${isProven ? '' : ' (the word of the service: no change whose data are in this bundle says so)'}`;

const versionText = ({ version }: DecidedPart): string => {
  if (version === null) return '';
  return `, ${version.number === null ? '' : `version ${version.number}, `}${version.id}`;
};

const approved = (part: ApprovalPart): Section => {
  const { decided_by: by, signatures } = part;
  // The last of the signatures that let it run ended it, and stands among them. A no is a word of its own, whoever signed before.
  const isShown = part.status === 'approved' && signatures.some(({ who }) => who.id === by?.who?.id);
  return {
    heading: `Who allowed it: ${part.status}, ${signatures.length} of ${part.required} signed`,
    parts: [
      ...fact('approval', part.id),
      ...fact('ended at', part.decided_at),
      ...fact('would end at', part.expires_at),
      ...signatures.flatMap(signed),
      ...(by === null || isShown
        ? []
        : [
            ...actorFact(part.status === 'denied' ? 'denied by' : 'ended by', by),
            ...block('reason', by.reason === null ? null : wordsLines(by.reason)),
            ...fact('with a passkey', by.passkey === null ? null : passkeyText(by.passkey, by.passkey_checked)),
          ]),
      ...(signatures.length === 0 ? given('what there was to see', part.shown) : []),
    ],
  };
};

const passkeyText = (passkey: Given, isChecked: boolean): string => {
  if (isChecked) return 'yes: it signed this decision of this person, on what is shown here';
  return 'value' in passkey
    ? 'an answer of a device is here, and what to check it with is not in this bundle'
    : 'an answer of a device is sealed, and is not in this bundle';
};

const signed = ({ who, at, reason, saw, passkey, passkey_checked }: SignaturePart): Part[] => [
  ...namedFact('signed by', who),
  ...fact('at', at),
  ...fact(
    'with a passkey',
    passkey === null ? 'no: that this person signed is the word of the service' : passkeyText(passkey, passkey_checked),
  ),
  ...(reason === null ? fact('reason', 'none given') : block('reason', wordsLines(reason))),
  ...given('what this person saw', saw),
];

const happened = (execution: ExecutionPart | null): Section =>
  execution === null
    ? { heading: 'What was done', parts: fact('execution', 'none: nothing was sent') }
    : { heading: 'What was done, and what came back', parts: executed(execution) };

const executed = (part: ExecutionPart): Part[] => [
  ...fact('status', part.status),
  ...fact('attempts', String(part.attempts)),
  ...fact('first sent at', part.first_sent_at),
  ...fact('last begun at', part.started_at),
  ...fact('ended at', part.finished_at),
  ...fact('error', part.error_code),
  ...block('error message', part.message === null ? null : wordsLines(part.message)),
  ...given('what came back', part.result),
];

const witnessed = (heading: string, part: WitnessPart): Section => ({
  heading: `${heading}: ${part.verdict} (${part.level})`,
  parts: [
    ...fact('method', part.method),
    ...fact('reasons', part.reasons.join(', ')),
    ...given('what it saw', part.evidence),
  ],
});

const amended = (part: AmendmentPart): Section => {
  const witness = part.witness === null ? null : witnessed('', part.witness);
  return {
    heading: `Amended at ${part.issued_at}${witness?.heading ?? ''}`,
    parts: [
      ...fact('deed', `seq ${part.seq}, ${part.id}`),
      ...actorFact('by', part.actor),
      ...(part.execution === null ? [] : executed(part.execution)),
      ...(witness?.parts ?? []),
    ],
  };
};

const sealed = ({ deeds, cost }: ActionAccount): Section => ({
  heading: 'Where it is sealed',
  parts: [
    ...fact('cost', cost === null ? null : `${cost.amount} minor units of ${cost.currency}`),
    ...deeds.flatMap(({ id, seq, issued_at }) => fact(`seq ${seq}`, `${id}, issued at ${issued_at}`)),
  ],
});
