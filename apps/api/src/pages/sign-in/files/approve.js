// GET /auth/approve#token=…: what an agent asks for; then, by a press and nothing else, a yes or a no. All that agents and
// tools have said is shown as text, with a mark in the place of each character that could not be seen.
import { ask, byId, complain, failure, forget, show, takeToken, whenShownAgain, whileBusy } from './auth.js';

/** Controls, format and direction marks, private and unassigned code points, and letters that are drawn as nothing. */
const HIDDEN = /([\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\u3164\u115f\u1160\uffa0])/gu;
const LAYOUT = new Set(['\n', '\t']);

/** `U+202E` for the mark that turns the direction of text. */
export const codePointOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Puts a text there as text nodes, so that nothing in it is ever markup, and everything in it is seen. */
const write = (element, text, isLayoutKept = false) => {
  const parts = String(text).split(HIDDEN);
  const nodes = parts.map((part, index) => {
    if (index % 2 === 0 || (isLayoutKept && LAYOUT.has(part))) return document.createTextNode(part);
    const mark = document.createElement('mark');
    mark.className = 'code-point';
    mark.textContent = codePointOf(part);
    return mark;
  });
  element.replaceChildren(...nodes);
};

const writeRow = (name, text) => {
  byId(`${name}-row`).hidden = text === null || text === undefined;
  write(byId(name), text ?? '');
};

const EFFECTS = {
  read: 'Reads, and changes nothing',
  write: 'Changes something',
  destructive: 'Destroys something',
  unknown: 'Nobody has said what it changes',
};

const ENDED = {
  approved: ['Approved', 'The call was approved.'],
  denied: ['Denied', 'The call was denied, and nothing was run.'],
  expired: ['Too late', 'Nobody decided in time, and nothing was run.'],
  cancelled: ['Cancelled', 'The call was cancelled, and nothing was run.'],
};

/** Refusals after which nobody can decide any more. */
const OVER = {
  approval_decided: ['Decided already', 'Somebody else was first: it was decided meanwhile. The Console shows how.'],
  approval_expired: ENDED.expired,
};

const WHY_NOT = {
  self_approval: 'The call runs on your behalf, so another person must approve it. You may deny it.',
  already_countersigned: 'You have approved it already; another person must approve it, too. You may still deny it.',
  approver_not_eligible: 'You are not, or no longer, among those who may decide this.',
};

/** As the mail says it, wherever it is read. */
const minuteOf = (timestamp) => `${timestamp.slice(0, 16).replace('T', ' ')} UTC`;

const showEnd = ({ status, countersigned, required }) => {
  const isSigned = status === 'pending';
  const [title, words] = isSigned
    ? ['You approved it', `${countersigned} of ${required} people have approved it. It waits for the others.`]
    : ENDED[status];
  showOver(title, words);
};

const showOver = (title, words) => {
  byId('decided-title').textContent = title;
  byId('decided-words').textContent = words;
  show('decided', byId('decided-title'));
};

const showWarnings = ({ warnings = [], context }) => {
  const changed = context?.changed ?? [];
  const said = warnings.map(({ text }) => text);
  if (changed.length > 0) said.push(`It is no longer what was asked at first. Changed: ${changed.join(', ')}.`);
  byId('warnings').hidden = said.length === 0;
  byId('warnings').replaceChildren(
    ...said.map((text) => {
      const item = document.createElement('li');
      write(item, text);
      return item;
    }),
  );
};

const showCall = ({ context, agent, tool, side_effect: effect, on_behalf_of: behalf }) => {
  write(byId('tool'), context?.tool.name ?? tool);
  writeRow('description', context?.tool.description);
  byId('effect').textContent = EFFECTS[context?.tool.side_effect ?? effect] ?? '';
  write(byId('agent'), agent.name);
  writeRow('behalf', behalf);
  const args =
    context === null ? 'They are no longer stored, so nobody can approve them.' : JSON.stringify(context.args, null, 2);
  write(byId('arguments'), args, true);
  const sends = context?.sends ?? null;
  byId('request-part').hidden = sends === null;
  write(byId('request'), sends === null ? '' : JSON.stringify(sends, null, 2), true);
};

/** What this person may press, and why not the rest. */
const showChoices = ({ approvable, blocked_by: obstacle, you }, decides) => {
  const mayApprove = decides && approvable && you.eligible;
  const mayDeny = decides && you.may_deny;
  byId('approve').hidden = !mayApprove;
  byId('deny').hidden = !mayDeny;
  byId('decision').hidden = !mayApprove && !mayDeny;
  const whyNot = you.why_not === null ? obstacle?.message : (WHY_NOT[you.why_not] ?? 'You cannot decide this.');
  const words = decides
    ? mayApprove
      ? ''
      : (whyNot ?? '')
    : 'Your organization decides approvals in the Console. Sign in there to decide.';
  write(byId('note'), words);
  byId('note').hidden = words === '';
};

const showWaiting = ({ approval, decides }) => {
  if (approval.status !== 'pending') return showEnd(approval);
  showWarnings(approval);
  showCall(approval);
  byId('rule').textContent = approval.rule_id ?? 'the default of the policy';
  byId('count').textContent = `${approval.countersigned} of ${approval.required}`;
  byId('until').dateTime = approval.expires_at;
  byId('until').textContent = minuteOf(approval.expires_at);
  showChoices(approval, decides);
  return show('waiting', byId('waiting-title'));
};

const approval = () => {
  let token = null;
  let seen = null;

  const fail = ({ code, message }) => {
    const isOver = code === 'approval_link_invalid';
    byId('failed-title').textContent = isOver ? 'The link cannot be used' : 'The approval could not be shown';
    byId('try-again').hidden = isOver;
    show('failed');
    complain(byId('failed-problem'), message, null);
  };

  const check = async () => {
    const asked = token;
    show('checking');
    if (asked === null) {
      return fail(
        failure('approval_link_invalid', 'The link is not complete. Open it again from the e-mail, or copy all of it.'),
      );
    }
    const answer = await ask('/v1/approvals/link/preview', { token: asked });
    // Another link was opened meanwhile.
    if (asked !== token) return undefined;
    if (answer.failed) return fail(answer);
    seen = answer.approval.context_digest;
    return showWaiting(answer);
  };

  const begin = () => {
    token = takeToken();
    forget(byId('problem'), null);
    return check();
  };

  const decide = async (decision) => {
    forget(byId('problem'), null);
    const reason = byId('reason').value.trim();
    const body = { token, decision, context_digest: seen, ...(reason === '' ? {} : { reason }) };
    const answer = await whileBusy(byId(decision), () => ask('/v1/approvals/link/decide', body));
    if (!answer.failed) return showEnd(answer);
    if (answer.code === 'approval_link_invalid') return fail(answer);
    // The link is used up by it, so nothing can be looked at again: the answer itself says what became of it.
    if (Object.hasOwn(OVER, answer.code)) return showOver(...OVER[answer.code]);
    // What it says now is shown, and the person looks again before pressing again.
    if (answer.code === 'context_changed') await check();
    return complain(byId('problem'), answer.message, null);
  };

  // Enter in the field of the reason decides nothing: only a press of a button does.
  byId('decision').addEventListener('submit', (event) => event.preventDefault());
  byId('approve').addEventListener('click', () => void decide('approve'));
  byId('deny').addEventListener('click', () => void decide('deny'));
  byId('try-again').addEventListener('click', () => void check());
  whenShownAgain('waiting', () => void check());
  addEventListener('hashchange', () => void begin());
  void begin();
};

approval();
