// What the pages share on which nobody is signed in yet: how a step is made, shown and left, and how the API is asked.
// Nothing is kept in the browser's storage, and a token leaves a page only in the body of a request.

/** How long an answer may take before the page says that there was none. */
const PATIENCE_MS = 30_000;

/** The product's name behind the title of each step. */
const PRODUCT = document.title.slice(document.title.indexOf(' - '));

export const byId = (id) => document.getElementById(id);

/**
 * An element, with what stands in it. Texts become text nodes, so that nothing in them is ever markup.
 * @param attributes true is an attribute without a value, false and undefined none
 */
export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
};

export const button = (id, words, busy, others = {}) =>
  make('button', { id, type: 'button', 'data-busy': busy, ...others }, words);

/** Where it says what is wrong: read out as soon as it does. */
export const problemAt = (id) => make('p', { id, class: 'problem', role: 'alert', tabindex: -1 });

/** A name and what stands beside it. The row has an id of its own where it may be left out. */
export const row = (name, id, value = make('dd', { id })) =>
  make('div', { id: `${id}-row` }, make('dt', {}, name), value);

/** One step of the page; none is seen before it is shown. */
export const step = (id, ...children) => make('section', { id, hidden: true }, ...children);

/** While a link is looked at. */
const checkingStep = (title, words) => step('checking', make('h1', {}, title), make('p', { role: 'status' }, words));

/** The link that did not lead anywhere, and the ways on. */
const failedStep = (checking, signIn) =>
  step(
    'failed',
    make('h1', { id: 'failed-title' }, 'The link cannot be used'),
    problemAt('failed-problem'),
    make(
      'p',
      { class: 'others' },
      button('try-again', 'Try again', checking),
      make('a', { class: 'button', id: 'to-login', href: '/login' }, signIn),
    ),
  );

export const draw = (...steps) => document.querySelector('main').append(...steps);

/** Seconds as a person says them, rounded up: who comes too early is refused again. */
export const waitInWords = (seconds) => {
  const [count, unit] =
    seconds < 60
      ? [Math.ceil(seconds), 'second']
      : seconds <= 3_540
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3_600), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};

/** Names that others chose: nothing that is not seen, and nothing that turns the text around it. */
export const plain = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');

export const failure = (code, message, param = null) => ({ failed: true, code, message, param });

/** Asks the API: its answer, or what went wrong in words that say what to do. */
export const ask = async (path, body) => {
  let response;
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    return failure('unreachable', 'The service did not answer. Check your connection, then try again.');
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  const { code = 'unknown', message, param = null } = answer?.error ?? {};
  return failure(code, messageOf(message, response), param);
};

const messageOf = (message, { status, headers }) => {
  const said = message ? plain(message) : `The service answered with an error (${status}).`;
  const seconds = secondsUntil(headers.get('Retry-After'));
  if (seconds < 2) return message ? said : `${said} Try again in a moment.`;
  // A header says nothing to a person: what it says takes the place of the sentence that names it.
  return `${said.replace(/[^.]*\bRetry-After\b[^.]*\./g, '').trim()} Try again in ${waitInWords(seconds)}.`;
};

/** A proxy may send a date where the service sends seconds. */
const secondsUntil = (header) => {
  if (header === null) return 0;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? seconds : 0;
};

const MAX_PATH_LENGTH = 2_048;

/**
 * Where to go after the sign-in, as a whole address; null unless it is a path of this very site. A second slash or a
 * backslash would begin the name of another host, and browsers drop some control characters before they look.
 */
export const addressOf = (next) => {
  if (typeof next !== 'string' || next.length > MAX_PATH_LENGTH) return null;
  if (!/^\/(?![/\\])[^\\\u0000-\u001f\u007f-\u009f]*$/.test(next)) return null;
  const url = new URL(next, location.origin);
  return url.origin === location.origin ? url.href : null;
};

/** One step of the page is seen at a time. What has the focus afterwards is what a screen reader reads out. */
export const show = (id, focused) => {
  for (const section of document.querySelectorAll('main > section')) section.hidden = section.id !== id;
  document.title = byId(id).querySelector('h1').textContent + PRODUCT;
  focused?.focus();
};

/** Nothing can be pressed twice while the service is asked. */
export const whileBusy = async (pressed, work) => {
  const words = pressed.textContent;
  const buttons = document.querySelectorAll('button');
  for (const each of buttons) each.disabled = true;
  pressed.textContent = pressed.dataset.busy;
  try {
    return await work();
  } finally {
    for (const each of buttons) each.disabled = false;
    pressed.textContent = words;
  }
};

/** Said where it is read out, and the focus goes where it can be mended: to the field, or to the words. */
export const complain = (problem, message, input) => {
  problem.textContent = message;
  input?.setAttribute('aria-invalid', 'true');
  (input ?? problem).focus();
};

export const forget = (problem, input) => {
  problem.textContent = '';
  input?.removeAttribute('aria-invalid');
};

/** A key that is held down presses once: what takes two presses takes two of a person. */
addEventListener('keydown', (event) => {
  const isPress = event.key === 'Enter' || event.key === ' ';
  if (event.repeat && isPress && event.target.closest?.('button')) event.preventDefault();
});

/** Takes the token out of the address, so that no history, screenshot or shared address holds it. */
const takeToken = () => {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  history.replaceState(null, '', location.pathname);
  return token;
};

/**
 * A page that a link of a mail leads to: its token is taken out of the address and looked at, which uses nothing, and looked at
 * again by a press, by another link in the same tab, and when the browser comes back to it.
 * @param link `title`, `checking`, what is said while it is looked at; `again`, the same on the button; `signIn`, the words of
 *   the way on without it; `steps` of the page; `shown`, the step that is looked at again; `over`, the code of a link that is
 *   used up; `failed`, the title of what failed otherwise; `preview`, the route that is asked; `onAnswer`
 * @returns `check` looks at it once more; `use` sends its token
 */
export const openLink = ({ title, checking, again, signIn, steps, shown, over, failed, preview, onAnswer }) => {
  let token = null;
  draw(checkingStep(title, checking), ...steps, failedStep(again, signIn));

  const fail = ({ code, message }) => {
    const isOver = code === over;
    byId('failed-title').textContent = isOver ? 'The link cannot be used' : failed;
    byId('try-again').hidden = isOver;
    show('failed');
    complain(byId('failed-problem'), message, null);
  };

  const check = async () => {
    const asked = token;
    show('checking');
    if (asked === null) {
      return fail(failure(over, 'The link is incomplete. Open it again from the e-mail, or copy the whole link.'));
    }
    const answer = await ask(preview, { token: asked });
    // Another link was opened meanwhile.
    if (asked !== token) return undefined;
    return answer.failed ? fail(answer) : onAnswer(answer);
  };

  /** By a press. @returns the answer; null where the link is over, which is said then */
  const use = async (pressed, path, body) => {
    const answer = await whileBusy(pressed, () => ask(path, { token, ...body }));
    if (!answer.failed || answer.code !== over) return answer;
    fail(answer);
    return null;
  };

  const begin = () => {
    token = takeToken();
    return check();
  };

  byId('try-again').addEventListener('click', () => void check());
  // Never by a reload: the page alone still holds the token.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && !byId(shown).hidden) void check();
  });
  // A second link that is opened in the same tab loads nothing: only the fragment changes.
  addEventListener('hashchange', () => void begin());
  void begin();
  return { check, use };
};
