import { type BundleVerdict, type ChainHead, isDigest } from '#libs/crypto';
import {
  type DeedRow,
  hasUnprovenNames,
  isReadable,
  type Page,
  pageOfVerdict,
  UNPROVEN_NAMES,
  visible,
  whoText,
} from '#libs/evidence';
import type { Answer, Question } from './messages.js';

const ROWS_SHOWN = 200;

const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name);
  made.append(...content);
  return made;
};

const held = <Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind => {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${id}`);
  return found;
};

const linesOf = ({ value }: HTMLTextAreaElement): readonly string[] => value.split(/\s+/).filter((line) => line !== '');

const headIn = (text: string): ChainHead => {
  const [seq = '', ...hash] = text.split(':');
  const body_hash = hash.join(':');
  if (/^[1-9]\d{0,15}$/.test(seq) && isDigest(body_hash)) return { seq: Number(seq), body_hash };
  throw new TypeError(`${text} is not the seq of a deed, a colon, and its hash.`);
};

/** A page of libs/evidence, by text alone: nothing that stands in a bundle becomes markup. */
const elementsOf = (page: Page): readonly Node[] => [
  element('h2', page.title),
  ...(page.subtitle === '' ? [] : [element('p', page.subtitle)]),
  ...page.sections.map(({ heading, parts }) => {
    const list = element('dl');
    for (const part of parts) {
      const value = part.part === 'fact' ? part.value : element('pre', part.lines.join('\n'));
      list.append(element('dt', part.label), element('dd', value));
    }
    return element('section', ...(heading === '' ? [] : [element('h3', heading)]), list);
  }),
  ...(hasUnprovenNames(page) ? [element('p', UNPROVEN_NAMES)] : []),
];

/** A thread of the script that the page itself runs. */
const startJudge = (script: string): Worker => {
  const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const judge = new Worker(address);
  URL.revokeObjectURL(address);
  return judge;
};

class VerifierPage {
  private readonly form = held('given', HTMLFormElement);
  private readonly file = held('bundle', HTMLInputElement);
  private readonly org = held('org', HTMLInputElement);
  private readonly pins = held('pins', HTMLTextAreaElement);
  private readonly keys = held('keys', HTMLInputElement);
  private readonly heads = held('heads', HTMLTextAreaElement);
  private readonly checkpointKeys = held('checkpoint-keys', HTMLTextAreaElement);
  private readonly policy = held('policy', HTMLInputElement);
  private readonly status = held('status', HTMLElement);
  private readonly verdict = held('verdict', HTMLElement);
  private readonly deeds = held('deeds', HTMLElement);
  private readonly search = held('search', HTMLInputElement);
  private readonly rows = held('rows', HTMLTableSectionElement);
  private readonly more = held('more', HTMLElement);
  private readonly account = held('account', HTMLElement);
  private all: readonly DeedRow[] = [];
  private judge: Worker;

  constructor(private readonly script: string) {
    this.judge = this.newJudge();
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      try {
        this.begin();
      } catch (error) {
        this.take({ said: 'failure', message: error instanceof Error ? error.message : String(error) });
      }
    });
    this.search.addEventListener('input', () => this.showRows());
    const drop = document.documentElement;
    drop.addEventListener('dragover', (event) => event.preventDefault());
    drop.addEventListener('drop', (event) => {
      event.preventDefault();
      if (event.dataTransfer !== null && event.dataTransfer.files.length > 0)
        this.file.files = event.dataTransfer.files;
    });
  }

  private newJudge(): Worker {
    const judge = startJudge(this.script);
    judge.addEventListener('message', ({ data }: MessageEvent<Answer>) => this.take(data));
    judge.addEventListener('error', ({ message }) => this.take({ said: 'failure', message }));
    return judge;
  }

  private ask(question: Question): void {
    this.judge.postMessage(question);
  }

  private begin(): void {
    const bundle = this.file.files?.[0];
    if (bundle === undefined) return;
    // Whatever the last thread is at is of no use any more.
    this.judge.terminate();
    this.judge = this.newJudge();
    this.verdict.replaceChildren();
    this.account.replaceChildren();
    this.deeds.hidden = true;
    this.status.textContent = 'Reading the bundle';
    this.ask({
      ask: 'verdict',
      given: {
        bundle,
        org: this.org.value.trim(),
        pins: linesOf(this.pins),
        heads: linesOf(this.heads).map(headIn),
        keySet: this.keys.files?.[0] ?? null,
        checkpointKeys: linesOf(this.checkpointKeys),
        policy: this.policy.files?.[0] ?? null,
      },
    });
  }

  private take(answer: Answer): void {
    switch (answer.said) {
      case 'progress':
        this.status.textContent = `Checked ${answer.deeds.toLocaleString('en')} of ${answer.total.toLocaleString('en')} deeds`;
        return;
      case 'verdict':
        return this.showVerdict(answer.verdict, answer.beginning);
      case 'rows':
        this.all = answer.rows;
        this.deeds.hidden = false;
        return this.showRows();
      case 'account':
        if (answer.page !== null) this.account.replaceChildren(...elementsOf(answer.page));
        this.account.focus();
        return;
      case 'failure':
        this.status.textContent = `It could not be read: ${answer.message}`;
    }
  }

  private showVerdict(verdict: BundleVerdict, beginning: Uint8Array): void {
    this.status.textContent = '';
    this.verdict.replaceChildren(...elementsOf(pageOfVerdict(verdict, beginning)));
    this.verdict.dataset['result'] = verdict.result;
    if (isReadable(verdict) && verdict.deeds > 0) this.ask({ ask: 'rows' });
  }

  private showRows(): void {
    const sought = this.search.value.trim().toLowerCase();
    const meant = this.all.filter((row) => sought === '' || textOfRow(row).includes(sought));
    this.rows.replaceChildren(...meant.slice(0, ROWS_SHOWN).map((row) => this.rowElement(row)));
    const left = meant.length - ROWS_SHOWN;
    const isMarked = meant.some(({ who }) => who !== null && who.name !== null && !who.isProven);
    this.more.replaceChildren(
      ...(left > 0 ? [element('span', `${left.toLocaleString('en')} more: search for what you look for. `)] : []),
      ...(isMarked ? [element('span', UNPROVEN_NAMES)] : []),
    );
  }

  private rowElement(row: DeedRow): HTMLTableRowElement {
    const open = element('button', visible(row.what));
    open.type = 'button';
    open.addEventListener('click', () => this.ask({ ask: 'account', id: row.action ?? row.deed }));
    const cells = [String(row.seq), row.at, open, whoText(row), row.outcome ?? '', row.status ?? '', row.verdict ?? ''];
    return element('tr', ...cells.map((cell) => element('td', cell)));
  }
}

const textOfRow = ({ seq, at, what, who, actor, outcome, status, verdict, action, deed }: DeedRow): string =>
  [seq, at, what, who?.name, who?.id, actor, outcome, status, verdict, action, deed].join(' ').toLowerCase();

export const beginToShow = (script: string): void => {
  new VerifierPage(script);
};
