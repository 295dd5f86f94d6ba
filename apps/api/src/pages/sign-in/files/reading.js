// What an agent has said, as text of which nothing is hidden, and whether all of it was on the screen of who decides.
import { byId, make, plain } from './page.js';

/** Controls, format and direction marks, private and unassigned code points, and letters that are drawn as nothing. */
const HIDDEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\u3164\u115f\u1160\uffa0]/u;
const LAYOUT = new Set(['\n', '\t']);
/** Letters that would turn round the numbers beside them. */
const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}|[\u07c0-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Each piece is an element of the page, and a page of a hundred thousand no longer answers. */
const MAX_PIECES = 500;

/** `U+202E` for the mark that turns the direction of text; how often, where it stands many times in a row. */
const markOf = ({ text, count }) => {
  const mark = `U+${text.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  return count === 1 ? mark : `${mark} × ${count.toLocaleString('en-US')}`;
};

const mannerOf = (character, isValue) => {
  if (HIDDEN.test(character) && !(isValue && LAYOUT.has(character))) return 'hidden';
  return isValue && RIGHT_TO_LEFT.test(character) ? 'turned' : 'shown';
};

/** Runs of one manner; of hidden characters, of the same one. As in the Console: apps/console/src/kernel/said.ts. */
const piecesOf = (said, isValue) => {
  const pieces = [];
  for (const text of said) {
    const manner = mannerOf(text, isValue);
    const last = pieces.at(-1);
    if (last?.manner !== manner || (manner === 'hidden' && last.text !== text)) pieces.push({ manner, text, count: 1 });
    else if (manner === 'hidden') last.count += 1;
    else last.text += text;
  }
  return pieces;
};

const nodeOf = (piece) => {
  if (piece.manner === 'hidden') return make('mark', {}, markOf(piece));
  return piece.manner === 'turned' ? make('span', { class: 'turned' }, piece.text) : piece.text;
};

const spelled = (piece) => (piece.manner === 'hidden' ? `<${markOf(piece)}>` : piece.text);

/**
 * Puts a text there as text nodes, so that nothing in it is ever markup, and everything in it is seen.
 * @param isValue its line breaks are kept, and it reads from left to right, as it is sent
 */
export const write = (element, text, isValue = false) => {
  const pieces = piecesOf(String(text), isValue);
  const isSpelled = pieces.length > MAX_PIECES;
  element.classList.toggle('as-sent', isSpelled);
  element.replaceChildren(...(isSpelled ? [pieces.map(spelled).join('')] : pieces.map(nodeOf)));
  return element;
};

/** What a phone shows of one argument without being filled by it. */
const SHOWN_LINES = 12;
const SHOWN_LENGTH = 600;
/** A rest that is shorter stands there, too: a button would take as much room. */
const MIN_REST_LENGTH = 120;

/** Where the part of a text ends that stands there at once; its length where that is all. */
const cutOf = (text) => {
  const lines = text.split('\n', SHOWN_LINES);
  const at = Math.min(lines.join('\n').length, SHOWN_LENGTH);
  if (text.length - at < MIN_REST_LENGTH) return text.length;
  // Never between the two halves of one character.
  return /[\ud800-\udbff]/.test(text[at - 1]) ? at - 1 : at;
};

/** A text, of which what is long is opened by a press. */
const longText = (text, onOpen) => {
  const cut = cutOf(text);
  const all = make('dd', {}, write(make('span'), text.slice(0, cut), true));
  if (cut === text.length) return all;
  const left = text.length - cut;
  const more = make('button', { type: 'button', class: 'plain more' }, `Show the rest: ${left} more characters`);
  more.addEventListener('click', () => {
    const rest = write(make('span', { tabindex: -1 }), text.slice(cut), true);
    const hadFocus = document.activeElement === more;
    more.replaceWith(rest);
    if (hadFocus) rest.focus({ preventScroll: true });
    if (rest.getBoundingClientRect().top < 0) rest.scrollIntoView();
    onOpen();
  });
  all.append(more);
  return all;
};

/** Strings as they are, everything else as JSON. */
export const argumentRow = ([name, value], amounts, onOpen) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
  const amount = amounts.find(({ argument }) => argument === name);
  return make('div', {}, write(make('dt'), name), amount ? amountText(amount, text, onOpen) : longText(text, onOpen));
};

/** Money as people read it, with what is sent; what cannot be read so as it is, with the reason. */
const amountText = ({ display, hint }, text, onOpen) => {
  if (display !== null) return write(make('dd'), `${display}, sent as ${text} in minor units`);
  const all = longText(text, onOpen);
  all.append(write(make('p', { class: 'note' }), `Shown as sent. ${hint}`));
  return all;
};

const rowsOf = (args) => {
  if (args === undefined) return [['removed', 'The arguments are no longer stored, so this call cannot be approved.']];
  const members = Object.entries(args);
  return members.length === 0 ? [['none', '']] : members;
};

/** A press on Read on goes at least as far. */
const MIN_STEP_PX = 120;
/** What was at the bottom stands at the top then. */
const OVERLAP_PX = 72;

/**
 * Shows arguments, and notices when the last of them was on the screen and none is left unopened.
 * @param places `list` of the arguments; `end`, the element below the last; `bar`, which covers what is behind it
 * @param onRead called when all of them were seen
 */
const argumentsIn = ({ list, end, bar }, onRead) => {
  let isRead = false;
  const observer = () =>
    new IntersectionObserver(
      (entries) => {
        if (isRead || list.querySelector('.more') || !entries.some(({ isIntersecting }) => isIntersecting)) return;
        isRead = true;
        onRead();
      },
      { rootMargin: `0px 0px -${Math.ceil(bar.getBoundingClientRect().height)}px 0px` },
    );
  let watching = null;
  /** Begins anew: whoever watches is told once of how things stand. */
  const watch = () => {
    watching?.disconnect();
    watching = observer();
    watching.observe(end);
  };
  return {
    isRead: () => isRead,
    /** They must be on the page already: what covers them is measured. */
    show: (args, amounts) => {
      isRead = false;
      list.replaceChildren(...rowsOf(args).map((member) => argumentRow(member, amounts, watch)));
      watch();
    },
    /** Opens what is long and was reached; else shows the next screen of them. */
    readOn: () => {
      const more = list.querySelector('.more');
      const bottom = bar.getBoundingClientRect().top;
      if (more !== null && more.getBoundingClientRect().bottom <= bottom) return more.click();
      return scrollBy({ top: Math.max(MIN_STEP_PX, bottom - OVERLAP_PX), behavior: 'instant' });
    },
  };
};

/** Who taps twice to read on has not read that the button says Approve by now. */
const SETTLE_MS = 500;

/** What is destroyed stays destroyed; and so may be what nobody has said anything of. */
const isAskedTwice = ({ side_effect: effect }) => effect === 'destructive' || effect === 'unknown';

/**
 * The button that reads on until the last argument was on the screen, asks once more where something may be destroyed, and
 * approves. As in the Console: apps/console/src/approvals/decision.ts.
 */
export const approveButton = (onApprove) => {
  const pressed = byId('approve');
  let [approval, seen, isArmed, does, settling] = [null, null, false, null, 0];
  const render = () => {
    const next = !args.isRead() ? 'read' : isAskedTwice(approval) && !isArmed ? 'arm' : 'approve';
    const what = approval.cost ? ` ${plain(approval.cost.display)}` : '';
    pressed.textContent = next === 'read' ? 'Read on' : isArmed ? `Yes, approve${what}` : `Approve${what}`;
    pressed.dataset.does = isArmed && next === 'approve' ? 'sure' : next;
    byId('once-more').textContent = isArmed ? 'This cannot be undone. Press again to confirm.' : '';
    if (next === does) return;
    does = next;
    clearTimeout(settling);
    pressed.toggleAttribute('aria-disabled', false);
    if (next === 'read') return;
    pressed.setAttribute('aria-disabled', 'true');
    settling = setTimeout(() => pressed.removeAttribute('aria-disabled'), SETTLE_MS);
  };
  const args = argumentsIn({ list: byId('arguments'), end: byId('end'), bar: byId('decision') }, render);
  const press = () => {
    if (pressed.getAttribute('aria-disabled') === 'true') return undefined;
    if (does === 'read') return args.readOn();
    if (does === 'approve') return onApprove();
    isArmed = true;
    return render();
  };
  pressed.addEventListener('click', () => void press());
  return {
    /** What was read stays read, and a first press counts, for exactly this. */
    about: (now) => {
      approval = now;
      if (now.context_digest !== null && now.context_digest === seen) return;
      [seen, isArmed] = [now.context_digest, false];
      args.show(now.context?.args, now.context?.amounts ?? []);
      render();
    },
    digest: () => seen,
  };
};
